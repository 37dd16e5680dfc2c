"""The streaming anonymisers over columns of a query log, compiled (DESIGN 8.4)."""
