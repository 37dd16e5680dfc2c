"""The ladder of 8.7 on columns: who issued which text and unit, kept by 64-bit keyed digests (DESIGN 8.4.2, 8.7).

The same counts as `ladder.Issuers`, in two arrays of open addressing: a digest's payload is its only issuer's code, or
ENOUGH, or a row of `several` with up to threshold - 1 issuers. No text is kept: a text costs the digests of itself and
its units. A digest clash (odds below 10⁻⁴ for a log of AOL's size) would count two texts as one.
"""

import numpy as np

from proxid.lab.columns.text import Texts
from proxid.lab.logs.jit import Codes, Columns, Hashes, Longs, Scalar, compiled, inlined, step
from proxid.lab.logs.raw import prefetch

ENOUGH = -1
SEVERAL = -2
"""Payload of a digest with its issuers in row i of `several` is SEVERAL - i."""
KNOWN, UNUSED, FREE_ROW, THRESHOLD, TEXTS = range(5)
"""Counters: digests, first row of `several` never used, head of its free rows, issuers that are enough, and digests
that came first as a whole text."""
_AHEAD = 32
_NOTHING = np.uint64(0)
_NONE: Codes = np.empty(0, np.int32)
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.uint64(0xC2B2AE3D27D4EB4F)


@inlined
def joined(digest: Scalar, more: Scalar) -> Scalar:
    """The digest of a digest and a number (a person, a URL's digest, a rank)."""
    mixed = (digest ^ (np.uint64(more) + _PRIME)) * _ODD
    mixed = (mixed ^ (mixed >> np.uint64(31))) * _PRIME
    return mixed ^ (mixed >> np.uint64(32))


@inlined
def find_digest(keys: Hashes, digest: Scalar) -> Scalar:
    """Where a digest is, or the free place where it belongs."""
    mask = np.uint64(len(keys) - 1)
    at = (digest ^ (digest >> np.uint64(32))) & mask
    while keys[at] != _NOTHING and keys[at] != digest:
        at = (at + np.uint64(1)) & mask
    return np.int64(at)


@step
def _add_issuer(several: Codes, fill: Longs, payload: Scalar, user: Scalar) -> Scalar:
    """The payload of a digest after one more issuer."""
    threshold = fill[THRESHOLD]
    if payload >= 0:
        if threshold == 2:
            return ENOUGH
        row = fill[FREE_ROW]
        if row >= 0:
            fill[FREE_ROW] = several[row, 0]
        else:
            row = fill[UNUSED]
            fill[UNUSED] += 1
        several[row, :] = -1
        several[row, 0], several[row, 1] = payload, user
        return SEVERAL - row
    row = SEVERAL - payload
    for i in range(threshold - 1):
        if several[row, i] == user:
            return payload
        if several[row, i] == -1:
            several[row, i] = user
            return payload
    several[row, 0] = fill[FREE_ROW]
    fill[FREE_ROW] = row
    return ENOUGH


@inlined
def issue(issuers: Columns, digest: Scalar, user: Scalar) -> None:
    """Count a person as an issuer of a digest, once."""
    keys, payloads, several, fill = issuers
    at = find_digest(keys, digest)
    if keys[at] == _NOTHING:
        keys[at], payloads[at] = digest, ENOUGH if fill[THRESHOLD] == 1 else user
        fill[KNOWN] += 1
    elif payloads[at] != ENOUGH and payloads[at] != user:
        payloads[at] = _add_issuer(several, fill, payloads[at], user)


@step
def _is_enough(issuers: Columns, digest: Scalar) -> Scalar:
    keys, payloads, _, _ = issuers
    at = find_digest(keys, digest)
    return keys[at] == digest and payloads[at] == ENOUGH


@inlined
def enter_text(ladder: Columns, user: Scalar, query: Scalar, add: Scalar) -> Scalar:
    """Whether a person's normalised text enters for the first time; if so it is noted when `add` (8.4.2)."""
    (normal, bounds, digests, _, _), _, (entered, count), _ = ladder
    code = normal[query]
    if bounds[code] == bounds[code + 1]:
        return True
    key = joined(digests[bounds[code]], user)
    at = find_digest(entered, key)
    if entered[at] == key:
        return False
    if add:
        entered[at] = key
        count[0] += 1
    return True


@inlined
def count_units(ladder: Columns, user: Scalar, query: Scalar, url: Scalar, rank: Scalar) -> None:
    """Count a person as an issuer of a text, its units and, where clicks are counted, its click."""
    (normal, bounds, digests, _, _), issuers, _, urls = ladder
    code, before = normal[query], issuers[3][KNOWN]
    for i in range(bounds[code], bounds[code + 1]):
        issue(issuers, digests[i], user)
        if i == bounds[code]:
            issuers[3][TEXTS] += issuers[3][KNOWN] - before
    if len(urls) > 0 and url >= 0 and bounds[code] < bounds[code + 1]:
        click = joined(digests[bounds[code]], urls[url])
        issue(issuers, click, user)
        issue(issuers, joined(click, rank + 1), user)


