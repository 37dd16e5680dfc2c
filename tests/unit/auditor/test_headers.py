"""What a header says beside the fields of its type, twice, or of half a session, no audit passes over."""

import pytest

from auditor.findings import GATEWAY, MAIN_SERVICE
from auditor.headers import names_session, says_more
from proxid.errors import EncodingError
from proxid.evidence.events import Event, EventType, decode_header, encode_header

E = EventType


def event(kind: EventType, tags: tuple[bytes, ...] = (), **fields: str | int) -> Event:
    return Event(1, kind, bytes(16), encode_header(**fields), b"", tags=tags)


@pytest.mark.parametrize("kind", E)
def test_each_type_has_its_fields(kind: EventType) -> None:
    """In one log or in both."""
    assert any(not says_more(log, event(kind)) for log in (GATEWAY, MAIN_SERVICE))
    assert all(says_more(log, event(kind, said="more")) for log in (GATEWAY, MAIN_SERVICE))


def test_a_type_that_has_no_payload_has_none() -> None:
    assert says_more(GATEWAY, event(E.SENT, (b"",), epoch=1)) and not says_more(GATEWAY, event(E.SENT, epoch=1))
    assert not says_more(GATEWAY, event(E.NOTICED, (b"",), party="acme"))


@pytest.mark.parametrize("time", [0, 1733000000, "1733000000.25", "864010.5", "1.7e+09", -1, True])
def test_a_number_is_one(time: int | str) -> None:
    assert not says_more(MAIN_SERVICE, event(E.SUPPRESSED, time=time))


@pytest.mark.parametrize("time", ["", "node1 question", "nan", "inf", "1" * 33, "1_0", "\u0661"])
def test_what_is_no_number_says_more(time: str) -> None:
    assert says_more(MAIN_SERVICE, event(E.SUPPRESSED, time=time))


@pytest.mark.parametrize("session", ["", "ab" * 16, "AB" * 64, "ab" * 65, "ann " * 32])
def test_a_session_is_named_whole(session: str) -> None:
    assert not names_session(event(E.UNREACHED, session=session))
    assert names_session(event(E.UNREACHED, session="ab" * 64)) and names_session(event(E.UNREACHED))


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1,"a":2}',
        b'{"a":{"b":1}}',
        b'{"a":[{"b":1}]}',
        b'{"a":"\\":","a":1}',
        b'{"a" :1, "a" :2}',
        b'{"a":1,"a" :2}',
    ],
)
def test_a_header_says_each_thing_once(data: bytes) -> None:
    with pytest.raises(EncodingError):
        decode_header(data)


@pytest.mark.parametrize("data", [b"{}", b'{"a":"\\":\\":"}', b'{"a\\":b":[1,"c"],"d":true}', b'{"a" :1}'])
def test_what_looks_like_a_name_in_a_text_is_none(data: bytes) -> None:
    assert decode_header(data) is not None
