"""What Python raises where something from outside is taken for what it is not."""

from typing import Final

MALFORMED: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""Of whoever reads a value of a file or a peer as the number, text, list or table that it should be.

A key or a place that is not there, a list for a number, a number that no integer or float holds, text that is no
Unicode. Every reader turns all of them into an error that says where: which of them it is depends on the damage.
"""
