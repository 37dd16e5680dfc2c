"""From released columns to the log that is written: what is shown of each text, without identifiers (DESIGN 6, 8.7).

A text that the ladder lets through is masked before it is written; a text whose identifiers cannot be found out is not
shown. Each distinct shown text is looked at once.
"""

from collections.abc import Callable

import numpy as np

from proxid.lab.columns.released import Released
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.jit import Codes, Longs, compiled
from proxid.lab.logs.strings import StringTable

Mask = Callable[[str], str | None]
"""Text -> the text without identifiers, or None when it must not be shown."""


@compiled
def _find_parts(bounds: Longs, query: Codes, start: Codes, size: Codes, starts: Longs, stops: Longs) -> None:
    """Where the shown part of text query[i] lies among the bytes of all texts; nowhere for -1."""
    for i in range(len(query)):
        starts[i] = stops[i] = 0
        if query[i] >= 0:
            starts[i] = bounds[query[i]] + start[i]
            stops[i] = bounds[query[i] + 1] if size[i] < 0 else starts[i] + size[i]


def default_mask() -> Mask:
    """The identifier rules of the classifier that ships with the package; it fails closed."""
    from proxid.classify import load_default
    from proxid.classify.pipeline import mask

    classifier = load_default()

    def masked(text: str) -> str | None:
        shown = mask(classifier, text)
        return shown.lower() if shown else None

    return masked


class Shown:
    """The texts of a release: parts by code, and each part's masked form by code of `dictionaries.query`."""

    def __init__(self, known: Dictionaries, mask: Mask | None) -> None:
        self._known, self._mask = known, mask
        self._parts = StringTable()
        self._final: Codes = np.empty(0, np.int32)
        self.dictionaries = Dictionaries(user=known.user, url=known.url, tree=known.tree)
        self.hidden = 0

    def log(self, released: Released) -> LogBatch:
        """Released columns as a batch of `self.dictionaries`."""
        self.dictionaries.url = self._known.url
        texts = self._known.query
        starts, stops = np.empty((2, len(released)), np.int64)
        _find_parts(texts.bounds, released.query, released.start, released.size, starts, stops)
        codes = self._parts.encode_cells(texts.arena, starts, stops, keep_empty=True)
        r = released
        return LogBatch(r.user, self._masked(codes), r.category, r.time, r.rank, r.url, r.row, r.group)

    def forget(self) -> None:
        """Let go of the texts, where no mask makes it worth while to keep them."""
        if self._mask is None and len(self._parts) > 200_000:
            self._parts = StringTable()

    def _masked(self, codes: Codes) -> Codes:
        if self._mask is None:
            self.dictionaries.query = self._parts
            return codes
        first = len(self._final)
        forms = [self._form(self._parts[code]) for code in range(first, len(self._parts))]
        self._final = np.append(self._final, self.dictionaries.query.encode(forms))
        return self._final[codes]

    def _form(self, text: str) -> str:
        assert self._mask is not None
        form = self._mask(text) if text else ""
        self.hidden += form is None
        return form or ""
