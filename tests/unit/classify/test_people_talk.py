"""The set of utterances as people talk: its marks are words of the texts, and the count of faults sees each kind."""

import pytest

from proxid.classify import corpora
from proxid.classify.types import Classification, RequestType
from scripts.models import people_talk
from scripts.models.output import ROOT
from scripts.models.people_talk import hidden, marks, places, tokens

ALSO_TRAIN = {"do i need a coat", "is the front door locked", "where am i"}


def test_marks_are_words_of_their_texts() -> None:
    rows = list(corpora.table("people_talk.tsv"))
    assert len(rows) == len({row["text"] for row in rows}) == 150
    assert sum(bool(marks(row, tokens(row["text"]))[0]) for row in rows) == 72
    assert {kind for row in rows for kind in row["types"].split("|")} == {"general", "location", "command", "other"}
    with pytest.raises(ValueError, match="not in the utterance"):
        places(tokens("call anna"), "ann")


def test_three_of_the_texts_train_and_are_named() -> None:
    trained = [row.text for row in corpora.training()[0]] + [text for text, _ in corpora.written_types()]
    trained += (ROOT / "scripts/models/type_examples.txt").read_text().splitlines()
    letters = {corpora.letters(text) for text in trained + corpora.questions()[0]}
    assert {r["text"] for r in corpora.table("people_talk.tsv") if corpora.letters(r["text"]) in letters} == ALSO_TRAIN


@pytest.mark.parametrize(
    ("text", "masked", "shown"),
    [
        ("um call ann lee now", "call <NAME> now", "call now"),
        ("call ann lee now", "call ann <NAME> now", "call ann now"),
        ("pay tr0ut&lemon!7", "pay <NAME>0ut&<NAME>!7", "pay 0 ut 7"),
        ("ask will will he be in", "ask <NAME> he be in", "ask he be in"),
        ("whole text gone", "<NAME>", ""),
    ],
)
def test_what_a_masked_text_shows(text: str, masked: str, shown: str) -> None:
    words = tokens(text)
    fates = hidden(words, tokens(masked))
    assert " ".join(word for word, fate in zip(words, fates, strict=True) if fate == "shown") == shown


def test_the_table_counts_leaks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    header = ("id", "style", "types", "spans", "neutral", "text")
    rows = [
        ("a", "asr", "command", "name:zzyzx quillon", "", "zzyzx quillon is the word"),
        ("b", "asr", "other", "", "", ""),
    ]
    table = [dict(zip(header, row, strict=True)) for row in rows]
    monkeypatch.setattr(corpora, "table", lambda _: table)

    class Shows:
        def classify(self, text: str) -> Classification:
            return Classification(RequestType.GENERAL, 1.0, masked=text.replace("zzyzx", "<NAME>"))

    monkeypatch.setattr(people_talk, "load_default", Shows)
    people_talk.main()
    said = capsys.readouterr().out
    assert "| leaked: name | 1 | 1 |" in said and "| type: command taken for general | 1 | 1 |" in said
    assert "- a: leaks name (quillon); command taken for general" in said
