"""Normalised texts and their semantic units on columns (DESIGN 8.7).

The normal form of a text is lower case, with single spaces and without control characters (compatibility forms undone
for what is not ASCII). Its units are those of `proxid.classify.semantic_units.semantic_units`, found in a compiled
loop.
"""

import numpy as np

from proxid.classify.semantic_units import MAX_UNITS, MAX_WORDS, STOPWORDS
from proxid.classify.text import MAX_CHARS, clean
from proxid.lab.logs.jit import Bytes, Codes, Columns, Hashes, Longs, Scalar, compiled, step
from proxid.lab.logs.strings import StringTable, find_slot, hash_bytes, intern_bytes

FOREIGN = -3
"""Marks a text that is not ASCII: Python finds its normal form."""
_TOKENS = 4096


def normalise(text: str) -> str:
    """The normal form of a text, or "" when it has none or is too long to be shown."""
    cleaned = clean(text)
    return "" if cleaned is None else cleaned.shown.lower()


@step
def _normal_ascii(data: Bytes, start: Scalar, stop: Scalar, out: Bytes) -> Scalar:
    """Write the normal form of an ASCII text; returns its length, or FOREIGN."""
    length, gap = 0, False
    for at in range(start, stop):
        byte = data[at]
        if byte >= 128:
            return FOREIGN
        if byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31:
            gap = length > 0
        elif byte > 32 and byte != 127:
            if gap:
                out[length] = 32
                length += 1
                gap = False
            out[length] = byte + 32 if 65 <= byte <= 90 else byte
            length += 1
    return length


@compiled
def find_normal(table: Columns, first: Scalar, last: Scalar, normal: Codes, scratch: Bytes) -> None:
    """normal[code] = code of the normal form of text `code`, for first ≤ code < last; new forms are added."""
    arena, bounds, _, _ = table
    for code in range(first, last):
        start, stop = bounds[code], bounds[code + 1]
        if stop - start > MAX_CHARS * 4:
            normal[code] = intern_bytes(table, scratch, 0, 0)
            continue
        length = _normal_ascii(arena, start, stop, scratch)
        if length == FOREIGN:
            normal[code] = FOREIGN
        else:
            normal[code] = intern_bytes(table, scratch, 0, length if length <= MAX_CHARS else 0)


@step
def _next_word(data: Bytes, at: Scalar, stop: Scalar) -> Scalar:
    """The word at `at`: (its end, whether it may be part of a thing's name: two or more ASCII letters)."""
    end: Scalar = at
    plain: Scalar = True
    while end < stop and data[end] != 32:
        plain = plain and 97 <= data[end] <= 122
        end += 1
    return end, plain and end - at > 1


@step
def _before(data: Bytes, a: Longs, b: Longs) -> Scalar:
    """-1, 0, 1: order of two units (words, start, size): more words first, then longer, then by text."""
    if a[0] != b[0]:
        return -1 if a[0] > b[0] else 1
    if a[2] != b[2]:
        return -1 if a[2] > b[2] else 1
    for i in range(a[2]):
        if data[a[1] + i] != data[b[1] + i]:
            return -1 if data[a[1] + i] < data[b[1] + i] else 1
    return 0


@step
def _place_unit(data: Bytes, best: Longs, count: Scalar, words: Scalar, start: Scalar, size: Scalar) -> Scalar:
    """Insert a unit into the ordered list of the best; returns their number."""
    spare = best[MAX_UNITS]
    spare[0], spare[1], spare[2] = words, start, size
    at = count
    while at > 0:
        order = _before(data, best[at - 1], spare)
        if order == 0:
            return count
        if order < 0:
            break
        at -= 1
    if at == MAX_UNITS:
        return count
    kept = min(count, MAX_UNITS - 1)
    for i in range(kept, at, -1):
        for j in range(3):
            best[i, j] = best[i - 1, j]
    best[at, 0], best[at, 1], best[at, 2] = words, start, size
    return kept + 1


@step
def _place_run(data: Bytes, tokens: Longs, run: Scalar, best: Longs, count: Scalar) -> Scalar:
    """All n-grams of a run of content words."""
    for words in range(min(run, MAX_WORDS), 0, -1):
        for i in range(run - words + 1):
            start = tokens[i, 0]
            count = _place_unit(data, best, count, words, start, tokens[i + words - 1, 1] - start)
    return count


@step
def find_units(data: Bytes, start: Scalar, stop: Scalar, stopwords: Columns, tokens: Longs, best: Longs) -> Scalar:
    """The semantic units of a normal text, best[i] = (words, start, size), longest first; returns how many."""
    count, run, at = 0, 0, start
    while at < stop:
        if data[at] == 32:
            at += 1
            continue
        end, content = _next_word(data, at, stop)
        if content:
            key = hash_bytes(data, at, end, np.uint64(stopwords[3][1]))
            content = stopwords[2][find_slot(stopwords, data, at, end, key)] == np.uint64(0)
        if content and run < len(tokens):
            tokens[run, 0], tokens[run, 1] = at, end
            run += 1
        elif run > 0:
            count = _place_run(data, tokens, run, best, count)
            run = 0
        at = end
    return _place_run(data, tokens, run, best, count) if run > 0 else count


