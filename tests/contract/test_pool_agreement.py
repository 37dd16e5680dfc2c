"""All pools agree step by step on random sequences: the plain oracle, memory, and the store on every server."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group
from tests.support.naive_pool import NaivePool
from tests.support.pool_steps import run_step, sequences, settings, time_step
from tests.support.pools import Backend, MemoryBackend, Store, StoreBackend

START = 1_000.0


def agree(one: Backend, other: Backend, steps: list[tuple]) -> None:
    """Do the same steps with both; results, errors and what waits must be equal after each."""
    now = START
    for number, step in enumerate(steps):
        now += time_step(step)
        assert run_step(one, step, number, now) == run_step(other, step, number, now), (number, step)
        assert one.waiting() == other.waiting(), (number, step)


@hypothesis_settings(max_examples=100)
@given(settings, sequences)
def test_memory_does_what_the_plain_rules_say(chosen: Settings, steps: list[tuple]) -> None:
    agree(MemoryBackend(chosen), NaivePool(chosen), steps)


@pytest.mark.slow
@hypothesis_settings(max_examples=2_000)
@given(settings, sequences)
def test_memory_does_what_the_plain_rules_say_at_length(chosen: Settings, steps: list[tuple]) -> None:
    agree(MemoryBackend(chosen), NaivePool(chosen), steps)


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(settings, sequences)
def test_store_does_what_memory_does(store: Store, chosen: Settings, steps: list[tuple]) -> None:
    agree(StoreBackend(store, chosen), MemoryBackend(chosen), steps)


@pytest.mark.slow
@hypothesis_settings(max_examples=600, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(settings, sequences)
def test_store_does_what_memory_does_at_length(store: Store, chosen: Settings, steps: list[tuple]) -> None:
    agree(StoreBackend(store, chosen), MemoryBackend(chosen), steps)


@hypothesis_settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(settings, sequences)
def test_replay_of_the_events_forms_the_same_groups(store: Store, chosen: Settings, steps: list[tuple]) -> None:
    """What an auditor does (10.4 (5)): the events alone, one after the other, into a fresh pool."""
    recorder = Recorder(store, chosen)
    now = START
    for number, step in enumerate(steps):
        now += time_step(step)
        run_step(recorder, step, number, now)
    assert recorder.replay() == recorder.groups


class Recorder(StoreBackend):
    """A store whose events and groups are kept."""

    def __init__(self, store: Store, chosen: Settings) -> None:
        super().__init__(store, chosen)
        self.settings = chosen
        self.events: list[tuple[str, dict]] = []
        self.groups: list[Group] = []
        self.records: dict[str, object] = {}

    def submit(self, record):
        self.records.setdefault(record.id.hex(), record)
        return super().submit(record)

    def new_events(self):
        events = super().new_events()
        self.events += events
        return events

    def new_groups(self):
        groups = super().new_groups()
        self.groups += groups
        return groups

    def replay(self) -> list[Group]:
        """Groups that a pool in memory forms from the events."""
        pool, waiting, groups = MemoryBackend(self.settings), set(), []
        for kind, header in self.events:
            session = header["session"]
            if kind == "BUFFERED":
                waiting.add(session)
                groups += pool.submit(self.records[session]).groups
            elif kind == "RAISED" or (session in waiting and header.get("reason") in ("expired", "capped")):
                step = pool.tick(float(header["time"]), limit=1)
                assert [item.record.hex() for item in (*step.raised, *step.suppressed)] == [session]
                groups += step.groups
            elif kind == "WITHDRAWN":
                # All of a person's records in an audience go together, so the first event of them does it.
                record = self.records[session]
                pool.withdraw(record.person, (record.audience,))
            elif session in waiting:
                assert [item.record.hex() for item in pool.close(limit=1).suppressed] == [session]
        return groups
