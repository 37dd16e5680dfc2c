"""No text that reports may train: the files that were labelled for training, and the code that reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.classify import corpora


@pytest.mark.parametrize("name", corpora.LABELLED)
def test_labelled_files_hold_no_report_text(name: str) -> None:
    rows = corpora.category(name)
    assert len(corpora.labelled(name)) == len(rows) > 1000
    tiers = {line["path"] for line in corpora.table("iab_content.tsv")} | {"NONE"}
    assert {row["iab_tier1"] for row in rows} <= tiers


def test_training_utterances_have_the_letters_of_no_report_text() -> None:
    rows, removed = corpora.training()
    splits = [*corpora.massive("dev"), *corpora.massive("test"), *corpora.slurp_test()]
    splits += [*corpora.clinc_test(), *corpora.clinc_out_of_scope()]
    reported = {"".join(filter(str.isalnum, row.text.lower())) for row in splits}
    assert not reported & {"".join(filter(str.isalnum, row.text.lower())) for row in rows}
    assert len(rows) > 36_000 and removed > 3_600


def test_written_utterances_hold_no_report_text() -> None:
    lines = [line for line in corpora.read("types_written.txt").splitlines() if line and line[0] not in "@#"]
    pairs = corpora.written_types()
    assert [text for text, _ in pairs] == lines
    assert {kind for _, kind in pairs} == {"command", "general", "location"}


def test_report_texts_are_dropped_whatever_their_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    report = corpora.category("category_dev.tsv")[0]["text"]
    texts = (report.upper() + "?", f"please {report}", "how tall is a purple wombat")
    rows = [{"text": text, "iab_tier1": "Science"} for text in texts]
    real = corpora.category
    monkeypatch.setattr(corpora, "category", lambda name: rows if name == "category_nq.tsv" else real(name))
    assert corpora.labelled("category_nq.tsv") == [("how tall is a purple wombat", "Science")]


_QUERY = st.lists(st.sampled_from("abcdefgh"), max_size=8).map(" ".join)


@given(_QUERY, _QUERY)
def test_queries_resemble_each_other_by_three_in_four_words(one: str, other: str) -> None:
    first, second = set(one.split()), set(other.split())
    alike = bool(first | second) and 4 * len(first & second) >= 3 * len(first | second)
    same = one.replace(" ", "") == other.replace(" ", "")
    assert corpora.apart([one], [other]) == [not (alike or same)]


def test_questions_that_train_the_type_resemble_none_that_are_kept_out() -> None:
    training, kept = corpora.questions()
    every = [row["text"] for row in corpora.category(corpora.QUESTIONS)]
    titles = {row["text"] for row in corpora.table(corpora.TITLES)}
    assert 0.48 * len(every) < len({*training} - titles) < len(kept) < 0.52 * len(every)
    assert {*training} - titles | {*kept} <= {*every} and not {*training} & {*kept}
    assert len(titles) > 4000 and not any(map(corpora.reported, training))
    assert all(corpora.apart(training[:200], kept)) and not any(corpora.apart(kept[:50], kept))
