"""Seeded schedules over real services and stores: whatever fails, in whatever order, nothing acknowledged is lost.

PROXID_SCHEDULES=0:200 .venv/bin/python -m pytest -m slow tests/schedules -k seeds      seeds 0 to 199
.venv/bin/python -m tests.schedules 0:200                                           the same, a line for each
"""

from pathlib import Path

import pytest

from tests.schedules.run import run
from tests.schedules.script import script
from tests.support.chosen import seeds


def test_a_seed_is_the_same_schedule_every_time() -> None:
    assert [script(seed) for seed in range(50)] == [script(seed) for seed in range(50)]
    assert len({str(script(seed).steps) for seed in range(50)}) == 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds("PROXID_SCHEDULES", "0:20"))
def test_seeds(tmp_path: Path, seed: int) -> None:
    verify(seed, tmp_path)


def verify(seed: int, folder: Path) -> None:
    found = run(seed, folder / "made", folder / "run")
    assert not found.wrong, f"again: .venv/bin/python -m tests.schedules {seed}\n{found}"
    assert found.answered
