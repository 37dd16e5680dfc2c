"""The neighbour attack (DESIGN 8.3, 14): the owner is the user most published within ±w records of the node.

It needs no buffer and no knowledge of the mechanism beyond the node: whoever is busy at a node owns most of what leaves
it. w = k by default. The published user itself is ruled out (Restriction 4.1).
"""

from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.attacks.base import Attacker, Guesses, Observed
from proxid.lab.logs.jit import Codes, Columns, Scalar, compiled
from proxid.lab.stretches import Stretches, draw, find_entry, random_state


@compiled
def _tally(counts: Columns, node: int, user: int, by: int) -> None:
    """Count a user in or out of the node's window."""
    start, _, size, entries = counts
    begin, end = start[node], start[node] + size[node]
    at = find_entry(entries, begin, end, user)
    if at < 0:
        at = end
        size[node] += 1
        entries[at, 0], entries[at, 1] = user, 0
    entries[at, 1] += by
    if entries[at, 1] == 0:
        last = start[node] + size[node] - 1
        entries[at, 0], entries[at, 1] = entries[last, 0], entries[last, 1]
        size[node] -= 1


@compiled
def _guess(state: Columns, node: int, pick: int, out: Columns, made: int) -> Scalar:
    """Guess the owner of the record at `pick` of the node's window; returns the number of guesses made."""
    window, counts, _, random = state
    row, published = window[3][pick, 0], window[3][pick, 1]
    start, _, size, entries = counts
    best, score, ties = -1, 0, 1
    for at in range(start[node], start[node] + size[node]):
        if entries[at, 0] == published:
            continue
        if entries[at, 1] > score:
            best, score, ties = at, entries[at, 1], 1
        elif entries[at, 1] == score:
            ties += 1
            if draw(random, ties) == 0:
                best = at
    if best < 0:
        return made
    out[0][made], out[1][made] = row, entries[best, 0]
    return made + 1


@compiled
def _run(state: Columns, seen: Columns, width: int, out: Columns) -> Scalar:
    """Feed records; a record is guessed once `width` more have followed it at its node."""
    window, counts, passed, _ = state
    start, head, size, entries = window
    made = 0
    for i in range(len(seen[0])):
        node = seen[2][i]
        end = start[node] + head[node] + size[node]
        entries[end, 0], entries[end, 1] = seen[0][i], seen[1][i]
        size[node] += 1
        _tally(counts, node, seen[1][i], 1)
        if passed[node] > width:
            first = start[node] + head[node]
            _tally(counts, node, entries[first, 1], -1)
            head[node] += 1
            size[node] -= 1
            passed[node] -= 1
        if size[node] > width:
            made = _guess(state, node, start[node] + head[node] + passed[node], out, made)
            passed[node] += 1
    return made


@compiled
def _flush(state: Columns, width: int, out: Columns) -> Scalar:
    """Guess what was waiting for followers; the window shrinks from the left."""
    window, counts, passed, _ = state
    made = 0
    for node in range(len(passed)):
        while passed[node] < window[2][node]:
            if passed[node] > width:
                first = window[0][node] + window[1][node]
                _tally(counts, node, window[3][first, 1], -1)
                window[1][node] += 1
                window[2][node] -= 1
                passed[node] -= 1
            pick = window[0][node] + window[1][node] + passed[node]
            made = _guess(state, node, pick, out, made)
            passed[node] += 1
    return made


class NeighbourAttacker(Attacker):
    """Guesses the user published most within ±`width` records of the node."""

    def __init__(self, *, width: int, seed: int = 0) -> None:
        if width < 1:
            raise InputError("the neighbour attack looks at one record to each side or more")
        self.width, self.random = width, random_state(seed)
        self.window, self.counts, self.passed = Stretches(2), Stretches(2), np.zeros(0, np.int64)

    def feed(self, batch: Observed) -> Guesses:
        """Take the next records, give the guesses that are due."""
        self._reserve(batch.node)
        out = self._room(len(batch))
        made = _run(self._state(), (batch.row, batch.user, batch.node), self.width, out)
        return Guesses(out[0][:made].copy(), out[1][:made].copy())

    def finish(self) -> Guesses:
        """Guess the last records of each node."""
        out = self._room(int(self.window.size.sum()))
        made = _flush(self._state(), self.width, out)
        return Guesses(out[0][:made].copy(), out[1][:made].copy())

    def _state(self) -> Columns:
        return (self.window.columns, self.counts.columns, self.passed, self.random)

    @staticmethod
    def _room(rows: int) -> tuple[Any, Any]:
        return np.empty(rows, np.int64), np.empty(rows, np.int32)

    def _reserve(self, nodes: Codes) -> None:
        self.window.reserve(nodes)
        self.counts.reserve(nodes)
        more = len(self.window.size) - len(self.passed)
        self.passed = np.concatenate([self.passed, np.zeros(max(more, 0), np.int64)])

    @property
    def nbytes(self) -> int:
        """Bytes of the windows."""
        return self.window.nbytes + self.counts.nbytes
