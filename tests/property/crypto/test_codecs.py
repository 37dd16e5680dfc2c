"""Header, SignedMessage, Enrolment, Link, Credential, EpochKey: what decodes re-encodes, what was changed fails."""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.crypto.hpke import PUBLIC_SIZE
from proxid.crypto.identity import Credential, Enrolment, EpochKey, Link
from proxid.crypto.sansig import Direction, Header, Limit, Message, SignedMessage, judge
from proxid.encoding import decode, encode, encode_int
from proxid.errors import EncodingError, ProxidError
from tests.support import mutation, scene

U64 = st.integers(0, 2**64 - 1)
KEYS = st.binary(min_size=32, max_size=32)
TEXT = st.text(max_size=20).map(lambda t: unicodedata.normalize("NFC", t))


@st.composite
def headers(draw: st.DrawFn) -> Header:
    blocks = draw(st.integers(1, 16))
    return Header(
        direction=draw(st.sampled_from(Direction)), service=draw(TEXT), epoch=draw(U64), signer=draw(KEYS),
        sanitizer=draw(KEYS), nonce=draw(st.binary(min_size=16, max_size=16)), time_ms=draw(U64), blocks=blocks,
        limit=draw(st.sampled_from(Limit)), admissible=tuple(sorted(draw(st.sets(st.integers(0, blocks - 1))))),
        version=draw(U64), suite=draw(U64),
    )  # fmt: skip


SIGNATURES = st.binary(min_size=64, max_size=64)
CODECS: dict[type[Any], st.SearchStrategy[Any]] = {
    Header: headers(),
    SignedMessage: headers().flatmap(
        lambda h: st.builds(
            lambda blocks, signature: SignedMessage(Message(h, tuple(blocks)), signature),
            st.lists(st.binary(max_size=9), min_size=h.blocks, max_size=h.blocks),
            st.binary(min_size=128, max_size=128),
        )
    ),
    Enrolment: st.builds(Enrolment, TEXT, KEYS, U64, SIGNATURES),
    Link: st.builds(Link, TEXT, KEYS, KEYS, U64, TEXT, KEYS, st.binary(min_size=128, max_size=128)),
    Credential: st.builds(
        Credential, KEYS, U64, TEXT, U64, st.booleans(), st.sampled_from([b"", bytes(PUBLIC_SIZE)]), SIGNATURES, TEXT
    ),
    EpochKey: st.builds(
        EpochKey,
        TEXT,
        U64,
        st.just(bytes(PUBLIC_SIZE)),
        st.binary(max_size=64),
        st.binary(min_size=32, max_size=32),
        SIGNATURES,
    ),
}
ISSUED: list[tuple[Any, Callable[[Any], object]]] = [
    (scene.request(), judge),
    (scene.sanitized(), judge),
    (scene.enrolment(), lambda e: e.verify(scene.AUTHORITY.public)),
    (scene.link(), lambda x: x.verify(scene.enrolment())),
    (scene.credential(), lambda c: c.verify(scene.SCREENER.public, c.service, c.epoch, 0)),
    (scene.credential(evidence=False), lambda c: c.verify(scene.SCREENER.public, c.service, c.epoch, 0)),
    (scene.epoch_key(), lambda k: k.verify(scene.SERVICE.public, k.service, k.epoch)),
]
NAMES = ["request", "sanitized", "enrolment", "link", "credential", "credential without evidence key", "epoch key"]


@pytest.mark.parametrize("kind", CODECS, ids=lambda k: k.__name__)
def test_round_trip(kind: type[Any]) -> None:
    @given(CODECS[kind])
    def check(value: Any) -> None:
        assert kind.decode(value.encode()) == value

    check()


@pytest.mark.parametrize("kind", CODECS, ids=lambda k: k.__name__)
def test_whatever_decodes_re_encodes_to_the_same_bytes(kind: type[Any]) -> None:
    @settings(max_examples=300)
    @given(CODECS[kind], st.data())
    def check(value: Any, data: st.DataObject) -> None:
        encoded = bytearray(value.encode())
        for _ in range(data.draw(st.integers(1, 3))):
            encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
        try:
            decoded = kind.decode(bytes(encoded))
        except ProxidError:
            return
        assert decoded.encode() == encoded
        # A header keeps the bytes that it was decoded from: a copy encodes its fields anew.
        header = getattr(decoded, "header", decoded)
        assert replace(header).encode() == header.encode()

    check()


@pytest.mark.parametrize("kind", CODECS, ids=lambda k: k.__name__)
def test_an_item_of_another_size_more_or_less_is_refused(kind: type[Any]) -> None:
    """Every item one byte shorter or longer, dropped or doubled: refused, or (free text, blocks) another value."""

    @settings(max_examples=30)
    @given(CODECS[kind])
    def check(value: Any) -> None:
        items = decode(value.encode())
        for at, item in enumerate(items):
            for changed in ([item[:-1]], [item + b"\x00"], [], [item, item]):
                if changed == [item]:
                    continue
                try:
                    assert kind.decode(encode(*items[:at], *changed, *items[at + 1 :])) != value
                except ProxidError:
                    continue

    check()


@pytest.mark.parametrize(("issued", "verify"), ISSUED, ids=NAMES)
def test_every_change_is_refused_or_fails_to_verify(issued: Any, verify: Callable[[Any], object]) -> None:
    verify(type(issued).decode(issued.encode()))
    for changed in mutation.changes(issued.encode()):
        with pytest.raises(ProxidError):
            verify(type(issued).decode(changed))


@pytest.mark.parametrize("adm", [[0, 0], [1, 0], [0, 2, 1], [4], [0, 4], [3, 3], [2**64 - 1]])
def test_duplicate_unsorted_or_foreign_adm_is_refused(adm: list[int]) -> None:
    with pytest.raises(EncodingError, match="ADM"):
        scene.header(admissible=tuple(adm))
    items = decode(scene.header().encode())
    items[10] = b"".join(encode_int(i) for i in adm)
    with pytest.raises(EncodingError, match="ADM"):
        Header.decode(encode(*items))


@pytest.mark.parametrize("adm", [b"\x00", bytes(7), bytes(9), bytes(8 * 17)])
def test_adm_that_is_no_list_of_integers_is_refused(adm: bytes) -> None:
    items = decode(scene.header().encode())
    items[10] = adm
    with pytest.raises(EncodingError, match="ADM"):
        Header.decode(encode(*items))


@pytest.mark.parametrize(
    ("field", "value"),
    [("signer", bytes(31)), ("sanitizer", bytes(33)), ("nonce", bytes(15)), ("blocks", 0), ("blocks", 17)],
)
def test_a_malformed_header_cannot_be_made(field: str, value: object) -> None:
    with pytest.raises(EncodingError):
        replace(scene.header(), **{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(("at", "value"), [(2, 0), (2, 6), (11, 0), (11, 4)])
def test_unknown_direction_or_limit_is_refused(at: int, value: int) -> None:
    items = decode(scene.header().encode())
    items[at] = encode_int(value)
    with pytest.raises(EncodingError, match="unknown"):
        Header.decode(encode(*items))


def test_non_nfc_service_is_refused_both_ways() -> None:
    with pytest.raises(EncodingError, match="NFC"):
        scene.header(service="cafe\u0301").encode()
    items = decode(scene.header().encode())
    items[3] = "cafe\u0301".encode()
    with pytest.raises(EncodingError, match="NFC"):
        Header.decode(encode(*items))
