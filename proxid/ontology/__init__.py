"""Taxonomies of concepts that proxid ships: WordNet 3.1's nouns."""
