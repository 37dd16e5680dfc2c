"""The compiled loops of modes `thesis` and `thesis3`: Algorithms 4 and 2 of 002 on columns (DESIGN 8.2).

A vertex is a stretch of two parallel arrays (user entries and waiting queries: a record adds one of each and a release
takes one of each), which moves to a stretch of twice the size when it is full. A release swaps the last entry into the
place of the chosen one, so every step is constant work.
"""

import math

import numpy as np

from proxid.lab.columns.map import FREE, find_place, pair_key, remove_place
from proxid.lab.columns.random import below
from proxid.lab.logs.jit import Columns, Scalar, compiled, step

USER, QUERY, CATEGORY, NEXT, RANK, URL = range(6)
"""Columns of a slot (a waiting query): codes, and the next free slot."""
BEGIN, ROOM, LENGTH, DISTINCT, LIMIT = range(5)
"""Columns of a vertex: where its stretch begins and how long it is, entries, distinct users, its k."""
WAITING, FREE_SLOT, UNUSED, PENDING, DONE, AT, WANTED = range(7)
"""Scalars; WANTED is the room that a stretch asks for when the loop stopped for it."""
_PATIENCE = 32


@step
def _move_stretch(state: Columns, vertex: Scalar) -> Scalar:
    """Give a full vertex a stretch of twice the size; False when there is no room."""
    _, _, vertices, entries, queries, _, _, scalars = state
    room = max(4, 2 * vertices[vertex, ROOM])
    begin, fresh = vertices[vertex, BEGIN], scalars[UNUSED]
    if fresh + room > len(entries):
        scalars[WANTED] = room
        return False
    for i in range(vertices[vertex, LENGTH]):
        entries[fresh + i], queries[fresh + i] = entries[begin + i], queries[begin + i]
    vertices[vertex, BEGIN], vertices[vertex, ROOM] = fresh, room
    scalars[UNUSED] = fresh + room
    return True


@step
def _add(state: Columns, vertex: Scalar, columns: Columns, i: Scalar) -> None:
    """Add a record's user and its query to their sets."""
    slots, rows, vertices, entries, queries, keys, values, scalars = state
    user, query, category, _, rank, url, row = columns
    slot = scalars[FREE_SLOT]
    scalars[FREE_SLOT] = slots[slot, NEXT]
    slots[slot, USER], slots[slot, QUERY], slots[slot, CATEGORY] = user[i], query[i], category[i]
    slots[slot, RANK], slots[slot, URL], rows[slot] = rank[i], url[i], row[i]
    at = vertices[vertex, BEGIN] + vertices[vertex, LENGTH]
    entries[at], queries[at] = user[i], slot
    vertices[vertex, LENGTH] += 1
    place = find_place(keys, pair_key(vertex, user[i]))
    if keys[place] == FREE:
        keys[place], values[place] = pair_key(vertex, user[i]), 0
        vertices[vertex, DISTINCT] += 1
    values[place] += 1
    scalars[WAITING] += 1


@step
def _pick_entry(state: Columns, vertex: Scalar, origin: Scalar, words: Columns) -> Scalar:
    """Position of a random user entry that is not the issuer's; origin -1 allows any."""
    vertices, entries = state[2], state[3]
    begin, length = vertices[vertex, BEGIN], vertices[vertex, LENGTH]
    for _ in range(_PATIENCE):
        at = begin + below(words[0], words[1], length)
        if entries[at] != origin:
            return at
    others = 0
    for i in range(length):
        others += entries[begin + i] != origin
    skip = below(words[0], words[1], others)
    for i in range(length):
        if entries[begin + i] != origin:
            if skip == 0:
                return begin + i
            skip -= 1
    return begin


@step
def _send(
    state: Columns, vertex: Scalar, restricted: Scalar, columns: Columns, words: Columns, out: Columns, to: Scalar
) -> None:
    """Release a random query under a random user entry (lines 13 to 17 of Algorithm 4)."""
    slots, rows, vertices, entries, queries, keys, values, scalars = state
    begin, length = vertices[vertex, BEGIN], vertices[vertex, LENGTH]
    chosen = begin + below(words[0], words[1], length)
    slot = queries[chosen]
    entry = _pick_entry(state, vertex, slots[slot, USER] if restricted else -1, words)
    user, last = entries[entry], begin + length - 1
    queries[chosen], entries[entry] = queries[last], entries[last]
    vertices[vertex, LENGTH] -= 1
    place = find_place(keys, pair_key(vertex, user))
    values[place] -= 1
    if values[place] == 0:
        remove_place(keys, values, place)
        vertices[vertex, DISTINCT] -= 1
    out[0][to], out[1][to], out[2][to], out[3][to] = user, slots[slot, QUERY], 0, -1
    out[4][to], out[5][to], out[6][to] = slots[slot, CATEGORY], slots[slot, RANK], slots[slot, URL]
    at = scalars[AT]
    out[7][to], out[8][to], out[9][to], out[10][to] = -1, columns[3][at], rows[slot], columns[6][at]
    slots[slot, NEXT] = scalars[FREE_SLOT]
    scalars[FREE_SLOT] = slot
    scalars[WAITING] -= 1


@compiled
def thesis_columns(
    columns: Columns, state: Columns, starts: Columns, k: Scalar, words: Columns, out: Columns
) -> Scalar:
    """Algorithm 4; returns the number of records written to `out`.

    columns = (user, query, category, time, rank, url, row). state = (slots, rows, vertices, entries, queries, keys,
    values, scalars). starts[category] = its vertex. words = (words, used). out = the columns of `Released`. Stops early
    for want of room or words.
    """
    vertices, scalars = state[2], state[7]
    written, records = 0, len(columns[0])
    while scalars[DONE] < records or scalars[PENDING] >= 0:
        if written == len(out[0]) or words[1][0] + 2 * _PATIENCE > len(words[0]):
            break
        vertex = scalars[PENDING]
        if vertex < 0:
            i = scalars[DONE]
            vertex = starts[columns[2][i]]
            if vertices[vertex, LENGTH] == vertices[vertex, ROOM] and not _move_stretch(state, vertex):
                break
            _add(state, vertex, columns, i)
            scalars[DONE], scalars[AT], scalars[PENDING] = i + 1, i, vertex
        elif vertices[vertex, DISTINCT] > k:
            _send(state, vertex, True, columns, words, out, written)
            written += 1
        else:
            scalars[PENDING] = -1
    return written


@compiled
def thesis3_columns(
    columns: Columns, state: Columns, starts: Columns, delta: Scalar, words: Columns, out: Columns
) -> Scalar:
    """Algorithm 2; the arguments are those of `thesis_columns`, with δ in place of k (which a vertex keeps)."""
    vertices, scalars = state[2], state[7]
    written, records = 0, len(columns[0])
    while scalars[DONE] < records:
        if written == len(out[0]) or words[1][0] + 2 * _PATIENCE > len(words[0]):
            break
        i = scalars[DONE]
        vertex = starts[columns[2][i]]
        if vertices[vertex, LENGTH] == vertices[vertex, ROOM] and not _move_stretch(state, vertex):
            break
        _add(state, vertex, columns, i)
        scalars[DONE], scalars[AT] = i + 1, i
        if vertices[vertex, LENGTH] < vertices[vertex, LIMIT]:
            continue
        if vertices[vertex, DISTINCT] == 1:
            limit = vertices[vertex, LIMIT]
            vertices[vertex, LIMIT] = max(limit + 1, np.int64(math.ceil(limit * delta)))
        else:
            _send(state, vertex, False, columns, words, out, written)
            written += 1
    return written
