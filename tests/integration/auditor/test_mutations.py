"""Lies of every kind: each event of both logs changed in every field, told out of order, left out or told twice.

The lying service signs its log, heads, promises and whatever else is its own again. What no audit names stands in
`tests/support/mutation_believed.py`, with the row of the report or the reason. The whole run takes half an hour:

    PROXID_MUTATIONS= python -m pytest -m slow tests/integration/auditor/test_mutations.py -s     # prints the table
    PROXID_MUTATIONS=main-service/RAISED python -m pytest -m slow …                               # names that hold this
    PROXID_MUTATION_SEED=7 python -m pytest …                                                    # other instances
"""

import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from auditor.findings import Verdict
from tests.support.chosen import number
from tests.support.mutation_fields import not_walked
from tests.support.mutation_history import History
from tests.support.mutation_scenes import record_pairs, record_split
from tests.support.mutations import Told, judge, missed, mutations, remembered, table

SEED = number("PROXID_MUTATION_SEED", 1)
PART = os.environ.get("PROXID_MUTATIONS", "")

Record = Callable[[Path, pytest.MonkeyPatch], Awaitable[History]]


def test_every_payload_is_looked_into() -> None:
    assert not_walked() == set()


async def told_of(record: Record, folder: Path, patch: pytest.MonkeyPatch) -> list[Told]:
    history, source = await record(folder, patch), random.Random(SEED)
    with remembered(patch):
        honest = history.audit()
        assert honest.verdict is Verdict.CLEAN, (honest.violations[:5], honest.reasons)
        chosen = [one for one in mutations(history, source) if PART in one.name]
        assert chosen, f"PROXID_MUTATIONS={PART}: nothing in this history is named so; -k chooses the other one"
        return [told for one in chosen if (told := judge(history, one)) is not None]


def verify(told: list[Told]) -> None:
    print(f"\nPROXID_MUTATION_SEED={SEED} PROXID_MUTATIONS={PART}\n{table(told)}")
    assert told, "each of them leaves the history as it was: none was judged"
    unseen = missed(told)
    for name, times in sorted(unseen.items()):
        print(f"missed {times} time(s): PROXID_MUTATION_SEED={SEED} PROXID_MUTATIONS={name}")
    assert not unseen


@pytest.mark.slow
@pytest.mark.parametrize("record", [record_pairs, record_split])
async def test_every_mutation_is_found_or_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: Record
) -> None:
    verify(await told_of(record, tmp_path, monkeypatch))
