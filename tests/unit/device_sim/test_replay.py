"""Replay: every event once, so many at a time, at its time; and what became of it."""

import asyncio
import itertools
from typing import cast

import pytest

from device_sim.corpus import Event
from device_sim.replay import Pace, Replay
from proxid.clients.household.household import Answer, Household
from proxid.errors import Code, InputError, RefusedError, UpstreamError


class FakeHousehold:
    """Answers after a turn of the loop; refuses or fails by text."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.under_way = self.most = 0
        self.busy: set[str] = set()

    async def ask(self, user: str, text: str, location: str) -> Answer:
        assert user not in self.busy, "a person asks one thing at a time"
        self.busy.add(user)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        self.busy.discard(user)
        self.asked.append((user, text))
        if text == "refuse":
            raise RefusedError(Code.RATE_LIMITED)
        if text == "fail":
            raise UpstreamError("away")
        return Answer("ok", bytes(64), int(text == "retried"))

    async def consent(self, user: str, bundle: str) -> int:
        self.asked.append((user, f"consent {bundle}"))
        return 1


def replay(fake: FakeHousehold, pace: Pace, *users: str) -> Replay:
    return Replay({user: cast(Household, fake) for user in users}, pace)


async def test_every_event_once_and_no_more_than_allowed_at_once() -> None:
    fake = FakeHousehold()
    events = [Event(str(i % 40), f"t{i}") for i in range(400)]
    summary = await replay(fake, Pace(8), *(str(i) for i in range(40))).run(events)
    assert sorted(fake.asked) == sorted((e.user, e.text) for e in events)
    assert (summary.requests, summary.answered, fake.most) == (400, 400, 8)


async def test_outcomes_are_counted_by_code() -> None:
    texts = ["ok", "refuse", "fail", "retried", "refuse"]
    summary = await replay(FakeHousehold(), Pace(2), "a").run([Event("a", text) for text in texts])
    done = summary.as_dict()
    assert (done["requests"], done["answered"], done["retried"]) == (5, 2, 1)
    assert (done["refused"], done["failed"]) == ({"rate_limited": 2}, {"upstream_unreachable": 1})


async def test_one_persons_events_keep_their_order() -> None:
    fake = FakeHousehold()
    events = [Event("a", "1"), Event("a", "", consent="all"), Event("a", "2"), Event("a", "", consent="nothing")]
    await replay(fake, Pace(16), "a").run(events)
    assert [text for _, text in fake.asked] == ["1", "consent all", "2", "consent nothing"]


async def test_stranger_stops_the_replay() -> None:
    with pytest.raises(InputError):
        await replay(FakeHousehold(), Pace(1), "a").run([Event("b", "x")])


def test_due_times() -> None:
    events = [Event("a", "x", time=t) for t in (1000.0, 1010.0, 1005.0, 990.0)]
    assert [due for due, _ in Pace(rate=4).due(events)] == [0.0, 0.25, 0.5, 0.75]
    assert [due for due, _ in Pace(speed=2).due(events)] == [0.0, 5.0, 2.5, 0.0]
    assert [due for due, _ in itertools.islice(Pace().due(events), 2)] == [0.0, 0.0]


async def test_nothing_is_sent_after_the_time_is_over() -> None:
    """At 200 a second for 0.1 s: 20 or 21 of 1,000 are due, however slow the machine."""
    summary = await replay(FakeHousehold(), Pace(4, rate=200, seconds=0.1), "a").run([Event("a", "x")] * 1000)
    assert 0 < summary.answered <= 21
