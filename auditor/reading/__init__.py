"""Where evidence comes from, and how it is opened."""
