"""The checks of DESIGN 10.4, each file by the number of its check."""
