"""The compiled loop of mode `mix`: the same rules as `pool.Pool`, on columns (DESIGN 8.4-8.6).

State is arrays, sized by what waits: a waiting record is a slot, a person's records at a node are a queue (a list of
slots in order of arrival), a node is a list of queues, and all slots hang in one list in the order in which they came
to their node. Every step is constant work, a group sorts its own members only; the loop stops wherever it lacks room
or random words and goes on from there.
"""

import numpy as np

from proxid.anonymise.stream.columns_ladder import bring_near, count_units, enter_text, rung_of
from proxid.anonymise.stream.columns_map import FREE, find_place, pair_key, remove_place
from proxid.anonymise.stream.columns_random import Words, below
from proxid.logs.jit import Codes, Columns, Longs, Scalar, compiled, inlined

USER, QUERY, CATEGORY, NODE, NEXT, BEFORE, AFTER, RANK, URL, RAISED = range(10)
"""Columns of a slot: codes, the node, the next slot of its queue, its neighbours in the list of all, 1 when raised."""
ARRIVAL, ENTERED, ROW = range(3)
"""Columns of a slot's long part: order of arrival, arrivals when it came to its node, number in the input."""
HEAD, TAIL, COUNT, PREVIOUS, FOLLOWING, OWNER, PLACE = range(7)
"""Columns of a queue: its first and last slot, its length, neighbours at the node, its user and node."""
ARRIVALS, WAITING, FREE_SLOT, FREE_QUEUE, FIRST, LAST, GROUPS, PENDING, DONE, AT = range(10)
"""Scalars: counters, heads of the free lists, ends of the list of all, the node that may be ripe, records read of this
batch, number in the input of the record whose arrival made the node ripe."""
N, CAP, MAX_RECORDS, WIDTH, LADDER = range(5)
"""Parameters: people a group needs, waiting records a person may have at a node, delay, time bucket, 1 with ladder."""
REPEATED, CAPPED, EXPIRED, EPOCH_END = range(4)
"""Positions in the counts of suppressed records."""
NOWHERE = -1
_AHEAD = 4


@inlined
def _new_queue(state: Columns, node: Scalar, user: Scalar, place: Scalar) -> Scalar:
    """An empty queue of a person at a node, last in the node's list."""
    _, _, _, queues, nodes, keys, values, scalars, _, _ = state
    queue = scalars[FREE_QUEUE]
    scalars[FREE_QUEUE] = queues[queue, HEAD]
    first = nodes[node, 0]
    queues[queue, HEAD] = queues[queue, TAIL] = NOWHERE
    queues[queue, COUNT], queues[queue, OWNER], queues[queue, PLACE] = 0, user, node
    queues[queue, PREVIOUS], queues[queue, FOLLOWING] = NOWHERE, first
    if first != NOWHERE:
        queues[first, PREVIOUS] = queue
    nodes[node, 0] = queue
    nodes[node, 1] += 1
    keys[place], values[place] = pair_key(node, user), queue
    return queue


@compiled
def _drop_queue(state: Columns, queue: Scalar) -> None:
    """Forget a queue that became empty."""
    _, _, _, queues, nodes, keys, values, scalars, _, _ = state
    node, before, after = queues[queue, PLACE], queues[queue, PREVIOUS], queues[queue, FOLLOWING]
    if before == NOWHERE:
        nodes[node, 0] = after
    else:
        queues[before, FOLLOWING] = after
    if after != NOWHERE:
        queues[after, PREVIOUS] = before
    nodes[node, 1] -= 1
    remove_place(keys, values, find_place(keys, pair_key(node, queues[queue, OWNER])))
    queues[queue, HEAD] = scalars[FREE_QUEUE]
    scalars[FREE_QUEUE] = queue


@inlined
def _append_to_all(state: Columns, slot: Scalar) -> None:
    """Hang a slot at the end of the list of all."""
    slots, scalars = state[0], state[7]
    last = scalars[LAST]
    slots[slot, BEFORE], slots[slot, AFTER] = last, NOWHERE
    if last == NOWHERE:
        scalars[FIRST] = slot
    else:
        slots[last, AFTER] = slot
    scalars[LAST] = slot


