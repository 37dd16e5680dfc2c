"""The Identity Screener: it knows who, never what (DESIGN 2, 5.2)."""
