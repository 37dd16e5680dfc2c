"""What is left of form `split` after erasures never speaks against an honest pool (DESIGN 10.4)."""

import json
import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from auditor.checks.c5_split import SplitReplay, SplitReplayState
from auditor.checks.c5_split_entries import Judge
from auditor.checks.c5_split_shape import verify_batched
from auditor.plain import dumps, loads
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving, NodeRounds
from proxid.errors import GroupMismatchError
from proxid.evidence.events import BufferedPayload, Event, ReleasedPayload
from proxid.evidence.splitting import batched_header, entry_body, portions, split_record

SEED, EPOCH = bytes(range(32)), 7
NOBODY = cast("Judge", Judge(cast("Any", None), {}, b""))
"""Entries bear no signature here: only nodes, people and order are judged."""
_STORED = 16
"""Records after which the auditor's state is stored and read again."""


def batched(header: bytes) -> Event:
    return cast("Event", SimpleNamespace(header=header, fields=json.loads(header)))


@dataclass
class Honest:
    """A pool, and an auditor who cannot read some people's records; stored and read again after each portion.

    What waits is stored with it: after every record as well would take the square of their number.
    """

    settings: SplitSettings
    erased: set[str]
    limited: int = 0
    when: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pool = SplitPool(self.settings, Draws(SEED))
        self.replay = SplitReplay(self.settings, SEED, EPOCH, shows=True)

    def again(self) -> None:
        stored = dumps(SplitReplayState, self.replay.state())
        self.replay = SplitReplay.restored(loads(SplitReplayState, stored), SEED, EPOCH)
        assert dumps(SplitReplayState, self.replay.state()) == stored

    def buffer(self, payload: BufferedPayload) -> None:
        self.pool.submit(split_record(payload))
        self.when[payload.session] = payload.time_ms
        if payload.prox_id in self.erased:
            self.replay.blinded()
        else:
            self.replay.buffer(payload)
        if len(self.when) % _STORED == 0:
            self.again()

    def withdraw(self, person: str) -> None:
        waited, left = self.pool.withdraw(person)
        for session in (*waited, *left):
            self.replay.withdrawn(session, session in left)

    def release(self, tick: int, leaving: dict[str, list[Leaving]]) -> None:
        for number, portion in portions(tick, leaving, Draws(SEED)):
            if all(one.record.person in self.erased for one in portion):
                self.replay.released_unread(number, portion[0].record.audience)
                continue
            seen = [one.record.person not in self.erased for one in portion]
            bodies = [
                entry_body(one, tick, EPOCH, self.settings, self.when[one.record.id], SEED).encode(b"salt")
                for one in portion
            ]
            shown = tuple(body if see else b"" for body, see in zip(bodies, seen, strict=True))
            payload = ReleasedPayload(
                tuple(one.record.id if see else b"" for one, see in zip(portion, seen, strict=True)),
                tuple(one.record.person if see else "" for one, see in zip(portion, seen, strict=True)),
                ((portion[0].record.audience.partition("|")[2].partition(":")[0], (b"",) * len(portion), shown),),
            )
            self.replay.released(number, portion[0].record.audience, payload, NOBODY)
            self.again()

    def tick(self, number: int) -> None:
        self.replay.ticked(number)
        self.release(number, self.pool.tick(number))

    def close(self) -> None:
        self.replay.ticked(self.settings.ticks)
        closed = dict(self.pool.close())
        for close in closed.values():
            for gone in close.suppressed:
                self.replay.gone(gone.record.id, gone.reason.value)
        self.release(self.settings.ticks, {audience: list(close.leaving) for audience, close in closed.items()})
        for number, close in enumerate(closed.values(), 1):
            header = batched_header(close.contents, EPOCH, number, bytes(32))
            verify_batched(json.loads(header), self.settings)
            if self.replay.shape is not None:
                self.replay.batched(number, batched(header))
                self.limited += 1
        if self.replay.shape is not None:
            self.replay.verify_over()


