"""The Identity Screener's state: atomic steps in Lua, by subject (DESIGN 5.2, 7, 9, 11, 12)."""
