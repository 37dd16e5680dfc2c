"""The close of slots, as one pure function (DESIGN 8.8): the store and the auditor's replay run the same code.

At the close of a slot, from the deepest nodes up: a node is ripe if n = k + m distinct seasoned people have waiting
records there. Whoever sees ripe siblings released and others at their parent learns that the others were elsewhere; so
ripe siblings leave only if those left over together have n distinct seasoned people without a record in a sibling that
leaves, else the smallest ripe one joins the left-over ones. These move to the parent, whose slot is wider. What hides
them there is the union of their nodes: each is one that a record may name (populated enough, not sensitive), and so is
the union. The top's nodes have no parent that is ever published, so each decides by itself, and what cannot be released
there is given up.

A ripe node leaves in rounds: a person's records there are in an order drawn from the epoch's seed, never that of time
nor one that their ids tell, and round j is everybody's j-th. Rounds with n seasoned people are groups of their own;
what is left of later rounds is given up and never moves: whoever is published in the child would be located in it at
the parent. More people than 2n − 1 are split into groups of n or more in order of arrival, so that a group fits a
message. Unseasoned people may join but do not count; at most n join one group.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from proxid.anonymise.slotted.types import (
    Closing,
    GivenUp,
    Lifted,
    Place,
    SlotGroup,
    SlotReason,
    SlotRecord,
    SlotSettings,
    Waiting,
)

_Key = tuple[str, tuple[str, ...], float, float]
MIN_INTENTS = 3


def enter(record: SlotRecord, arrival: int, settings: SlotSettings, epoch_end: float) -> Waiting:
    """A record at the node and slot where it starts to wait; a slot ends with its epoch at the latest."""
    return _place(record, arrival, len(record.path), settings, epoch_end)


def _place(record: SlotRecord, arrival: int, depth: int, settings: SlotSettings, epoch_end: float) -> Waiting:
    width = settings.width(depth, record.floor)
    start = math.floor(record.time / width) * width
    return Waiting(record, arrival, depth, start, min(start + width, epoch_end))


def close(due: Iterable[Waiting], now: float, settings: SlotSettings, epoch_end: float, place: Place) -> Closing:
    """Close every slot that has ended.

    Args:
        due: all records whose slots end at or before `now`. now: Unix seconds. place: see `types.Place`.
    """
    groups: list[SlotGroup] = []
    given_up: list[GivenUp] = []
    lifted: dict[bytes, Lifted] = {}
    at_depth: dict[int, list[Waiting]] = defaultdict(list)
    for waiting in due:
        at_depth[waiting.depth].append(waiting)
    for depth in range(max(at_depth, default=0), 0, -1):
        for siblings in _families(at_depth[depth], depth):
            leaving = siblings if depth == 1 else _leaving(siblings, settings)
            for key, members in leaving.items():
                made, left = _release(key, members, settings, place)
                groups += made
                given_up += left
            over = (w for key, ws in siblings.items() if key not in leaving for w in ws)
            for waiting in sorted(over, key=lambda w: w.arrival):
                moved = _place(waiting.record, waiting.arrival, depth - 1, settings, epoch_end)
                lifted[waiting.record.id] = Lifted(moved, waiting.node)
                if moved.end <= now:
                    at_depth[depth - 1].append(moved)
    ended = {r.id for g in groups for r in g.members} | {g.record.id for g in given_up}
    waits = tuple(moved for identity, moved in lifted.items() if identity not in ended)
    return Closing(tuple(groups), waits, tuple(given_up))


def _families(waiting: Sequence[Waiting], depth: int) -> list[dict[_Key, list[Waiting]]]:
    """Node-slots with what waits in them, by parent and slot; all in a fixed order."""
    families: dict[_Key, dict[_Key, list[Waiting]]] = defaultdict(lambda: defaultdict(list))
    for w in sorted(waiting, key=lambda w: w.arrival):
        audience, node = w.record.audience, w.node
        families[audience, node[: depth - 1], w.start, w.end][audience, node, w.start, w.end].append(w)
    return [dict(sorted(families[key].items())) for key in sorted(families)]


def _leaving(siblings: dict[_Key, list[Waiting]], settings: SlotSettings) -> dict[_Key, list[Waiting]]:
    """The siblings that leave; all that is left over moves up."""
    ripe = {key: members for key, members in siblings.items() if _ripe(members, settings)}
    if not settings.rounds:
        return ripe if len(ripe) == len(siblings) else {}
    over = {key: members for key, members in siblings.items() if key not in ripe}
    while ripe and over and not _hidden(over.values(), ripe.values(), settings):
        smallest = min(ripe, key=lambda key: (len(_seasoned(ripe[key])), key))
        over[smallest] = ripe.pop(smallest)
    return ripe


def _hidden(
    over: Iterable[Sequence[Waiting]], leaving: Iterable[Sequence[Waiting]], settings: SlotSettings
) -> bool:  # fmt: skip
    """Whether those left over hide each other: n of them are in no sibling that leaves."""
    seen = {w.record.person for members in leaving for w in members}
    return len({person for members in over for person in _seasoned(members)} - seen) >= settings.n


def _seasoned(members: Sequence[Waiting]) -> set[str]:
    return {w.record.person for w in members if w.record.seasoned}


def _rounds(
    members: Sequence[Waiting], settings: SlotSettings, place: Place
) -> tuple[list[list[SlotRecord]], list[GivenUp]]:
    """Everybody's first record, second, …, each in order of arrival, and what no round takes."""
    own: dict[str, list[Waiting]] = defaultdict(list)
    for waiting in members:
        own[waiting.record.person].append(waiting)
    if settings.rounds:
        for mine in own.values():
            mine.sort(key=lambda w: place(w.record.id))
    rounds: list[list[SlotRecord]] = []
    while True:
        one = [mine[len(rounds)] for mine in own.values() if len(mine) > len(rounds)]
        if len(_seasoned(one)) < settings.n or (rounds and not settings.rounds):
            break
        rounds.append([w.record for w in sorted(one, key=lambda w: w.arrival)])
    reason = SlotReason.TOO_FEW if settings.rounds else SlotReason.SLOT_QUOTA
    taken = {record.id for one in rounds for record in one}
    return rounds, [GivenUp(w.record, reason) for w in members if w.record.id not in taken]


