"""Schedules find what they are for: each of these faults is seen by an early seed that has what it takes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.schedules import pace, planted
from tests.schedules.planted import Plant
from tests.schedules.run import run
from tests.schedules.script import DAY, Script, Step, script

SEEDS = 400
"""Early ones."""
TRIED = 8


def has(*wanted: Callable[[Step], bool]) -> Callable[[Script], bool]:
    return lambda found: all(any(one(step) for step in found.steps) for one in wanted)


def kind(name: str, *arguments: object) -> Callable[[Step], bool]:
    return lambda step: step.kind == name and step.arguments[: len(arguments)] == arguments


def later(first: Callable[[Step], bool], second: Callable[[Step], bool]) -> Callable[[Script], bool]:
    """One step right behind another."""
    return lambda found: any(first(a) and second(b) for a, b in zip(found.steps, found.steps[1:], strict=False))


FAULTS: list[tuple[Plant, Callable[[Script], bool], str]] = [
    (planted.own_clock_ends_epochs, has(kind("clock", "main-service", DAY)), "are not answered any more"),
    (planted.queue_without_a_bound, has(kind("crowd", 40)), "at once, more than it may"),
    (planted.full_disk_is_no_reason, has(kind("disk_room", "gateway", True)), "and a question is answered"),
    (planted.answer_is_stored_after_it_was_sent, has(kind("halt", "gateway")), "are 0 times ANSWERED"),
    (planted.repeat_is_a_new_request, later(kind("double", "device"), kind("chorus")), "are 2 times FORWARDED"),
    (planted.withdrawal_is_only_said, has(kind("consent"), kind("receive")), "audit:"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("plant", "needs", "words"), FAULTS, ids=[plant.__name__ for plant, *_ in FAULTS])
def test_an_early_seed_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Plant, needs: Callable[[Script], bool], words: str
) -> None:
    plant(monkeypatch)
    monkeypatch.setattr(pace, "WEDGED", 5.0)  # what is wrong here need not be waited for so long
    tried = [seed for seed in range(SEEDS) if needs(script(seed))][:TRIED]
    for seed in tried:
        found = run(seed, tmp_path / "made", tmp_path / f"run-{seed}")
        if any(words in one for one in found.wrong):
            return
    raise AssertionError(f"none of the seeds {tried} sees it")
