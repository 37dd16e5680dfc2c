"""Files by which somebody joins: they come back as they were written, and words change with any of it."""

import base64
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from proxid.runtime.provision.invitation import JoinRequest, Person, digest, read_letter, words_of
from proxid.runtime.provision.public import PublicFile
from proxid.runtime.provision.words import same, words

_KEYS = st.binary(min_size=32, max_size=32).map(lambda key: base64.b64encode(key).decode())
_PEOPLE = st.lists(st.builds(Person, user_id=st.text(min_size=1, max_size=40), key=_KEYS), max_size=4)
_ASCII = st.text(st.characters(max_codepoint=127), max_size=60)
_REQUESTS = st.builds(
    JoinRequest, role=st.just("device"), name=st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True),
    invitation=st.text("0123456789abcdef", min_size=64, max_size=64), fresh=st.just("0" * 64), csr=_ASCII,
    public=st.just(PublicFile(role="device", name="home")), people=_PEOPLE.map(tuple),
)  # fmt: skip


@given(_REQUESTS, _REQUESTS)
def test_a_request_comes_back_and_others_have_other_words(request: JoinRequest, other: JoinRequest) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "request"
        request.write(path)
        back = read_letter(path)
    assert back == request and digest(back) == digest(request)
    assert (words_of(other) == words_of(request)) == (other == request)


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_words_are_of_bytes_in_their_places(one: bytes, other: bytes) -> None:
    said = words(one, other)
    assert same(said.upper().replace(" ", " - "), said)
    assert (words(other, one) == said) == (one == other)
    assert words(one + other) != said
