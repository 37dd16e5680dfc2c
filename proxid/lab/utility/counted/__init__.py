"""Measures of releases that publish counts (003, 004; DESIGN 14)."""
