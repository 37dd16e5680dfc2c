"""What a household says of a consent: who is told what, as what, by the policy's form and in each language."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from proxid.clients.household.told import meaning_of
from proxid.clients.household.words import LANGUAGES, words_in
from proxid.protocol.consent import Grant
from proxid.protocol.policy import PolicyDocument

GRANT = Grant("acme", ("general", "command"), "alias")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"anonymiser": {"form": "split"}}, "in nobody's name"),
        ({"anonymiser": {"form": "pairs"}}, "beside what somebody of a group asked"),
        ({"anonymiser": {}}, "beside what somebody of a group asked"),
        ({}, "beside what somebody of a group asked"),
    ],
)
def test_one_sentence_says_what_a_party_gets(settings: dict[str, object], said: str) -> None:
    policy = PolicyDocument(("acme",), {"all": (GRANT,)}, {"alias_period": "epoch", **settings})
    assert said in " ".join(meaning_of(policy, "all", words_in("en")))


def test_a_party_is_told_under_a_name() -> None:
    policy = PolicyDocument(("acme",), {"all": (GRANT,), "nothing": ()}, {"alias_period": "epoch"})
    first, _ = meaning_of(policy, "all", words_in("en"))
    name, kinds = "a made-up name, a new one each period", "which subjects you ask about, and in which part of the day"
    assert first == f"To acme goes, under {name}: {kinds}; what kinds of things you have your home do."
    assert meaning_of(policy, "nothing", words_in("de")) == ["Niemand erfährt etwas."]


def names(words: Mapping[str, Any], prefix: str = "") -> set[tuple[str, frozenset[str]]]:
    """Of every text its place, and its fields."""
    found = set()
    for name, text in words.items():
        if isinstance(text, Mapping):
            found |= names(text, f"{prefix}{name}.")
        else:
            found.add((f"{prefix}{name}", frozenset(re.findall(r"{(\w*)}", text))))
    return found


def test_every_language_says_the_same_things() -> None:
    assert all(names(words_in(language)) == names(words_in("en")) for language in LANGUAGES)
