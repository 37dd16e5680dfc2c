"""What grows, with requests, with people and with feeds that wait: bounds that are ratios of one run (`bench.load`).

PROXID_SOAK_SECONDS (60), PROXID_GROWTH_PEOPLE (10000) and PROXID_IDLE_SECONDS (20) make them longer; the same figures
are printed by `proxid bench load -o part=soak`, `part=growth`, `part=idle`.
"""

import os
from collections.abc import Mapping

import pytest

from bench import Figure
from bench.load import run

pytestmark = pytest.mark.slow


def measured(part: str, **options: str) -> Mapping[str, Figure]:
    found = run({"part": part, **options})
    for name, figure in found.items():
        print(f"{name:36} {figure['value']:12,.3f} {figure['unit']:8} {figure.get('baseline') or ''}")
    return found


def test_what_a_house_holds_does_not_go_on_growing() -> None:
    found = measured("soak", seconds=os.environ.get("PROXID_SOAK_SECONDS", "60"))
    assert found["answered_ratio"]["value"] > 0.9
    assert found["memory_growth"]["value"] < 1.1
    assert found["descriptors_growth"]["value"] < 1.1
    # Tables of a store double now and then; what grows with the square of requests would come to three.
    assert found["store_growth"]["value"] < 2.5
    assert found["evidence_growth"]["value"] < 1.25


def test_ten_times_as_many_people_cost_no_more_than_ten_times_as_much() -> None:
    found = measured("growth", people=os.environ.get("PROXID_GROWTH_PEOPLE", "10000"))
    steep = {name: figure["value"] for name, figure in found.items() if name.endswith("_exponent")}
    assert len(steep) == 5 and max(steep.values()) <= 1.1, steep


def test_feeds_that_wait_cost_next_to_nothing() -> None:
    found = measured("idle", seconds=os.environ.get("PROXID_IDLE_SECONDS", "20"))
    assert found["idle_ratio"]["value"] < 2
