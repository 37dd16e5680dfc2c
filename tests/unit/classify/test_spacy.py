"""`en_proxid` as a spaCy pipeline: what fails is withheld alone, nothing said stays, others can load and extend it."""

import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from proxid.classify import Pipeline, corpora, load_default
from proxid.classify.components.stage import WITHHELD
from proxid.classify.pipeline import REJECTED
from proxid.classify.state import state_of
from proxid.errors import ConfigError

COMPONENTS = (
    "proxid_rules", "proxid_intent", "proxid_names", "proxid_english", "proxid_mask", "proxid_topic", "proxid_slots",
)  # fmt: skip
POISON = "what is the tallest mountain of all"
TEXTS = ("what is the capital of france", POISON, "call maria lopez at 617 555 0123", "turn on the lights")


class _Trap:
    """A component that raises for one text, in a batch too."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __call__(self, pairs: list[tuple[Doc, Any]]) -> None:
        if any(doc.text == POISON for doc, _ in pairs):
            raise RuntimeError(POISON)
        self._inner(pairs)


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A pipeline that tests may damage."""
    return spacy.load("en_proxid")


@pytest.mark.parametrize("name", COMPONENTS)
def test_what_a_component_fails_on_is_withheld_and_no_neighbour(
    nlp: Language, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [load_default().classify(text) for text in TEXTS]
    stage: Any = nlp.get_pipe(name)
    monkeypatch.setattr(stage, "run", _Trap(stage.run))
    pipeline = Pipeline(nlp, "test")
    found = [*pipeline.pipe(TEXTS)]
    assert found[1] == REJECTED == pipeline.classify(POISON)
    assert [found[i].masked for i in (0, 2, 3)] == [expected[i].masked for i in (0, 2, 3)]
    assert [found[i].path for i in (0, 2, 3)] == [expected[i].path for i in (0, 2, 3)]
    with nlp.memory_zone():
        docs = [*nlp.pipe(TEXTS)]
        assert [len(doc.text) for doc in docs] == [*map(len, TEXTS)]
        # For whoever reads the Doc, all of it is one identifier.
        assert [ent.label_ for ent in docs[1].ents] == [WITHHELD]
        assert docs[1].ents[0].text == POISON
        assert state_of(docs[1]).utterance is None
        del docs


def test_what_the_tokenizer_fails_on_is_withheld(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    from proxid.classify.components import tokenizer

    clean = tokenizer.clean
    monkeypatch.setattr(tokenizer, "clean", lambda text: 1 / 0 if text == POISON else clean(text))
    found = [*Pipeline(nlp, "test").pipe(TEXTS)]
    assert found[1] == REJECTED
    assert [answer.masked is None for answer in found] == [False, True, False, False]


@Language.component("raises_for_one")
def _raises(doc: Doc) -> Doc:
    if doc.text == POISON:
        raise RuntimeError
    return doc


def test_a_foreign_component_that_raises_costs_its_text_alone() -> None:
    nlp = spacy.load("en_proxid")
    nlp.add_pipe("raises_for_one", before="proxid_names")
    for handler in (None, lambda *_: None):
        if handler is not None:
            nlp.set_error_handler(handler)
        found = [*Pipeline(nlp, "test").pipe(TEXTS)]
        assert [answer == REJECTED for answer in found] == [False, True, False, False]


@pytest.mark.parametrize("name", ["proxid_rules", "proxid_names", "proxid_english", "proxid_intent", "proxid_mask"])
def test_a_pipeline_without_one_of_its_gates_lets_nothing_pass(nlp: Language, name: str) -> None:
    with nlp.select_pipes(disable=name):
        assert {answer.masked for answer in Pipeline(nlp, "test").pipe(TEXTS)} == {None}


def test_nothing_said_stays() -> None:
    pipeline, strings = load_default(), load_default().nlp.vocab.strings
    pipeline.classify(TEXTS[0])
    before = len(strings)
    secrets = ["".join(("zyx", "qwv", end)) for end in ("utsone", "utstwo", "utsthree")]
    spoken = [f"what is the best {secrets[0]} recipe", f"call {secrets[1]} smithsonov", f"my name is {secrets[2]}"]
    for text in spoken:
        assert pipeline.classify(text).masked is not None
    answers = [*pipeline.pipe([*spoken, "xx"] * 40)]
    assert [secret in strings for secret in secrets] == [False] * 3
    assert len(strings) == before
    del answers
    gc.collect()
    planted = {id(text) for text in (*secrets, *spoken)}
    assert not [doc for doc in gc.get_objects() if isinstance(doc, Doc)]
    assert not [*_holding(secrets, planted)]


def _holding(secrets: list[str], planted: set[int]) -> Iterator[str]:
    """Strings that containers other than this test's hold, with one of the words in them."""
    here = {id(sys._getframe(1).f_locals), id(secrets)}
    for found in gc.get_objects():
        if id(found) in here or not isinstance(found, dict | list | tuple | set | frozenset):
            continue
        try:
            inner = [*found, *found.values()] if isinstance(found, dict) else [*found]
        except RuntimeError:
            continue
        for text in inner:
            if isinstance(text, str) and id(text) not in planted and any(secret in text for secret in secrets):
                yield text


def test_a_word_said_outside_of_a_memory_zone_stays_in_the_vocabulary() -> None:
    """What the zone is for: the same words without one."""
    nlp = spacy.load("en_proxid")
    nlp("call zyxqwvutsfour")
    assert "zyxqwvutsfour" in nlp.vocab.strings


def test_batches_say_what_single_calls_say() -> None:
    rows = corpora.training()[0]
    texts = [row.text for row in rows[:: len(rows) // 400]]
    pipeline = load_default()
    single = [pipeline.classify(text) for text in texts]
    # To the last bit: an auditor, who asks one at a time, must never accuse a service that asks in batches.
    assert single == [*pipeline.pipe(texts)]
    for size in (2, 8):
        assert single[:40] == [answer for i in range(0, 40, size) for answer in pipeline.pipe(texts[i : i + size])]


def test_others_load_it_by_name_and_read_its_docs() -> None:
    code = (
        "import spacy; doc = spacy.load('en_proxid')('call maria lopez at 617 555 0123');"
        "print([(e.text, e.label_) for e in doc.ents], len(doc.spans['identifiers']), max(doc.cats, key=doc.cats.get))"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "[('maria lopez', 'NAME'), ('617 555 0123', 'PHONE')] 2 command"


def test_an_operators_patterns_are_identifiers_and_part_of_the_version(tmp_path: Path) -> None:
    path = tmp_path / "patterns.jsonl"
    patterns: list[dict[str, Any]] = [
        {"label": "PROJECT", "pattern": "grey widget"},
        {"label": "BADGE", "pattern": [{"LOWER": "badge"}, {"TEXT": {"REGEX": "^[0-9]+$"}}]},
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in patterns))
    pipeline = load_default(patterns=path)
    assert pipeline.classify("remind me of grey widget at noon").masked == "remind me of <PROJECT> at noon"
    assert pipeline.classify("what does badge 17 open").masked == "what does <BADGE> open"
    # In whatever letters it is written, and never only a part of a word.
    assert pipeline.classify("remind me of Grey WIDGET at noon").masked == "remind me of <PROJECT> at noon"
    assert pipeline.classify("what does badge 17b open").masked == "what does <BADGE> open"
    assert pipeline.classify("what does xbadge 17.").masked == "what does xbadge 17."
    assert "PROJECT" not in str(load_default().classify("remind me of grey widget at noon").masked)
    load_default.cache_clear()
    same = load_default(patterns=path).version
    path.write_text(json.dumps(patterns[0]) + "\n")
    load_default.cache_clear()
    assert len({load_default().version, same, load_default(patterns=path).version}) == 3
    assert same == pipeline.version


@pytest.mark.parametrize(
    "line",
    ["no json", '"text"', '{"label": "Lower case", "pattern": "x"}', '{"label": "X", "pattern": ""}',
     '{"label": "X", "pattern": [{"NO_SUCH": 1}]}', '{"label": "X", "pattern": "x", "more": 1}'],
)  # fmt: skip
def test_patterns_that_cannot_be_used_are_refused_and_not_quoted(tmp_path: Path, line: str) -> None:
    path = tmp_path / "patterns.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ConfigError) as caught:
        load_default(patterns=path)
    assert line not in str(caught.value)


def test_without_its_packages_a_command_says_what_it_needs(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['spacy'] = None; sys.modules['en_proxid'] = None\n"
        "from proxid.cli.main import main; sys.exit(main(['classify', 'hello']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "needs the classifier: make classify" in done.stderr
