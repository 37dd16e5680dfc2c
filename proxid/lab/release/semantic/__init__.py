"""Differentially private query logs that keep the meaning of queries (000; DESIGN 13)."""
