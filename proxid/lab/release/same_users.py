"""Which names of users are the same person, for methods that count distinct people (DESIGN 13).

Two names are one if they agree after NFKC, without invisible characters (Unicode categories Cc and Cf), folded in case,
runs of space made one and cut at the ends: `bob`, `Bob` and `bob` with a no-break space are one person. Else whoever
writes a name in k ways counts k times.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from proxid.lab.logs import LogBatch, StringTable
from proxid.lab.logs.jit import Codes

INVISIBLE = ("Cc", "Cf")


def plain_name(name: str) -> str:
    """The form in which names are compared."""
    seen = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) not in INVISIBLE)
    return " ".join(seen.casefold().split())


def other_spellings(names: Iterable[str]) -> dict[str, str]:
    """Names that are another's in another spelling -> that other, the first in order."""
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in sorted(names):
        known = first.setdefault(plain_name(name), name)
        if known != name:
            found[name] = known
    return found


class Spellings:
    """The same on columns of codes, batch after batch: codes of one person become the first of them."""

    def __init__(self, names: StringTable) -> None:
        self._names, self._first = names, dict[str, int]()
        self._code: Codes = np.empty(0, np.int32)

    def joined(self, batch: LogBatch) -> LogBatch:
        """The batch with one code a person."""
        known = len(self._code)
        if len(self._names) > known:
            new = [self._first.setdefault(plain_name(n), known + i) for i, n in enumerate(self._names.since(known))]
            self._code = np.concatenate([self._code, np.array(new, np.int32)])
        return replace(batch, user=self._code[batch.user])

    def warnings(self) -> list[str]:
        """What the manifest says of names in other spellings."""
        return spelling_warnings(int((self._code != np.arange(len(self._code))).sum()))


def spelling_warnings(spellings: int) -> list[str]:
    """What the manifest says of such names."""
    if not spellings:
        return []
    return [f"{spellings} names of users are others' in another spelling (case, space, unseen signs): counted as one"]
