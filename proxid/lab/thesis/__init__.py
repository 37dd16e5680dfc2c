"""Algorithms 2 and 4 of 002 written plainly: what the compiled ones are held against."""
