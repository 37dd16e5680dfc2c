"""Semantic microaggregation of query logs (001; DESIGN 13)."""
