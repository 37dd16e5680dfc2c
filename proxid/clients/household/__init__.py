"""A household on its device: enrols, asks, consents, keeps receipts, asks for its rights (DESIGN 2, 5)."""