@compiled
def find_digests(
    table: Columns, first: Scalar, last: Scalar, normal: Codes, stopwords: Columns, seed: Scalar, out: Columns
) -> Scalar:
    """Digests of each normal text and of its units; returns their number.

    out = (where each text's begin, digests, start and size of each in its text, and room for tokens and units). A text
    that is not its own normal form, or is empty, has none.
    """
    arena, bounds, _, _ = table
    begins, digests, starts, sizes, tokens, best = out
    for code in range(first, last):
        written, start, stop = begins[code], bounds[code], bounds[code + 1]
        if normal[code] == code and start < stop:
            digests[written], starts[written] = hash_bytes(arena, start, stop, seed) | np.uint64(1), 0
            sizes[written] = stop - start
            written += 1
            for i in range(find_units(arena, start, stop, stopwords, tokens, best)):
                if best[i, 2] < stop - start:
                    at = best[i, 1]
                    digests[written] = hash_bytes(arena, at, at + best[i, 2], seed) | np.uint64(1)
                    starts[written], sizes[written] = at - start, best[i, 2]
                    written += 1
        begins[code + 1] = written
    return begins[last]


@compiled
def _hash_all(table: Columns, first: Scalar, last: Scalar, seed: Scalar, out: Hashes) -> None:
    for code in range(first, last):
        out[code] = hash_bytes(table[0], table[1][code], table[1][code + 1], seed)


class Texts:
    """Normal forms and digests of a table of texts, and digests of a table of URLs; both may grow."""

    def __init__(self, seed: int, *, clicks: bool = False) -> None:
        self._seed, self._clicks = np.uint64(seed), clicks
        self._stopwords = StringTable(sorted(STOPWORDS))
        self._scratch: Bytes = np.empty(4 * MAX_CHARS + 8, np.uint8)
        self._room = np.empty((_TOKENS, 2), np.int64), np.empty((MAX_UNITS + 1, 3), np.int64)
        self.forget()

    def forget(self) -> None:
        """Start over with a table that was numbered anew."""
        self._normal: Codes = np.empty(0, np.int32)
        self._begins: Longs = np.zeros(1, np.int64)
        self._digests: Hashes = np.empty(0, np.uint64)
        self._starts: Codes = np.empty(0, np.int32)
        self._sizes: Codes = np.empty(0, np.int32)
        self.urls: Hashes = np.empty(0, np.uint64)
        self._count = 0
        self._foreign: set[int] = set()

    @property
    def arrays(self) -> Columns:
        """(normal, begins, digests, starts, sizes) for a compiled loop; stale after `learn`."""
        return (self._normal, self._begins, self._digests, self._starts, self._sizes)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(sum(array.nbytes for array in self.arrays)) + self.urls.nbytes

    def units_of(self, queries: Codes) -> int:
        """An upper bound of the digests that records with these texts count."""
        codes = self._normal[queries]
        return int((self._begins[codes + 1] - self._begins[codes]).sum()) + 2 * len(queries) * self._clicks

    def learn(self, texts: StringTable, urls: StringTable) -> None:
        """Look at the texts and URLs that were added to the tables."""
        while (known := self._count) < (last := len(texts)):
            texts.reserve(last - known, int(texts.bounds[last] - texts.bounds[known]))
            self._make_room(2 * last - known)
            find_normal(texts.table, known, last, self._normal, self._scratch)
            for code in (known + np.flatnonzero(self._normal[known:last] == FOREIGN)).tolist():
                self._normal[code] = self._foreign_form(texts, code)
            self._learn_digests(texts, known, last)
        if self._clicks and len(self.urls) < len(urls):
            known, last = len(self.urls), len(urls)
            self.urls = np.append(self.urls, np.zeros(last - known, np.uint64))
            _hash_all(urls.table, known, last, self._seed, self.urls)

    def _foreign_form(self, texts: StringTable, code: int) -> int:
        if code in self._foreign:
            return code
        form = texts.code(normalise(texts[code]))
        self._foreign.add(form)
        return form

    def _learn_digests(self, texts: StringTable, first: int, last: int) -> None:
        used, most = int(self._begins[first]), (last - first) * (MAX_UNITS + 1)
        if used + most > len(self._digests):
            size = max(used + most, len(self._digests) * 3 // 2)
            self._digests = np.append(self._digests[:used], np.zeros(size - used, np.uint64))
            self._starts = np.append(self._starts[:used], np.zeros(size - used, np.int32))
            self._sizes = np.append(self._sizes[:used], np.zeros(size - used, np.int32))
        out = (self._begins, self._digests, self._starts, self._sizes, *self._room)
        find_digests(texts.table, first, last, self._normal, self._stopwords.table, self._seed, out)
        self._count = last

    def _make_room(self, texts: int) -> None:
        if texts > len(self._normal):
            more = max(texts, len(self._normal) * 3 // 2) - len(self._normal)
            self._normal = np.append(self._normal, np.full(more, -1, np.int32))
            self._begins = np.append(self._begins, np.zeros(more, np.int64))
