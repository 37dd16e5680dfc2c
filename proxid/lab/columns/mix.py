"""The compiled loop of mode `mix`: the same rules as `pool.Pool`, on columns (DESIGN 8.4-8.6).

The loop stops wherever it lacks room or random words, and goes on from there.
"""

import numpy as np

from proxid.lab.columns.ladder import bring_near, count_units, enter_text, rung_of
from proxid.lab.columns.map import FREE, find_place, pair_key
from proxid.lab.columns.queues import (
    ARRIVAL,
    ARRIVALS,
    AT,
    CAP,
    CAPPED,
    CATEGORY,
    DONE,
    ENTERED,
    EXPIRED,
    FIRST,
    FREE_SLOT,
    GROUPS,
    LADDER,
    MAX_RECORDS,
    NEXT,
    NODE,
    NOWHERE,
    PENDING,
    QUERY,
    RAISED,
    RANK,
    REPEATED,
    ROW,
    URL,
    USER,
    WAITING,
    WIDTH,
    N,
    append_to_all,
    free_slot,
    is_full,
    leave_queue,
    new_queue,
    put_in_queue,
    suppress,
    take_from_all,
    take_members,
)
from proxid.lab.columns.random import Words, below
from proxid.lab.logs.jit import Codes, Columns, Longs, Scalar, compiled, inlined, step

_AHEAD = 4


@step
def _move_up(state: Columns, slot: Scalar, parents: Codes, params: Columns) -> None:
    """Move the record that waited too long one level up, or give it up (8.6)."""
    slots, longs, times, _, _, keys, values, scalars, clock, _ = state
    user, target = slots[slot, USER], parents[slots[slot, NODE]]
    if target == NOWHERE:
        suppress(state, slot, EXPIRED)
        return
    if is_full(state, find_place(keys, pair_key(target, user)), target, user, params[0][CAP]):
        suppress(state, slot, CAPPED)
        return
    leave_queue(state, slot)
    take_from_all(state, slot)
    slots[slot, NODE], slots[slot, RAISED] = target, 1
    longs[slot, ENTERED], times[slot] = scalars[ARRIVALS], clock[0]
    place = find_place(keys, pair_key(target, user))
    queue = values[place] if keys[place] != FREE else new_queue(state, target, user, place)
    put_in_queue(state, queue, slot)
    append_to_all(state, slot)
    scalars[PENDING] = target


@inlined
def _enter(state: Columns, node: Scalar, place: Scalar, columns: Columns, i: Scalar) -> None:
    """Let a record wait at its node."""
    slots, longs, times, _, _, keys, values, scalars, clock, _ = state
    user, query, category, time, rank, url, row = columns
    if time[i] > clock[0]:  # noqa: PLR1730 (false for a missing time, where max is not defined)
        clock[0] = time[i]
    slot = scalars[FREE_SLOT]
    scalars[FREE_SLOT] = slots[slot, NEXT]
    scalars[WAITING] += 1
    scalars[ARRIVALS] += 1
    slots[slot, USER], slots[slot, QUERY], slots[slot, CATEGORY] = user[i], query[i], category[i]
    slots[slot, NODE], slots[slot, RANK], slots[slot, URL], slots[slot, RAISED] = node, rank[i], url[i], 0
    longs[slot, ARRIVAL] = longs[slot, ENTERED] = scalars[ARRIVALS]
    longs[slot, ROW], times[slot] = row[i], clock[0]
    queue = values[place] if keys[place] != FREE else new_queue(state, node, user[i], place)
    put_in_queue(state, queue, slot)
    append_to_all(state, slot)
    scalars[PENDING] = node


@inlined
def _draw(words: Words, used: Longs, count: Scalar, cycle: Codes, order: Codes) -> None:
    """A uniform cycle over the members (Sattolo) and a uniform order of the pairs (Fisher and Yates)."""
    for i in range(count):
        cycle[i] = order[i] = i
    for i in range(count - 1, 0, -1):
        j = below(words, used, i)
        cycle[i], cycle[j] = cycle[j], cycle[i]
    for i in range(count - 1, 0, -1):
        j = below(words, used, i + 1)
        order[i], order[j] = order[j], order[i]


@step
def _show(state: Columns, slot: Scalar, ladder: Columns, shown: Scalar, out: Columns, to: Scalar) -> None:
    """Decide what of a record's text, rank and URL is shown (8.7), or that all of it is (no ladder)."""
    slots = state[0]
    if not shown:
        out[1][to], out[2][to], out[3][to], out[5][to], out[6][to] = slots[slot, QUERY], 0, -1, -1, -1
        return
    rung_of(ladder, slots[slot, QUERY], slots[slot, URL], slots[slot, RANK], out, to)


