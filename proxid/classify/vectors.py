"""Vectors of English words (`words.npz` of en_proxid, scripts/models/words.py), shared by the networks."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from spacy.strings import hash_string  # type: ignore[attr-defined]

from proxid.classify.weights import GRID, Doubles, Packed, read_arrays

_HALF = 32


class WordVectors:
    """Rows by keys of words; an unknown word is the zero vector."""

    def __init__(self, packed: Packed) -> None:
        self._packed = packed
        self.size = int(packed.rows.shape[1])

    def of(self, word: str) -> Doubles:
        """The vector of a word, or of what a plural is of."""
        spellings = [word, word.removesuffix("s").removesuffix("'")] if word.endswith("s") else [word]
        places, known = self._packed.places([hash_string(spelling) >> _HALF for spelling in spellings])
        result: Doubles = self._packed.rows[places[known.argmax()] if known.any() else -1] * GRID
        return result


@cache
def load() -> WordVectors:
    """The installed vectors."""
    return WordVectors(Packed.of(read_arrays(Path(str(files("en_proxid"))) / "words.npz")))
