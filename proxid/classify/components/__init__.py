"""The parts of the spaCy pipeline `en_proxid`, each a factory that spaCy finds by its entry point (pyproject.toml)."""
