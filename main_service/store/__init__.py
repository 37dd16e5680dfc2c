"""The Main Service's state: atomic steps in `lua/`, each part's methods in a module of its own (DESIGN 12)."""
