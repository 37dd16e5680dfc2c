"""What is shown of each record of rounds, on columns (DESIGN 8.11)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proxid.anonymise.split.rounds import show_each
from proxid.anonymise.split.settings import SplitSettings
from proxid.classify.semantic_units import semantic_units
from proxid.lab.columns.text import normalise
from proxid.lab.logs import CategoryTree
from proxid.lab.logs.jit import Codes, Longs
from proxid.lab.logs.strings import StringTable
from proxid.lab.release.visible import Mask

TextsOf = Callable[[int], tuple[str, ...]]


def texts_of(texts: StringTable, mask: Mask | None) -> TextsOf:
    """Code of a text -> what may be shown of it, longest first: its masked normal form and its units."""
    known: dict[int, tuple[str, ...]] = {}

    def found(code: int) -> tuple[str, ...]:
        if code not in known:
            said = normalise(texts[code]) if code >= 0 else ""
            shown = (mask(said) or "") if mask is not None and said else said
            known[code] = tuple(dict.fromkeys((shown, *semantic_units(shown.split())))) if shown else ()
        return known[code]

    return found


@dataclass(frozen=True, slots=True)
class Visible:
    """A line a record: node of the tree that is shown, and number of the text in `texts`, -1 for none."""

    category: Codes
    text: Codes
    texts: tuple[str, ...]


def visible_in_rounds(
    category: Codes, query: Codes, rounds: Longs, tree: CategoryTree, texts: TextsOf, settings: SplitSettings
) -> Visible:
    """What is shown of records, each in its round.

    Args:
        category, query: of the records as asked. rounds: number of each one's round.
    """
    shown_node, shown_text = np.empty(len(rounds), np.int32), np.full(len(rounds), -1, np.int32)
    numbers: dict[str, int] = {}
    order = np.argsort(rounds, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(rounds[order])) + 1) if len(order) else []:
        contents = [(tuple(tree.paths[int(category[row])].split("/")), texts(int(query[row]))) for row in rows]
        for row, (path, text) in zip(rows, show_each(contents, settings.level, settings), strict=True):
            shown_node[row] = tree.add("/".join(path))
            if text:
                shown_text[row] = numbers.setdefault(text, len(numbers))
    return Visible(shown_node, shown_text, tuple(numbers))