def _ripe(members: Sequence[Waiting], settings: SlotSettings) -> bool:
    return len(_seasoned(members)) >= settings.n


def _release(
    key: _Key, members: Sequence[Waiting], settings: SlotSettings, place: Place
) -> tuple[list[SlotGroup], list[GivenUp]]:
    if not _ripe(members, settings):
        return [], [GivenUp(w.record, SlotReason.TOO_FEW) for w in members]
    rounds, given_up = _rounds(members, settings, place)
    arrival = {w.record.id: w.arrival for w in members}
    groups = []
    for records in rounds:
        made, left = _grouped(key, records, arrival, settings)
        groups += made
        given_up += left
    return groups, given_up


def _grouped(
    key: _Key, records: Sequence[SlotRecord], arrival: Mapping[bytes, int], settings: SlotSettings
) -> tuple[list[SlotGroup], list[GivenUp]]:
    """The groups of one round, and unseasoned people who are too many."""
    seasoned = [r for r in records if r.seasoned]
    others = [r for r in records if not r.seasoned]
    count = len(seasoned) // settings.n
    groups = []
    for i in range(count):
        last = i == count - 1
        part = seasoned[i * settings.n : None if last else (i + 1) * settings.n]
        part += others[i * settings.n : (i + 1) * settings.n]
        part.sort(key=lambda r: arrival[r.id])
        groups.append(SlotGroup(*key, tuple(part), _diverse(part)))
    return groups, [GivenUp(r, SlotReason.SLOT_QUOTA) for r in others[count * settings.n :]]


def _diverse(records: Sequence[SlotRecord]) -> bool:
    """Whether intents may be shown: three or more, none over half (the homogeneity rule of 8.8)."""
    counts = Counter(record.intent for record in records)
    return len(counts) >= MIN_INTENTS and 2 * max(counts.values()) <= len(records)
