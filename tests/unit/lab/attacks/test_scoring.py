"""What counts as a hit, what is held, what is known without the truth file (DESIGN 14)."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.errors import ConfigError, InputError
from proxid.lab.attacks.base import Guesses
from proxid.lab.attacks.registry import ATTACKS, Options, load_attack, run_attacks
from proxid.lab.attacks.scoring import linkage
from proxid.lab.logs import Dictionaries
from proxid.lab.mechanism import Mechanism
from proxid.lab.profiles import Profiler, percentages
from proxid.lab.released_log import make_release, origin_column
from tests.support.lab_stream import log, released, stream

PAPERS = json.loads((Path(__file__).parents[3] / "vectors" / "papers.json").read_text())


def test_pair_linkage_counts_coincidences_and_same_record_does_not() -> None:
    """By hand. Input: 0 and 1 ask the same text 5, 2 asks text 6, 3 asks text 7 and waits.

    Released under others: row 0 is record 0, row 1 record 1, row 2 record 2. Guesses: row 0 → user 1 (asked the text,
    not this record: a coincidence), row 1 → user 1 (right), row 2 → user 0 (wrong). One in four is held.
    """
    dictionaries = Dictionaries()
    original = log([(0, 5, "A"), (1, 5, "A"), (2, 6, "A"), (3, 7, "A")], dictionaries)
    out = original.take(np.array([0, 1, 2]))
    published = {name: getattr(out, name) for name in out.__slots__} | {"user": np.array([2, 0, 1], np.int32)}
    release = make_release(
        original, type(out)(**published), dictionaries.tree, Mechanism("thesis", 2, 1), no_text=0, origin=np.arange(3)
    )
    found = linkage(release, Guesses(np.array([0, 1, 2]), np.array([1, 1, 0], np.int32)))
    assert found["pair_linkage"]["of_attacked"]["value"] == pytest.approx(2 / 3)
    assert found["pair_linkage"]["of_input"]["value"] == pytest.approx(2 / 4)
    assert found["pair_linkage"]["coincidences"] == pytest.approx(1 / 2)
    assert found["same_record"]["of_attacked"]["value"] == pytest.approx(1 / 3)
    assert found["same_record"]["of_input"]["value"] == pytest.approx(1 / 4)
    assert found["held"] == {"by_mechanism": 0.25, "by_attacker": 0.0}


def test_records_without_text_are_no_pair_hits() -> None:
    dictionaries = Dictionaries()
    original = log([(0, 5, "A"), (1, 6, "A")], dictionaries)
    hidden = {name: getattr(original, name) for name in original.__slots__} | {"query": np.array([0, 0], np.int32)}
    release = make_release(
        original, type(original)(**hidden), dictionaries.tree, Mechanism("thesis", 2, 1), no_text=0, origin=np.arange(2)
    )
    found = linkage(release, Guesses(np.arange(2), np.array([0, 1], np.int32)))
    assert found["pair_linkage"]["of_attacked"]["value"] == 0
    assert found["same_record"]["of_attacked"]["value"] == 1


@pytest.mark.parametrize("mode", ["thesis", "mix"])
@given(seed=st.integers(0, 20), k=st.integers(2, 4))
def test_derived_owners_are_true(mode: str, seed: int, k: int) -> None:
    """Without the truth file, what is called known is right; and something is known."""
    release = released(stream(400, 12, seed), Mechanism(mode=mode, k=k, level=1))
    blind = make_release(release.original, release.released, release.tree, release.mechanism, no_text=release.no_text)
    known = blind.known
    assert (blind.owner[known] == release.owner[known]).all()
    if len(release.released) > 50:
        assert known.mean() > 0.2


def test_without_the_truth_the_report_says_so() -> None:
    release = released(stream(800, 12, 1), Mechanism("thesis", 3, 1))
    blind = make_release(release.original, release.released, release.tree, release.mechanism, no_text=release.no_text)
    found = run_attacks(blind, ["rl3"])["rl3"]
    assert not found["same_record"]["exact"]
    assert 0 < found["same_record"]["known_share"] < 1
    assert found["same_record"]["of_input"] is None
    assert found["pair_linkage"]["exact"]


def test_truth_must_fit() -> None:
    original = log([(0, 1, "A"), (1, 2, "A")], Dictionaries())
    assert origin_column(np.array([[0, 1]]), 2, original).tolist() == [1, -1]
    for wrong in ([[2, 0]], [[0, 2]], [[-1, 0]]):
        with pytest.raises(InputError, match="truth file"):
            origin_column(np.array(wrong), 2, original)


def test_every_attack_runs_on_every_mode() -> None:
    for mode in ("thesis", "thesis3", "mix"):
        found = run_attacks(released(stream(1500, 20, 6), Mechanism(mode, 3, 1)), options=Options(colluders=1))
        assert set(found) == set(ATTACKS)
        for name in ("group-random", "group-next", "group-busiest", "disclosure-text", "disclosure-category"):
            assert ("reason" in found[name]) == (mode != "mix")
        assert json.dumps(found)
    with pytest.raises(ConfigError):
        load_attack("telepathy")


def test_profiler_reproduces_the_thesis() -> None:
    """002 §3.3.4.3; the per cents are cut off, not rounded: 1 of 51 prints as 1.9."""
    example = PAPERS["profiler_example"]
    profiler = Profiler()
    for category, records in example["before"].items():
        profiler.add("somebody", category, records)
    profiler.add("somebody", example["new"])
    assert profiler.profile("somebody", example["after_percent"]) == example["after_percent"]
    assert percentages({}) == {}
