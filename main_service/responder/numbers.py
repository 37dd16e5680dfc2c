"""Numbers as speech recognition writes them: digits or words."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ROUND = "twenty thirty forty fifty sixty seventy eighty ninety"
_UNITS = {word: value for value, word in enumerate(_SMALL.split())}
_TENS = {word: 10 * value for value, word in enumerate(_ROUND.split(), start=2)}
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_MAX_WORDS = 16


def parse(text: str) -> float | None:
    """The number that a phrase is ("3.5", "forty two", "two hundred and six"), or None."""
    words = text.replace("-", " ").replace(",", "").split()
    if not words or len(words) > _MAX_WORDS:
        return None
    if len(words) == 1 and _is_digits(words[0]):
        return float(words[0])
    return _of_words([w for w in words if w != "and"])


def _is_digits(word: str) -> bool:
    whole, _, part = word.partition(".")
    return whole.isascii() and whole.isdigit() and len(word) <= 15 and (not part or part.isdigit())


def _of_words(words: list[str]) -> float | None:
    total = part = 0
    for word in words:
        if word in _UNITS or word in _TENS:
            part += _UNITS.get(word, _TENS.get(word, 0))
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            total, part = total + max(part, 1) * _SCALES[word], 0
        elif word in {"a", "an"} and len(words) > 1:
            part += 0
        else:
            return None
    return float(total + part) if words else None


def show(value: float) -> str:
    """A number for reading out: at most four decimals, none if it is whole."""
    rounded = round(value, 4)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)
