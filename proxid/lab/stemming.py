"""Porter's stemmer (M. F. Porter, "An algorithm for suffix stripping", 1980), as 000 §3.4 asks.

A word of one or two letters is its own stem, as that paper has it; Snowball's version takes the s off some of them.
"""

import functools

import snowballstemmer

_PORTER = snowballstemmer.stemmer("porter")


@functools.lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    return word if len(word) <= 2 else str(_PORTER.stemWord(word))
