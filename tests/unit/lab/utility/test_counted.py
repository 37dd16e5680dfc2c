"""The measures of 003 and 004 on examples worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.lab.utility.counted.caching import cached_keywords, documents_of, hit_probability
from proxid.lab.utility.counted.histogram import (
    Original,
    histogram_utility,
    mean_count_difference,
    top_coverage,
    top_kl,
    top_l1,
)
from proxid.lab.utility.counted.ranking import coverage, hits_at, mean_rank_ratio, ndcg, precision, recall
from proxid.lab.utility.counted.substitution import learn, rankings, substitution_utility
from proxid.lab.utility.counted.suggestion import compared, evaluate, flow_of_released, flow_of_sessions, suggester

ORIGINAL = Original.of({("a",): 6.0, ("b",): 3.0, ("c",): 1.0})
RANKINGS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def test_top_items_break_ties_by_item() -> None:
    assert Original.of({("b",): 1.0, ("a",): 1.0, ("c",): 2.0}, 2).top == [("c",), ("a",)]


def test_coverage_l1_kl_and_count_difference_by_hand() -> None:
    released = {("a",): 8.0, ("c",): 2.0}
    assert top_coverage(ORIGINAL, released, 2) == 0.5
    assert top_l1(ORIGINAL, released, 2) == pytest.approx((abs(0.6 - 0.8) + abs(0.3 - 0.0)) / 2)
    p, q = (6 / 9, 3 / 9), (8 / 8.5, 0.5 / 8.5)
    assert top_kl(ORIGINAL, released, 2) == pytest.approx(sum(a * math.log(a / b) for a, b in zip(p, q, strict=True)))
    assert mean_count_difference(ORIGINAL, released) == pytest.approx((2 + 3 + 1) / 3)


def test_a_perfect_release_loses_nothing_and_an_empty_one_everything() -> None:
    whole = histogram_utility(ORIGINAL, ORIGINAL.counts, (1, 3, 10))
    assert whole["items_share"] == 1
    assert "top_10" not in whole
    assert whole["top_3"] == pytest.approx({"coverage": 1.0, "l1": 0.0, "kl": 0.0})
    assert histogram_utility(ORIGINAL, {}, (3,))["top_3"]["coverage"] == 0
    assert math.isnan(mean_count_difference(Original.of({}), {}))


def test_index_caching_takes_the_best_score_until_the_memory_is_full() -> None:
    frequencies = {"a": 100.0, "b": 90.0, "c": 10.0}
    documents = {"a": 50, "b": 10, "c": 1}  # scores 2, 9, 10
    assert cached_keywords(frequencies, documents, memory=8 * 11) == {"b", "c"}
    assert cached_keywords(frequencies, documents, memory=8 * 61) == {"a", "b", "c"}
    assert hit_probability(frequencies, {"b", "c"}) == pytest.approx(0.5)
    assert cached_keywords({"x": -3.0}, {}, 100) == set()


def test_a_long_list_is_cut_to_200000_documents() -> None:
    assert cached_keywords({"a": 1.0}, {"a": 10**9}, memory=8 * 200_000) == {"a"}


def test_documents_are_the_distinct_urls_of_a_keyword() -> None:
    assert documents_of([("new york", "u1"), ("york", "u1"), ("york", "u2")]) == {"new": 1, "york": 2}


def test_ranking_measures_by_hand() -> None:
    truth, found = ["a", "b", "c"], ["b", "x"]
    assert precision(truth, found, 3) == 0.5
    assert recall(truth, found, 3) == pytest.approx(1 / 3)
    assert mean_rank_ratio(truth, found, 3) == pytest.approx((0 + 1 + 0) / 3)  # b: true rank 2, assigned 1
    assert coverage(truth, found, 3) == pytest.approx(2 / 3)
    ideal = 7 + 3 / math.log2(3) + 1 / 2
    assert ndcg(truth, found, 3) == pytest.approx(3 / ideal)
    assert hits_at({"b", "z"}, ["b", "x", "y"]) == (0.2, 0.5)


@given(truth=RANKINGS.filter(bool), found=RANKINGS, j=st.integers(1, 5))
def test_ranking_measures_are_1_for_the_truth_and_never_more(truth: list[str], found: list[str], j: int) -> None:
    for measure in (precision, recall, mean_rank_ratio, ndcg, coverage):
        assert measure(truth, truth, j) == pytest.approx(1)
        value = measure(truth, found, j)
        assert (math.isnan(value) and not found) or 0 <= value <= 1 + 1e-12


def test_substitution_learns_phrases_and_replaces_them() -> None:
    queries = {"new york hotels": 50.0, "new york map": 40.0, "boston hotels": 30.0, "boston map": 20.0, "jobs": 500.0}
    pairs = {
        ("new york hotels", "boston hotels"): 9.0,
        ("new york map", "new york hotels"): 2.0,
        ("jobs", "jobs ohio"): 3.0,
    }
    model = learn(queries, pairs)
    assert model.segment("new york map") == [("new", "york"), ("map",)]
    assert "boston map" in model.rank("new york map", 5)
    assert "new york hotels" in model.rank("new york map", 5)
    assert model.rank("unknown words", 5) == []


def test_substitution_utility_of_the_original_is_perfect() -> None:
    queries = {"a b": 10.0, "a c": 10.0, "d": 5.0}
    model = learn(queries, {("a b", "a c"): 5.0, ("a c", "d"): 2.0})
    found = substitution_utility(rankings(model, queries), model, (2,))["top_2"]
    assert [found[name] for name in ("precision", "recall", "map", "ndcg", "coverage")] == pytest.approx([1.0] * 5)
    nothing = substitution_utility(rankings(model, queries), learn({}, {}), (2,))["top_2"]
    assert nothing["coverage"] == 0
    assert math.isnan(nothing["precision"])


def test_flow_counts_every_later_query_of_a_session_once() -> None:
    assert flow_of_sessions([["a", "b", "a", "c"]]) == {
        ("a", "b"): 1, ("a", "c"): 1, ("b", "a"): 1, ("b", "c"): 1
    }  # fmt: skip
    released = {("a", "b"): 9.0, ("a", "b", "c"): 4.0, ("a", "d", "c"): 5.0}
    assert flow_of_released(released)["a", "b"] == 9.0
    assert flow_of_released(released)["a", "c"] == 5.0


def test_equation_10_by_hand() -> None:
    graphs = suggester({("q", "x"): 3, ("q", "y"): 1}, {("q", "u"): 2, ("q", "v"): 1, ("y", "u"): 4})
    # cos(q, y) = 8 / (sqrt 5 * 4); x has no clicks
    scores = {"x": 0.5 * 0.75, "y": 0.5 * (8 / (math.sqrt(5) * 4)) + 0.5 * 0.25}
    assert graphs.suggest("q") == sorted(scores, key=lambda other: -scores[other])
    assert graphs.suggest("q", weight=0.0) == ["x", "y"]
    assert graphs.suggest("nobody") == []


def test_sessions_are_compared_on_those_that_all_runs_evaluate() -> None:
    tests = [["a", "b"], ["c", "d", "e"]]
    wide = evaluate(suggester({("a", "b"): 1, ("c", "x"): 1}, {}), tests)
    narrow = evaluate(suggester({("a", "b"): 1}, {}), tests)
    assert wide.mean() == pytest.approx({"precision_at_5": 0.1, "recall_at_5": 0.5, "sessions": 2})
    both = compared({"wide": wide, "narrow": narrow})
    assert both["narrow"]["own"] == both["narrow"]["common"] == both["wide"]["common"]
    assert both["wide"]["common"]["sessions"] == 1
