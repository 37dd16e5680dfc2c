"""Building of the models that proxid ships: `make models` (docs/models.md)."""