@inlined
def _take_from_all(state: Columns, slot: Scalar) -> None:
    """Take a slot out of the list of all."""
    slots, scalars = state[0], state[7]
    before, after = slots[slot, BEFORE], slots[slot, AFTER]
    if before == NOWHERE:
        scalars[FIRST] = after
    else:
        slots[before, AFTER] = after
    if after == NOWHERE:
        scalars[LAST] = before
    else:
        slots[after, BEFORE] = before


@inlined
def _put_in_queue(state: Columns, queue: Scalar, slot: Scalar) -> None:
    """Insert a slot by arrival; nearly always it is the last."""
    slots, longs, queues = state[0], state[1], state[3]
    queues[queue, COUNT] += 1
    tail = queues[queue, TAIL]
    if tail == NOWHERE or longs[tail, ARRIVAL] < longs[slot, ARRIVAL]:
        slots[slot, NEXT] = NOWHERE
        queues[queue, TAIL] = slot
        if tail == NOWHERE:
            queues[queue, HEAD] = slot
        else:
            slots[tail, NEXT] = slot
        return
    before, at = NOWHERE, queues[queue, HEAD]
    while longs[at, ARRIVAL] < longs[slot, ARRIVAL]:
        before, at = at, slots[at, NEXT]
    slots[slot, NEXT] = at
    if before == NOWHERE:
        queues[queue, HEAD] = slot
    else:
        slots[before, NEXT] = slot


@compiled
def _leave_queue(state: Columns, slot: Scalar) -> None:
    """Take a slot, wherever it stands, out of its queue."""
    slots, queues, keys, values = state[0], state[3], state[5], state[6]
    queue = values[find_place(keys, pair_key(slots[slot, NODE], slots[slot, USER]))]
    before, at = NOWHERE, queues[queue, HEAD]
    while at != slot:
        before, at = at, slots[at, NEXT]
    if before == NOWHERE:
        queues[queue, HEAD] = slots[slot, NEXT]
    else:
        slots[before, NEXT] = slots[slot, NEXT]
    if queues[queue, TAIL] == slot:
        queues[queue, TAIL] = before
    queues[queue, COUNT] -= 1
    if queues[queue, COUNT] == 0:
        _drop_queue(state, queue)


@inlined
def _free(state: Columns, slot: Scalar) -> None:
    """Give a slot back."""
    slots, scalars = state[0], state[7]
    slots[slot, NEXT] = scalars[FREE_SLOT]
    scalars[FREE_SLOT] = slot
    scalars[WAITING] -= 1


@compiled
def _suppress(state: Columns, slot: Scalar, reason: Scalar) -> None:
    """Give up a waiting record."""
    _leave_queue(state, slot)
    _take_from_all(state, slot)
    _free(state, slot)
    state[9][reason] += 1


@inlined
def _is_full(state: Columns, place: Scalar, node: Scalar, user: Scalar, cap: Scalar) -> Scalar:
    """Whether a person has as many records waiting at a node as one may (8.5)."""
    queues, keys, values = state[3], state[5], state[6]
    return keys[place] != FREE and queues[values[place], COUNT] >= cap


@compiled
def _move_up(state: Columns, slot: Scalar, parents: Codes, params: Columns) -> None:
    """Move the record that waited too long one level up, or give it up (8.6)."""
    slots, longs, times, _, _, keys, values, scalars, clock, _ = state
    user, target = slots[slot, USER], parents[slots[slot, NODE]]
    if target == NOWHERE:
        _suppress(state, slot, EXPIRED)
        return
    if _is_full(state, find_place(keys, pair_key(target, user)), target, user, params[0][CAP]):
        _suppress(state, slot, CAPPED)
        return
    _leave_queue(state, slot)
    _take_from_all(state, slot)
    slots[slot, NODE], slots[slot, RAISED] = target, 1
    longs[slot, ENTERED], times[slot] = scalars[ARRIVALS], clock[0]
    place = find_place(keys, pair_key(target, user))
    queue = values[place] if keys[place] != FREE else _new_queue(state, target, user, place)
    _put_in_queue(state, queue, slot)
    _append_to_all(state, slot)
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
    queue = values[place] if keys[place] != FREE else _new_queue(state, node, user[i], place)
    _put_in_queue(state, queue, slot)
    _append_to_all(state, slot)
    scalars[PENDING] = node


