"""`proxid bench load`, its parts soak and growth: what goes on growing, and what grows faster than people, is seen."""

import pytest

from bench.load import Options
from bench.load.growth import exponent
from bench.load.growth import figures as growth_figures
from bench.load.soak import Sample, figures
from proxid.errors import InputError


def samples(**at: list[float]) -> list[Sample]:
    """Of ten answers more each."""
    return [
        Sample(10 * n, dict(zip(at, values, strict=True))) for n, values in enumerate(zip(*at.values(), strict=True))
    ]


def house(**changed: list[float]) -> list[Sample]:
    flat, linear = [100.0 + min(n, 10) for n in range(40)], [7.0 * n for n in range(40)]
    usual = {"memory_kb": flat, "descriptors": flat, "store_kb": linear, "evidence_kb": linear}
    return samples(**{f"gateway_{kind}": values for kind, values in usual.items()}, **changed)


def test_a_house_that_has_warmed_up_grows_no_more_and_writes_the_same_for_each_request() -> None:
    found = figures(house())
    assert found["memory_growth"]["value"] == found["descriptors_growth"]["value"] == 1.0
    assert found["store_growth"]["value"] == found["evidence_growth"]["value"] == 1.0
    assert found["gateway_evidence_kb_per_1000"]["value"] == 700.0


def test_what_goes_on_growing_is_seen_and_named() -> None:
    leak, steeper = [100.0 + 5 * n for n in range(40)], [float(n * n) for n in range(40)]
    found = figures(house(main_memory_kb=leak, main_descriptors=leak, main_store_kb=steeper, main_evidence_kb=steeper))
    for name in ("memory_growth", "descriptors_growth", "store_growth", "evidence_growth"):
        assert found[name]["value"] > 1.25 and found[name]["baseline"] == "main"


def restless(values: list[float]) -> list[float]:
    """The same, with noise."""
    return [value + 3.0 * (-1) ** n for n, value in enumerate(values)]


@pytest.mark.parametrize("first", [[100.0] * 20, [100.0 - 4 * n for n in range(20)]], ids=["flat", "falling"])
def test_a_store_that_did_not_grow_at_first_grows_later_or_not(first: list[float]) -> None:
    flat, grows = first + [first[-1]] * 20, first + [first[-1] + 5 * n for n in range(20)]
    for values in (flat, restless(flat)):
        assert figures(house(main_store_kb=values))["store_growth"]["value"] == 1.0
    for values in (grows, restless(grows)):
        found = figures(house(main_store_kb=values))["store_growth"]
        assert 2.5 < found["value"] <= 1000.0 and found["baseline"] == "main"


def test_a_soak_in_which_nothing_was_answered_says_nothing() -> None:
    with pytest.raises(InputError):
        figures([Sample(0, {"gateway_memory_kb": 1.0})] * 40)


def test_the_steepest_step_counts() -> None:
    assert exponent({1000: 1.0, 10_000: 1.0, 100_000: 100.0}) == pytest.approx(2.0)
    assert exponent({1000: 1.0, 10_000: 10.0}) == pytest.approx(1.0)
    found = growth_figures({"erase": {1000: 0.5, 10_000: 0.5}})
    assert found["erase_exponent"]["value"] == 0.0 and found["erase_s_at_10000"]["value"] == 0.5


def test_a_part_that_there_is_none_of_is_refused() -> None:
    assert Options.parse({"part": "soak"}).part == "soak"
    with pytest.raises(InputError):
        Options.parse({"part": "everything"})
