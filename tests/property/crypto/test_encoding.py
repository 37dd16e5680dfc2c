"""E is injective, total and canonical (DESIGN 3)."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.encoding import decode, decode_int, decode_text, encode, encode_int, encode_seq, encode_text, label
from proxid.errors import EncodingError
from tests.support import mutation

U64 = st.integers(0, 2**64 - 1)
NFC = st.text().map(lambda t: unicodedata.normalize("NFC", t))
PARTS = st.lists(st.binary(max_size=40), max_size=8)


@given(PARTS)
def test_round_trip(parts: list[bytes]) -> None:
    assert decode(encode(*parts)) == parts == decode(encode_seq(parts), len(parts))


@given(PARTS, PARTS)
def test_injective(a: list[bytes], b: list[bytes]) -> None:
    assert (encode(*a) == encode(*b)) == (a == b)


@given(st.lists(st.binary(min_size=1, max_size=6), min_size=2, max_size=5), st.data())
def test_moving_a_boundary_changes_the_encoding(parts: list[bytes], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(parts) - 2))
    moved = [*parts]
    moved[at], moved[at + 1] = parts[at][:-1], parts[at][-1:] + parts[at + 1]
    assert b"".join(moved) == b"".join(parts)
    assert encode(*moved) != encode(*parts)


@given(st.binary(max_size=120))
def test_whatever_decodes_re_encodes_to_the_same_bytes(data: bytes) -> None:
    try:
        items = decode(data)
    except EncodingError:
        return
    assert encode(*items) == data


@given(PARTS)
def test_no_truncation_or_extension_decodes(parts: list[bytes]) -> None:
    data = encode(*parts)
    for cut in range(len(data)):
        with pytest.raises(EncodingError):
            decode(data[:cut])
    for extra in (b"\x00", b"\xff\xff\xff\xff", data):
        with pytest.raises(EncodingError):
            decode(data + extra)


@given(PARTS)
def test_flipped_byte_never_decodes_to_the_same(parts: list[bytes]) -> None:
    data = encode(*parts)
    for changed in mutation.flips(data):
        try:
            assert decode(changed) != parts
        except EncodingError:
            continue


@given(PARTS, st.integers(0, 9))
def test_another_number_of_items_is_refused(parts: list[bytes], count: int) -> None:
    if count != len(parts):
        with pytest.raises(EncodingError):
            decode(encode(*parts), count)


def test_a_false_count_costs_no_more_than_the_data() -> None:
    with pytest.raises(EncodingError):
        decode(b"\xff\xff\xff\xff" + bytes(400))


@given(U64)
def test_integers(value: int) -> None:
    assert decode_int(encode_int(value)) == value
    assert encode(value) == encode(encode_int(value))


@given(U64, U64)
def test_integers_keep_their_order_as_bytes(a: int, b: int) -> None:
    assert (encode_int(a) < encode_int(b)) == (a < b)


@pytest.mark.parametrize("value", [-1, 2**64, -(2**70), 1.0, None])
def test_not_a_u64(value: int) -> None:
    with pytest.raises(EncodingError):
        encode_int(value)


@given(st.binary(max_size=12))
def test_integers_have_eight_bytes(data: bytes) -> None:
    if len(data) == 8:
        assert encode_int(decode_int(data)) == data
    else:
        with pytest.raises(EncodingError):
            decode_int(data)


@given(NFC)
def test_nfc_text(text: str) -> None:
    assert decode_text(encode_text(text)) == text


@given(st.text())
def test_text_that_is_not_nfc_is_refused_not_normalised(text: str) -> None:
    if unicodedata.is_normalized("NFC", text):
        assert encode_text(text) == text.encode()
        return
    with pytest.raises(EncodingError):
        encode_text(text)
    with pytest.raises(EncodingError):
        decode_text(text.encode())


@pytest.mark.parametrize("text", ["e\u0301", "A\u030a", "\u212b", "\u1112\u1161", "q\u0323\u0307"[::-1]])
def test_non_nfc_examples(text: str) -> None:
    with pytest.raises(EncodingError):
        encode_text(text)
    with pytest.raises(EncodingError):
        decode_text(text.encode())


@given(st.text(), st.integers(0xD800, 0xDFFF), st.text())
def test_lone_surrogates_are_refused(before: str, surrogate: int, after: str) -> None:
    with pytest.raises(EncodingError):
        encode_text(before + chr(surrogate) + after)
    with pytest.raises(EncodingError):
        decode_text((before + chr(surrogate) + after).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("data", [b"\xff", b"\xc0\x80", b"\xe2\x82", b"\xf4\x90\x80\x80", b"a\x80"])
def test_bytes_that_are_not_utf8(data: bytes) -> None:
    with pytest.raises(EncodingError):
        decode_text(data)


@given(st.binary(max_size=24))
def test_whatever_text_decodes_re_encodes(data: bytes) -> None:
    try:
        text = decode_text(data)
    except EncodingError:
        return
    assert encode_text(text) == data


def test_labels_are_prefixed_and_never_a_prefix_of_each_other_once_encoded() -> None:
    encoded = sorted(encode(label(p))[4:] for p in ("link", "li", "pop", "FIX", "FULL", "epoch", "epoch-key"))
    assert all(not b.startswith(a) for a, b in pairwise(encoded))
    assert label("link") == b"proxid/v1/link"
