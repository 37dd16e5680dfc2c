"""`en_proxid` on disk, as bytes and in processes of its own; Docs as bytes: the same answers."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from proxid.classify.state import State, state_of

TEXTS = (
    "what is the capital of france", "call maria lopez at 617 555 0123", "turn on the lights", "", "wake me at six",
    "quelle heure est-il", "is there a pharmacy near me",
)  # fmt: skip


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.load("en_proxid")


def outcome(doc: Doc) -> dict[str, Any]:
    state = state_of(doc)
    found = [(span.start, span.end, span.label_) for span in doc.spans["identifiers"]] if doc.spans else []
    ents = [(ent.text, ent.label_) for ent in doc.ents]
    told = (state.result, state.guess, state.spans, state.path, state.masked, state.type, state.withheld)
    return {"text": doc.text, "cats": doc.cats, "spans": found, "ents": ents, "state": told}


def test_a_doc_is_the_same_from_its_bytes(nlp: Language) -> None:
    docs = [*nlp.pipe(TEXTS)]
    assert [outcome(Doc(nlp.vocab).from_bytes(doc.to_bytes())) for doc in docs] == [*map(outcome, docs)]
    stored = DocBin(docs=docs, store_user_data=True).to_bytes()
    again = [*DocBin(store_user_data=True).from_bytes(stored).get_docs(nlp.vocab)]
    assert [state_of(doc).result for doc in again] == [state_of(doc).result for doc in docs]


@pytest.mark.parametrize("name", ["proxid_rules", "proxid_names", "proxid_english"])
def test_what_was_read_from_bytes_is_withheld_by_who_would_work_on_it(nlp: Language, name: str) -> None:
    doc = Doc(nlp.vocab).from_bytes(nlp(TEXTS[1]).to_bytes())
    stage: Any = nlp.get_pipe(name)
    state: State = state_of(stage(doc))
    assert state.withheld and state.result is state.masked is None


def test_two_processes_answer_as_one(nlp: Language) -> None:
    assert [*map(outcome, nlp.pipe(TEXTS, n_process=2, batch_size=2))] == [*map(outcome, nlp.pipe(TEXTS))]


@pytest.mark.slow
def test_a_pipeline_on_disk_or_as_bytes_answers_the_same(nlp: Language, tmp_path: Path) -> None:
    said = [*map(outcome, nlp.pipe(TEXTS))]
    nlp.to_disk(tmp_path)
    assert [*map(outcome, spacy.load(tmp_path).pipe(TEXTS))] == said
    empty = spacy.blank("en").from_config(nlp.config)
    assert [*map(outcome, empty.from_bytes(nlp.to_bytes()).pipe(TEXTS))] == said
