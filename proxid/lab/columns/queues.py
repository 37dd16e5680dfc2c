"""Waiting records as arrays: slots, queues, nodes (DESIGN 8.4-8.6).

State is sized by what waits: a waiting record is a slot, a person's records at a node are a queue (a list of slots in
order of arrival), a node is a list of queues, and all slots hang in one list in the order in which they came to their
node. Every step is constant work; a group sorts its own members only.

state = (slots, longs, times, queues, nodes, keys, values, scalars, clock, suppressed): the columns of slots, queues and
nodes, the queue of each (node, person) as a `PairMap`, counters, the latest time of a record that was buffered or
moved, and counts of what was suppressed.
"""

from proxid.lab.columns.map import FREE, find_place, pair_key, remove_place
from proxid.lab.logs.jit import Codes, Columns, Longs, Scalar, compiled, inlined, step

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


@inlined
def new_queue(state: Columns, node: Scalar, user: Scalar, place: Scalar) -> Scalar:
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


@step
def drop_queue(state: Columns, queue: Scalar) -> None:
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
def append_to_all(state: Columns, slot: Scalar) -> None:
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
def take_from_all(state: Columns, slot: Scalar) -> None:
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
def put_in_queue(state: Columns, queue: Scalar, slot: Scalar) -> None:
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


@step
def leave_queue(state: Columns, slot: Scalar) -> None:
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
        drop_queue(state, queue)


@inlined
def free_slot(state: Columns, slot: Scalar) -> None:
    """Give a slot back."""
    slots, scalars = state[0], state[7]
    slots[slot, NEXT] = scalars[FREE_SLOT]
    scalars[FREE_SLOT] = slot
    scalars[WAITING] -= 1


@step
def suppress(state: Columns, slot: Scalar, reason: Scalar) -> None:
    """Give up a waiting record."""
    leave_queue(state, slot)
    take_from_all(state, slot)
    free_slot(state, slot)
    state[9][reason] += 1


@inlined
def is_full(state: Columns, place: Scalar, node: Scalar, user: Scalar, cap: Scalar) -> Scalar:
    """Whether a person has as many records waiting at a node as one may (8.5)."""
    queues, keys, values = state[3], state[5], state[6]
    return keys[place] != FREE and queues[values[place], COUNT] >= cap


@inlined
def take_members(state: Columns, node: Scalar, members: Codes) -> Scalar:
    """The oldest record of everybody at a node, in order of arrival; returns how many."""
    slots, longs, _, queues, nodes, _, _, _, _, _ = state
    count, queue = nodes[node, 1], nodes[node, 0]
    for i in range(count - 1, -1, -1):  # the newest queue stands first
        following, members[i] = queues[queue, FOLLOWING], queues[queue, HEAD]
        queues[queue, HEAD] = slots[members[i], NEXT]
        queues[queue, COUNT] -= 1
        if queues[queue, COUNT] == 0:
            drop_queue(state, queue)
        queue = following
    for i in range(1, count):
        slot, to = members[i], i
        while to > 0 and longs[members[to - 1], ARRIVAL] > longs[slot, ARRIVAL]:
            members[to] = members[to - 1]
            to -= 1
        members[to] = slot
    return count


@compiled
def drain(state: Columns, reason: Scalar) -> None:
    """Suppress everything that waits."""
    scalars = state[7]
    while scalars[FIRST] != NOWHERE:
        suppress(state, scalars[FIRST], reason)


@compiled
def list_waiting(state: Columns, found: Longs) -> None:
    """The slots of all waiting records, in the order in which they came to their nodes."""
    slots, scalars = state[0], state[7]
    at = scalars[FIRST]
    for i in range(len(found)):
        found[i] = at
        at = slots[at, AFTER]