@step
def _release(
    state: Columns, node: Scalar, random: Columns, ladder: Columns, params: Columns, out: Columns, to: Scalar
) -> Scalar:
    """Form a group at a ripe node and write its pairs; returns where the next record goes."""
    slots, longs, _, _, _, _, _, scalars, clock, _ = state
    words, used, members, cycle, order = random
    count = take_members(state, node, members)
    _draw(words, used, count, cycle, order)
    scalars[GROUPS] += 1
    raised = False
    for i in range(count):
        raised = raised or slots[members[i], RAISED] == 1
    width = params[0][WIDTH]
    # Before any record came with a time there is none to show.
    bucket = np.floor(clock[0] / width) * width if clock[1] else np.nan
    for i in range(count):
        slot = members[order[i]]
        out[0][to] = slots[members[cycle[order[i]]], USER]
        out[4][to] = node if raised else slots[slot, CATEGORY]
        if raised:
            out[1][to], out[2][to], out[3][to], out[5][to], out[6][to] = -1, 0, 0, -1, -1
        else:
            _show(state, slot, ladder, params[0][LADDER] == 1, out, to)
        out[7][to], out[8][to], out[9][to], out[10][to] = scalars[GROUPS], bucket, longs[slot, ROW], scalars[AT]
        to += 1
    for i in range(count):
        take_from_all(state, members[i])
        free_slot(state, members[i])
    return to


@inlined
def _submit(state: Columns, columns: Columns, i: Scalar, node: Scalar, ladder: Columns, params: Columns) -> None:
    """Buffer or withhold record i (the rules of `Pool.submit`, in its order)."""
    keys, suppressed = state[5], state[9]
    user, query = columns[0][i], columns[1][i]
    with_ladder = params[0][LADDER] == 1
    place = find_place(keys, pair_key(node, user))
    full = is_full(state, place, node, user, params[0][CAP])
    if with_ladder and not enter_text(ladder, user, query, not full):
        suppressed[REPEATED] += 1
    elif full:
        suppressed[CAPPED] += 1
    else:
        _enter(state, node, place, columns, i)
        if with_ladder:
            count_units(ladder, user, query, columns[5][i], columns[4][i])


@compiled
def mix_columns(
    columns: Columns, state: Columns, tree: Columns, params: Columns, random: Columns, ladder: Columns, out: Columns
) -> Scalar:
    """Read records from scalars[DONE] on; returns the number written to `out`.

    columns = (user, query, category, time, rank, url, row). state = (slots, longs, times, queues, nodes, keys, values,
    scalars, clock, suppressed); clock = (now, whether a record came with a time). tree = (start node of each category,
    parent of each node). params = (whole numbers, [max delay in seconds]). random = (words, used, and room for
    members, cycle, order). ladder: `columns_ladder`.
    out = the columns of `Released`. Stops early when `out` or the words may not last for one more group.
    """
    starts, parents = tree
    longs, times, nodes, scalars, clock = state[1], state[2], state[4], state[7], state[8]
    whole, seconds = params
    words, used = random[0], random[1]
    n, written, records = whole[N], 0, len(columns[0])
    while scalars[DONE] < records or scalars[PENDING] != NOWHERE:
        if written + n > len(out[0]) or used[0] + 2 * n + 64 > len(words):
            break
        node = scalars[PENDING]
        if node != NOWHERE:
            if nodes[node, 1] >= n:
                written = _release(state, node, random, ladder, params, out, written)
            else:
                scalars[PENDING] = NOWHERE
            continue
        i, first = scalars[DONE], scalars[FIRST]
        if whole[LADDER] == 1 and i + _AHEAD < records:
            bring_near(ladder, columns[0][i + _AHEAD], columns[1][i + _AHEAD])
        now = columns[3][i] if columns[3][i] > clock[0] else clock[0]  # a missing time is not later
        if not np.isnan(columns[3][i]):
            clock[1] = 1.0
        scalars[AT] = columns[6][i]
        if first != NOWHERE and (
            scalars[ARRIVALS] - longs[first, ENTERED] >= whole[MAX_RECORDS] or now - times[first] >= seconds[0]
        ):
            clock[0] = now
            _move_up(state, first, parents, params)
        else:
            _submit(state, columns, i, starts[columns[2][i]], ladder, params)
            scalars[DONE] += 1
    return written
