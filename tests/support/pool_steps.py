"""Random sequences of steps of a pool, small enough that everything happens (groups, moves, caps, repeats)."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record
from proxid.errors import ProxidError

PATHS = ((), ("a",), ("a", "x"), ("a", "y"), ("b", "z"), ("a", "x", "1"), ("a", "x", "2"))
AUDIENCES = ("general|shop", "general|shop,news")
SEASONED = 6
PEOPLE = 10
UNITS = tuple(bytes([i]) * 16 for i in range(5))

settings = st.builds(
    Settings,
    k=st.integers(1, 2),
    margin=st.integers(0, 1),
    level=st.integers(0, 3),
    max_delay_records=st.none() | st.integers(3, 12),
    max_delay_s=st.none() | st.integers(5, 40).map(float),
    min_text_users=st.integers(1, 2),
    person_cap=st.none() | st.integers(1, 3),
    time_bucket_s=st.sampled_from((1, 7, 900)),
)

times = st.integers(-3, 6).map(lambda step: step * 0.7)
"""How far the time of a step is from the one before; now and then it runs back."""

submissions = st.tuples(
    st.just("submit"), st.integers(0, PEOPLE - 1), st.sampled_from(AUDIENCES), st.sampled_from(PATHS),
    st.lists(st.sampled_from(UNITS), max_size=3).map(tuple), times, st.integers(0, 30).map(lambda i: i == 0),
)  # fmt: skip
ticks = st.tuples(st.just("tick"), times, st.sampled_from((1, 2, 256)))
withdrawals = st.tuples(
    st.just("withdraw"), st.integers(0, PEOPLE - 1), st.none() | st.sets(st.sampled_from(AUDIENCES)).map(tuple)
)
closings = st.tuples(st.just("close"), st.sampled_from((1, 3, 256)))

steps = st.integers(0, 19).flatmap(lambda i: submissions if i < 14 else ticks if i < 19 else withdrawals)
sequences = st.tuples(st.lists(steps, min_size=30, max_size=70), st.lists(closings, max_size=3)).map(
    lambda parts: parts[0] + parts[1]
)


def person_name(number: int) -> str:
    return f"px1{number}"


def make_record(number: int, step: Sequence[Any], now: float) -> Record:
    """The record of a `submissions` step; its last item asks for an id that was used before."""
    _, person, audience, path, units, _, again = step
    identity = b"id%d" % (0 if again else number)
    return Record(identity, person_name(person), person < SEASONED, audience, path, units, now)


def run_step(pool: Any, step: Sequence[Any], number: int, now: float) -> Any:
    """Do one step; its result, or the kind of error that it raised."""
    try:
        if step[0] == "submit":
            return pool.submit(make_record(number, step, now))
        if step[0] == "tick":
            return pool.tick(now, step[2])
        if step[0] == "withdraw":
            return pool.withdraw(person_name(step[1]), step[2])
        return pool.close(step[1])
    except ProxidError as error:
        return type(error)


def time_step(step: Sequence[Any]) -> float:
    """How far a step moves the time."""
    return float({"submit": lambda: step[5], "tick": lambda: step[1]}.get(step[0], lambda: 0.0)())
