"""The close of slots, as one pure function (DESIGN 8.8): the store and the auditor's replay run the same code.

At the close of a slot, from the deepest nodes up: the siblings of a parent in that slot are released if every one of
them with waiting records has n = k + m distinct seasoned people; otherwise all their records move to the parent (else
the complement tells), whose slot is wider. The top's nodes have no parent that is ever published, so each decides by
itself, and what cannot be released there is given up.

A group holds one record a person, the oldest. More people than 2n − 1 are split into groups of n or more in order of
arrival, so that a group fits a message. Unseasoned people may join but do not count; at most n join one group.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from proxid.anonymise.slotted.types import (
    Closing,
    GivenUp,
    Lifted,
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


def close(due: Iterable[Waiting], now: float, settings: SlotSettings, epoch_end: float) -> Closing:
    """Close every slot that has ended.

    Args:
        due: all records whose slots end at or before `now`. now: Unix seconds.
    """
    groups: list[SlotGroup] = []
    given_up: list[GivenUp] = []
    lifted: dict[bytes, Lifted] = {}
    at_depth: dict[int, list[Waiting]] = defaultdict(list)
    for waiting in due:
        at_depth[waiting.depth].append(waiting)
    for depth in range(max(at_depth, default=0), 0, -1):
        for siblings in _families(at_depth[depth], depth):
            if all(_ripe(members, settings) for members in siblings.values()) or depth == 1:
                for key, members in siblings.items():
                    made, left = _release(key, members, settings)
                    groups += made
                    given_up += left
                continue
            for waiting in sorted((w for ws in siblings.values() for w in ws), key=lambda w: w.arrival):
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


def _one_each(members: Sequence[Waiting]) -> tuple[list[SlotRecord], list[GivenUp]]:
    kept: dict[str, SlotRecord] = {}
    rest = []
    for waiting in members:  # in order of arrival
        record = waiting.record
        if record.person in kept:
            rest.append(GivenUp(record, SlotReason.SLOT_QUOTA))
        else:
            kept[record.person] = record
    return list(kept.values()), rest


def _ripe(members: Sequence[Waiting], settings: SlotSettings) -> bool:
    return len({w.record.person for w in members if w.record.seasoned}) >= settings.n


def _release(key: _Key, members: Sequence[Waiting], settings: SlotSettings) -> tuple[list[SlotGroup], list[GivenUp]]:
    if not _ripe(members, settings):
        return [], [GivenUp(w.record, SlotReason.TOO_FEW) for w in members]
    records, given_up = _one_each(members)
    seasoned = [r for r in records if r.seasoned]
    others = [r for r in records if not r.seasoned]
    arrival = {w.record.id: w.arrival for w in members}
    count = len(seasoned) // settings.n
    groups = []
    for i in range(count):
        last = i == count - 1
        part = seasoned[i * settings.n : None if last else (i + 1) * settings.n]
        part += others[i * settings.n : (i + 1) * settings.n]
        part.sort(key=lambda r: arrival[r.id])
        groups.append(SlotGroup(*key, tuple(part), _diverse(part)))
    given_up += [GivenUp(r, SlotReason.SLOT_QUOTA) for r in others[count * settings.n :]]
    return groups, given_up


def _diverse(records: Sequence[SlotRecord]) -> bool:
    """Whether intents may be shown: three or more, none over half (the homogeneity rule of 8.8)."""
    counts = Counter(record.intent for record in records)
    return len(counts) >= MIN_INTENTS and 2 * max(counts.values()) <= len(records)