@inlined
def _take_members(state: Columns, node: Scalar, members: Codes) -> Scalar:
    """The oldest record of everybody at a node, in order of arrival; returns how many."""
    slots, longs, _, queues, nodes, _, _, _, _, _ = state
    count, queue = nodes[node, 1], nodes[node, 0]
    for i in range(count - 1, -1, -1):  # the newest queue stands first
        following, members[i] = queues[queue, FOLLOWING], queues[queue, HEAD]
        queues[queue, HEAD] = slots[members[i], NEXT]
        queues[queue, COUNT] -= 1
        if queues[queue, COUNT] == 0:
            _drop_queue(state, queue)
        queue = following
    for i in range(1, count):
        slot, to = members[i], i
        while to > 0 and longs[members[to - 1], ARRIVAL] > longs[slot, ARRIVAL]:
            members[to] = members[to - 1]
            to -= 1
        members[to] = slot
    return count


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


@compiled
def _show(state: Columns, slot: Scalar, ladder: Columns, shown: Scalar, out: Columns, to: Scalar) -> None:
    """Decide what of a record's text, rank and URL is shown (8.7), or that all of it is (no ladder)."""
    slots = state[0]
    if not shown:
        out[1][to], out[2][to], out[3][to], out[5][to], out[6][to] = slots[slot, QUERY], 0, -1, -1, -1
        return
    rung_of(ladder, slots[slot, QUERY], slots[slot, URL], slots[slot, RANK], out, to)


@compiled
def _release(
    state: Columns, node: Scalar, random: Columns, ladder: Columns, params: Columns, out: Columns, to: Scalar
) -> Scalar:
    """Form a group at a ripe node and write its pairs; returns where the next record goes."""
    slots, longs, _, _, _, _, _, scalars, clock, _ = state
    words, used, members, cycle, order = random
    count = _take_members(state, node, members)
    _draw(words, used, count, cycle, order)
    scalars[GROUPS] += 1
    raised = False
    for i in range(count):
        raised = raised or slots[members[i], RAISED] == 1
    width = params[0][WIDTH]
    bucket = np.floor(clock[0] / width) * width
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
        _take_from_all(state, members[i])
        _free(state, members[i])
    return to


@inlined
def _submit(state: Columns, columns: Columns, i: Scalar, node: Scalar, ladder: Columns, params: Columns) -> None:
    """Buffer or withhold record i (the rules of `Pool.submit`, in its order)."""
    keys, suppressed = state[5], state[9]
    user, query = columns[0][i], columns[1][i]
    with_ladder = params[0][LADDER] == 1
    place = find_place(keys, pair_key(node, user))
    full = _is_full(state, place, node, user, params[0][CAP])
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
    scalars, clock, suppressed). tree = (start node of each category, parent of each node). params = (whole numbers,
    [max delay in seconds]). random = (words, used, and room for members, cycle, order). ladder: `columns_ladder`.
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


@compiled
def drain(state: Columns, reason: Scalar) -> None:
    """Suppress everything that waits."""
    scalars = state[7]
    while scalars[FIRST] != NOWHERE:
        _suppress(state, scalars[FIRST], reason)


@compiled
def list_waiting(state: Columns, found: Longs) -> None:
    """The slots of all waiting records, in the order in which they came to their nodes."""
    slots, scalars = state[0], state[7]
    at = scalars[FIRST]
    for i in range(len(found)):
        found[i] = at
        at = slots[at, AFTER]
