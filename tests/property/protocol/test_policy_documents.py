"""Policy documents: one policy has one text and one digest, and no other text is taken for it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.errors import EncodingError
from proxid.protocol.consent import FIDELITIES, NOTHING, TYPES, Grant
from proxid.protocol.policy import PolicyDocument, differences

NAMES = st.text("abcdefgh-_.0123", min_size=1, max_size=8)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=9)
TREES = st.dictionaries(
    st.text(max_size=6),
    st.recursive(SCALARS, lambda of: st.lists(of, max_size=3) | st.dictionaries(st.text(max_size=5), of, max_size=3)),
    max_size=5,
)


@st.composite
def documents(draw: Any) -> PolicyDocument:
    parties = draw(st.lists(NAMES, unique=True, max_size=4).map(sorted))
    bundles: dict[str, tuple[Grant, ...]] = {NOTHING: ()}
    for name in draw(st.lists(NAMES.filter(lambda n: n != NOTHING), unique=True, max_size=3)):
        to = draw(st.lists(st.sampled_from(parties), unique=True).map(sorted)) if parties else []
        kinds = st.lists(st.sampled_from(TYPES), min_size=1, unique=True).map(lambda k: tuple(sorted(k)))
        bundles[name] = tuple(Grant(p, draw(kinds), draw(st.sampled_from(FIDELITIES))) for p in to)
    return PolicyDocument(tuple(parties), bundles, draw(TREES))


@given(documents())
def test_a_document_survives_its_text(document: PolicyDocument) -> None:
    again = PolicyDocument.decode(document.text)
    assert (again.text, again.digest, dict(again.bundles)) == (document.text, document.digest, dict(document.bundles))
    assert PolicyDocument.named(document.text, document.digest) == again
    assert differences(document, again) == []


@given(documents(), documents())
def test_documents_that_differ_have_other_digests_and_say_where(one: PolicyDocument, other: PolicyDocument) -> None:
    assert (one.digest == other.digest) == (one.text == other.text)
    if one.text != other.text:
        with pytest.raises(EncodingError):
            PolicyDocument.named(one.text, other.digest)


@given(documents(), st.data())
def test_a_changed_character_is_refused_or_is_another_document(document: PolicyDocument, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(document.text) - 1))
    changed = document.text[:at] + data.draw(st.characters(codec="ascii")) + document.text[at + 1 :]
    try:
        found = PolicyDocument.decode(changed)
    except EncodingError:
        return
    assert found.text == changed
    assert (found.digest == document.digest) == (changed == document.text)


def test_a_digest_names_its_text_alone() -> None:
    one, other = (PolicyDocument((), {NOTHING: ()}, {"k": k}) for k in (3, 4))
    with pytest.raises(EncodingError):
        PolicyDocument.named(one.text, other.digest)
    assert differences(one, other) == [("settings.k", 3, 4)]


GOOD: Any = {"bundles": {"nothing": {}}, "parties": ["a"], "settings": {"k": 3}}


def _granting(party: str, *types: str) -> Any:
    return GOOD | {"bundles": {"all": {party: {"as": "alias", "types": list(types)}}, "nothing": {}}}


def _canonical(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),  # spaces
        _canonical(GOOD | {"parties": ["b", "a"]}),
        _canonical(GOOD | {"parties": ["a", "a"]}),
        _canonical(GOOD | {"more": 1}),
        _canonical(GOOD | {"settings": [1]}),
        _canonical(GOOD | {"bundles": {}}),
        _canonical(GOOD | {"bundles": {"nothing": {"a": {"as": "alias", "types": ["general"]}}}}),
        _canonical(_granting("z", "general")),
        _canonical(_granting("a", "location", "general")),
        _canonical(_granting("a", "general", "general")),
        _canonical(_granting("a")),
        _canonical(_granting("a", "unheard-of")),
        _canonical(GOOD | {"settings": {"k": float("nan")}}),
        '{"bundles":{"nothing":{}},"parties":[],"parties":[],"settings":{}}',
        '{"bundles":{"nothing":{}},"parties":["\\u0061"],"settings":{}}',
        "[" * 100_000,
        "",
        "null",
    ],
)
def test_what_is_not_canonical_is_refused(text: str) -> None:
    assert PolicyDocument.decode(_canonical(GOOD)).parties == ("a",)
    assert (
        PolicyDocument.decode(_canonical(_granting("a", "general", "location"))).bundles["all"][0].fidelity == "alias"
    )
    with pytest.raises(EncodingError):
        PolicyDocument.decode(text)
