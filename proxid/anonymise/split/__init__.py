"""Form `split` of a release: who asked at a node in one feed, what was asked there, without names, in another."""
