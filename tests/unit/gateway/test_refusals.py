"""Refusals become one event a person, rule and minute; and what people write has a limit by the minute."""

import asyncio
import hashlib
import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import refusals
from gateway.refusals import Refused, TurnedAway, write_refusals
from proxid.errors import Code, RateLimitError, StoreError

RATE, NONCE = Code.RATE_LIMITED, Code.REPLAYED


def digest(*sessions: bytes) -> str:
    return hashlib.sha256(b"".join(sorted(set(sessions)))).hexdigest()


def test_one_event_a_person_rule_and_minute_which_commits_to_the_sessions_in_any_order() -> None:
    away = TurnedAway()
    for session in (b"c", b"a", b"b", b"a"):
        away.count("ann", RATE, session, 61.0)
    away.count("ann", NONCE, b"a", 61.0)
    away.count("ben", RATE, b"d", 119.0)
    assert list(away.due(119.9)) == []
    found = list(away.due(120.0))
    assert set(found) == {
        Refused("rate_limited", 3, digest(b"a", b"b", b"c"), minute=1), Refused("replayed", 1, digest(b"a"), minute=1),
        Refused("rate_limited", 1, digest(b"d"), minute=1),
    }  # fmt: skip
    assert list(away.due(math.inf)) == []


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([RATE, NONCE]), st.binary(max_size=1), st.floats(0, 240)))
)
def test_no_refusal_is_lost_or_counted_twice(steps: list[tuple[str, Code, bytes, float]]) -> None:
    away, now, found = TurnedAway(), 0.0, list[Refused]()
    expected: dict[Any, set[bytes]] = {}
    for who, rule, session, at in sorted(steps, key=lambda step: step[3]):
        now = at
        away.count(who, rule, session, now)
        expected.setdefault((who, rule, now // 60), set()).add(session)
        found += away.due(now)
    found += away.due(math.inf)
    assert Counter((f.rule, f.number, f.sessions) for f in found) == Counter(
        (key[1].value, len(sessions), digest(*sessions)) for key, sessions in expected.items()
    )


def test_memory_is_bounded_by_writing_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_MOST", 10)
    away = TurnedAway()
    for number in range(25):
        away.count("ann", RATE, bytes([number]), 0.0)
    assert [found.number for found in away.due(1.0)] == [10, 10]
    assert [found.number for found in away.due(60.0)] == [5]


def test_what_is_written_too_often_in_a_minute_is_refused_and_counted_by_kind_and_person() -> None:
    away = TurnedAway(most=2)
    for _ in range(2):
        away.write("consents", "ann", b"x", 0.0)
    for session in (b"1", b"2"):
        with pytest.raises(RateLimitError):
            away.write("consents", "ann", session, 59.0)
    away.write("rights", "ann", b"x", 59.0)
    away.write("consents", "ben", b"x", 59.0)
    for _ in range(20):
        away.write("acknowledgements", "acme", b"x", 59.0, times=10)
    assert not away.is_over("ann", 59.0)  # of requests
    away.write("consents", "ann", b"x", 60.0)
    assert list(away.due(60.0)) == [Refused("rate_limited", 2, digest(b"1", b"2"), "consents")]
    away.count("ann", RATE, b"1", 60.0)
    assert away.is_over("ann", 61.0) and not away.is_over("ann", 120.0) and not away.is_over("ben", 61.0)


async def test_a_worker_that_stops_writes_what_it_has_counted_and_one_without_a_store_goes_on() -> None:
    written: list[Refused] = []

    class Store:
        async def refused(self, refused: Refused, limit: int) -> None:
            if refused.rule == NONCE:
                raise StoreError("away")
            written.append(refused)

    away = TurnedAway()
    screener: Any = SimpleNamespace(turned_away=away, clock=lambda: 0.0)
    away.count("ann", NONCE, b"a", 0.0)
    away.count("ann", RATE, b"b", 0.0)
    task = asyncio.create_task(write_refusals(screener, Store()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert written == [Refused("rate_limited", 1, digest(b"b"))]
