"""The Main Service: it knows what, never who (DESIGN 2, 5.3)."""
