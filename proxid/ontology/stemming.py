"""Porter's stemmer (M. F. Porter, "An algorithm for suffix stripping", 1980), as 000 §3.4 asks.

Steps 1a to 5b of that paper; a word of one or two letters is its own stem.
"""

import functools
import re

STEP2 = [
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
]  # fmt: skip
STEP3 = [
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
]  # fmt: skip
STEP4 = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
]  # fmt: skip


def _shape(word: str) -> str:
    """The word as a string of c and v; y after a consonant is a vowel."""
    shape = ""
    for i, letter in enumerate(word):
        vowel = letter in "aeiou" or (letter == "y" and i > 0 and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """Porter's m: how many vowel runs are followed by a consonant run."""
    return len(re.findall("v+c+", _shape(stem)))


def _ends_cvc(stem: str) -> bool:
    return _shape(stem)[-3:] == "cvc" and stem[-1] not in "wxy"


def _step1a(word: str) -> str:
    for suffix, instead in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word[: -len(suffix)] + instead
    return word


def _step1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and "v" in _shape(stem):
            return _restored(stem)
        if stem != word:
            return word
    return word


def _restored(stem: str) -> str:
    """What is left after -ed or -ing, made a word again: conflat(e), hop(p), fil(e)."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and _shape(stem)[-1] == "c" and stem[-1] not in "lsz":
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_cvc(stem) else stem


def _step1c(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _replace(word: str, table: list[tuple[str, str]]) -> str:
    """The longest suffix of the table, replaced if m > 0 before it."""
    for suffix, instead in sorted(table, key=lambda pair: -len(pair[0])):
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            return stem + instead if _measure(stem) > 0 else word
    return word


def _step4(word: str) -> str:
    for suffix in STEP4:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            keeps = _measure(stem) <= 1 or (suffix == "ion" and not stem.endswith(("s", "t")))
            return word if keeps else stem
    return word


def _step5(word: str) -> str:
    if word.endswith("e"):
        stem, measure = word[:-1], _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(stem)):
            word = stem
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


@functools.lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    if len(word) <= 2:
        return word
    word = _step1c(_step1b(_step1a(word)))
    return _step5(_step4(_replace(_replace(word, STEP2), STEP3)))
