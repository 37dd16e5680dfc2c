"""`proxid bench classify`: its figures are those of the product, and whatever is rejected counts as wrong."""

import pytest

from bench import classify
from bench.classify import left_out, product
from proxid.classify import Pipeline, corpora, load_default


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return load_default()


def test_another_network_in_the_pipeline_answers_as_the_pipeline_does(pipeline: Pipeline) -> None:
    """With the product's own network it is the product's answer, rejections included."""
    texts = [row.text for row in corpora.slurp_test()[:150] + corpora.clinc_out_of_scope()[:150]] + ["", "wie geht es"]
    answers = [None if a.type is None else str(a.type) for a in pipeline.pipe(texts)]
    assert [left_out.answered(pipeline, pipeline.intents, text) for text in texts] == answers
    assert None in answers and "general" in answers


def test_what_is_rejected_is_wrong(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text in another language has no type, no category and no path, and is masked whole."""
    foreign = "\u043a\u0442\u043e \u043d\u0430\u043f\u0438\u0441\u0430\u043b"
    rows = [corpora.Row("slurp", text, "qa_factoid") for text in (foreign, "who wrote war and peace")]
    monkeypatch.setattr(corpora, "slurp_test", lambda: rows)
    monkeypatch.setattr(corpora, "clinc_test", lambda: rows[:0])
    assert product.types(pipeline)["type_slurp_accuracy"] == (0.5, 2)
    assert product.masked(pipeline, foreign) == [(0, len(foreign))]
    assert pipeline.file(foreign) == ()


def test_every_figure_has_a_value_to_reach_or_one_from_before() -> None:
    assert set(classify.REACH) <= set(classify.BASELINE) | {"utterances_per_s_pipe"}
