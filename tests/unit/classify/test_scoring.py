"""The figures' arithmetic, against values computed by hand."""

import pytest

from proxid.classify.scoring import SpanScore, accuracy, macro_f1, parse, wilson


def test_wilson_against_a_published_value() -> None:
    # 8 of 10 at 95 %: 0.490-0.943 (Agresti & Coull 1998, score interval).
    low, high = wilson(8, 10)
    assert low == pytest.approx(0.490, abs=5e-4)
    assert high == pytest.approx(0.943, abs=5e-4)


def test_accuracy_and_f1() -> None:
    truth, guess = ["a", "a", "b", "b"], ["a", "b", "b", "b"]
    assert accuracy(truth, guess) == 0.75
    assert macro_f1(truth, guess) == pytest.approx((2 / 3 + 0.8) / 2)


def test_marks_are_parsed_and_scored() -> None:
    text, marks = parse("call [NAME:ann lee] in [~:rome] at [PHONE:555]")
    assert text == "call ann lee in rome at 555"
    score = SpanScore()
    score.add("call [NAME:ann lee] in [~:rome] at [PHONE:555]", [(5, 8), (16, 20), (24, 27), (0, 4)])
    assert [kind for _, _, kind in marks] == ["NAME", "~", "PHONE"]
    assert (score.wanted, score.found, score.masked) == (3, 2, 3)
    assert (score.other_spans, score.other_masked, score.clean) == (1, 1, 0)
    assert [leak[0] for leak in score.leaks] == ["NAME"]