@inlined
def bring_near(ladder: Columns, user: Scalar, query: Scalar) -> None:
    """Ask for the places that `enter_text` and `count_units` will look at for a record that comes soon."""
    (normal, bounds, digests, _, _), (keys, payloads, _, _), (entered, _), _ = ladder
    code, mask = normal[query], np.uint64(len(keys) - 1)
    for i in range(bounds[code], bounds[code + 1]):
        at = np.int64((digests[i] ^ (digests[i] >> np.uint64(32))) & mask)
        prefetch(keys, at)
        prefetch(payloads, at)
    if bounds[code] < bounds[code + 1]:
        key = joined(digests[bounds[code]], user)
        prefetch(entered, np.int64((key ^ (key >> np.uint64(32))) & np.uint64(len(entered) - 1)))


@step
def rung_of(ladder: Columns, query: Scalar, url: Scalar, rank: Scalar, out: Columns, to: Scalar) -> None:
    """Write what of a record is shown: the text, else its first unit that enough people issued, else nothing.

    A URL is shown if enough people chose it after this text, a rank if enough people chose it there.
    """
    (normal, bounds, digests, starts, sizes), issuers, _, urls = ladder
    code = normal[query]
    out[1][to], out[2][to], out[3][to], out[5][to], out[6][to] = -1, 0, 0, -1, -1
    for i in range(bounds[code], bounds[code + 1]):
        if _is_enough(issuers, digests[i]):
            out[1][to], out[2][to] = code, starts[i]
            out[3][to] = -1 if i == bounds[code] else sizes[i]
            if i == bounds[code] and len(urls) > 0 and url >= 0:
                click = joined(digests[i], urls[url])
                if _is_enough(issuers, click):
                    out[6][to] = url
                    out[5][to] = rank if _is_enough(issuers, joined(click, rank + 1)) else -1
            return


@compiled
def _rehash(old: Hashes, old_payloads: Codes, new: Hashes, new_payloads: Codes) -> None:
    """Move every digest and its payload (where there are payloads) to a larger table."""
    mask = np.uint64(len(new) - 1)
    for first in range(0, len(old), _AHEAD):
        for i in range(first, first + _AHEAD):
            prefetch(new, np.int64((old[i] ^ (old[i] >> np.uint64(32))) & mask))
        for i in range(first, first + _AHEAD):
            if old[i] != _NOTHING:
                at = find_digest(new, old[i])
                new[at] = old[i]
                if len(new_payloads) > 0:
                    new_payloads[at] = old_payloads[i]


class Ladder:
    """Issuers of one epoch, the (person, text) pairs that entered, and the texts' digests."""

    def __init__(self, threshold: int, texts: Texts) -> None:
        self.threshold, self.texts = threshold, texts
        self._keys, self._payloads = np.zeros(1 << 12, np.uint64), np.zeros(1 << 12, np.int32)
        self._several = np.full((1 << 10, max(2, threshold - 1)), -1, np.int32)
        self._fill: Longs = np.array([0, 0, -1, threshold, 0], np.int64)
        self._entered, self._count = np.zeros(1 << 12, np.uint64), np.zeros(1, np.int64)

    @property
    def arrays(self) -> Columns:
        """(texts, issuers, entered, URL digests) for a compiled loop; stale after `reserve`."""
        issuers = (self._keys, self._payloads, self._several, self._fill)
        return (self.texts.arrays, issuers, (self._entered, self._count), self.texts.urls)

    @property
    def known(self) -> int:
        """Distinct texts, units and clicks seen."""
        return int(self._fill[KNOWN])

    @property
    def texts_known(self) -> int:
        """Distinct texts seen (those left out that were part of another text before)."""
        return int(self._fill[TEXTS])

    @property
    def nbytes(self) -> int:
        """Bytes held, the texts' digests left out."""
        return self._keys.nbytes + self._payloads.nbytes + self._several.nbytes + self._entered.nbytes

    def reserve(self, records: int, units: int) -> None:
        """Make room for so many records with so many digests in all."""
        if (self.known + units) * 4 > len(self._keys) * 3:
            size = _power((self.known + units) * 4 // 3)
            keys, payloads = np.zeros(size, np.uint64), np.zeros(size, np.int32)
            _rehash(self._keys, self._payloads, keys, payloads)
            self._keys, self._payloads = keys, payloads
        if (int(self._count[0]) + records) * 4 > len(self._entered) * 3:
            entered = np.zeros(_power((int(self._count[0]) + records) * 4 // 3), np.uint64)
            _rehash(self._entered, _NONE, entered, _NONE)
            self._entered = entered
        used = int(self._fill[UNUSED])
        if used + units > len(self._several):
            several = np.full((max(used + units, len(self._several) * 3 // 2), self._several.shape[1]), -1, np.int32)
            several[:used] = self._several[:used]
            self._several = several


def _power(room: int) -> int:
    return 1 << max(12, room.bit_length())