@pytest.mark.parametrize("seed", range(60))
def test_an_honest_pool_is_never_accused(seed: int) -> None:
    """Audiences, ticks, withdrawals, people who ask once or often, nodes of few, what comes up; any people erased."""
    source = random.Random(seed)
    settings = SplitSettings(
        k=source.choice((1, 2)), margin=source.choice((0, 1)), level=source.choice((1, 2)), min_text_users=1,
        bucket_s=9, epoch_s=36,
    )  # fmt: skip
    people = [f"u{i}" for i in range(source.choice((4, 8, 12)))]
    house = Honest(settings, set(source.sample(people, source.choice((1, 2, len(people) // 2, len(people) - 1)))))
    for i in range(source.choice((30, 120, 300))):
        path = (source.choice("aaabbcd"), source.choice("xxy"), "leaf")[: source.choice((1, 2, 3, 3))]
        audience = source.choice(("acme:alias", "acme:alias", "globex:alias"))
        person = source.choice(people)
        house.buffer(BufferedPayload(b"%d" % i, person, True, audience, "general", b"", "v1", path, ("t",), i))
        if source.random() < 0.02:
            house.withdraw(source.choice(people))
        if i in (20, 60, 150):
            house.tick({20: 1, 60: 2, 150: 3}[i])
    house.close()
    assert house.limited, "contents are shown of an epoch that is not replayed"


def test_contents_are_held_against_what_left() -> None:
    """One of five people is hidden: neither fewer nor more records than that leaves room for, and no round too few."""
    settings = SplitSettings(k=2, margin=1, bucket_s=9, epoch_s=9)

    def closed() -> tuple[Honest, Any]:
        house = Honest(settings, {"u0"})
        for at, (node, person) in enumerate((node, person) for node in "abc" for person in range(5)):
            house.buffer(
                BufferedPayload(b"%d" % at, f"u{person}", True, "acme:alias", "general", b"", "v", (node,), (), 5)
            )  # fmt: skip
        house.replay.ticked(1)
        ((_, close),) = house.pool.close()
        house.release(1, {"general|acme:alias": list(close.leaving)})
        return house, close.contents

    def said(*nodes: NodeRounds) -> Event:
        _, contents = closed()
        return batched(batched_header(type(contents)(contents.audience, (), nodes), EPOCH, 1, bytes(32)))

    honest = [NodeRounds((node,), (5,), 0) for node in "abc"]
    for nodes, wrong in (
        (honest, ""), (honest[:2], "leave out a node"), ([*honest[:2], NodeRounds(("c",), (), 5)], "fewer rounds"),
        ([*honest[:2], NodeRounds(("c",), (), 3)], "fewer records"),
        ([*honest[:2], NodeRounds(("c",), (5,), 9)], "more records than left"),
        ([*honest, NodeRounds(("d",), (4,), 0)], "more records than left"),
    ):  # fmt: skip
        house, _ = closed()
        if not wrong:
            house.replay.batched(1, said(*nodes))
            with pytest.raises(GroupMismatchError, match="a second time"):
                house.replay.batched(1, said(*nodes))
            with pytest.raises(GroupMismatchError, match="after its epoch's last tick"):
                house.replay.blinded()
            continue
        with pytest.raises(GroupMismatchError, match=wrong):
            house.replay.batched(1, said(*nodes))


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"rounds": ["a:3:0"]}, "fewer distinct people"), ({"rounds": ["a:4,5:0"]}, "later round"),
        ({"rounds": ["a/b:4:0"]}, "another level"), ({"rounds": ["b:4:0", "a:4:0"]}, "not in order"),
        ({"rounds": ["a:4:1"]}, "withhold another number"), ({"rounds": ["a:4:1", "b::-1"]}, "withhold another"),
    ],
)  # fmt: skip
def test_the_shape_of_contents(changed: dict[str, Any], wrong: str) -> None:
    settings = SplitSettings(k=2, margin=1)
    verify_batched({"rounds": ["a:5,4:0", "b::3"], "withheld": 3}, settings)
    with pytest.raises(GroupMismatchError, match=wrong):
        verify_batched({"withheld": 0} | changed, settings)
