"""What a header says beside the fields of its type, twice, or of half a session, no audit passes over."""

from typing import Any

import pytest

from auditor.findings import GATEWAY, MAIN_SERVICE
from auditor.headers import names_session, says_more
from proxid.errors import EncodingError
from proxid.evidence.events import Event, EventType, decode_header, encode_header

E = EventType


PARTIES = frozenset({"acme", "globex"})


def event(kind: EventType, tags: tuple[bytes, ...] = (), /, **fields: Any) -> Event:
    return written(kind, encode_header(**fields), tags)


def written(kind: EventType, header: bytes, tags: tuple[bytes, ...] = ()) -> Event:
    return Event(1, kind, bytes(16), header, b"", tags=tags)


def more(log: str, said: Event) -> bool:
    return says_more(log, said, PARTIES.__contains__)


@pytest.mark.parametrize("kind", E)
def test_each_type_has_its_fields(kind: EventType) -> None:
    """In one log or in both."""
    assert any(not more(log, event(kind)) for log in (GATEWAY, MAIN_SERVICE))
    assert all(more(log, event(kind, said="more")) for log in (GATEWAY, MAIN_SERVICE))


def test_a_type_that_has_no_payload_has_none() -> None:
    assert more(GATEWAY, event(E.SENT, (b"",), epoch=1)) and not more(GATEWAY, event(E.SENT, epoch=1))
    assert not more(GATEWAY, event(E.NOTICED, (b"",), party="acme"))


@pytest.mark.parametrize("time", [0, 1733000000, "1733000000.25", "864010.5", "1733000000", "1733000000.0", -1])
def test_a_number_is_one(time: int | str) -> None:
    assert not more(MAIN_SERVICE, event(E.RAISED, time=time))


@pytest.mark.parametrize(
    "time",
    ["", "node1 question", "nan", "inf", "1" * 33, "1_0", "\u0661", "01", "1.250", "1e2", "-0.00", True, 1.5, 2**53],
)
def test_what_is_no_number_or_another_way_to_write_one_says_more(time: int | str) -> None:
    assert more(MAIN_SERVICE, event(E.RAISED, time=time))


@pytest.mark.parametrize("epoch", ["20000", "", True, 2.0, 2**53, [1]])
def test_a_whole_number_is_no_text(epoch: Any) -> None:
    assert more(MAIN_SERVICE, event(E.TICKED, epoch=epoch)) and not more(MAIN_SERVICE, event(E.TICKED, epoch=20000))


HASH = "0123456789abcdef" * 4
KNOWN: list[tuple[str, EventType, dict[str, Any]]] = [
    (GATEWAY, E.OBJECTED, {"person": HASH, "request": HASH, "right": "object", "notices": [f"acme:{HASH}"]}),
    (GATEWAY, E.OBJECTED, {"last": "20000/3/acme", "notices": []}),
    (GATEWAY, E.ERASED, {"tombstone": HASH[:32], "tags": [HASH[:32]], "untold": ["acme"], "feeds": ["acme:10"]}),
    (GATEWAY, E.ERASED, {"dropped": ["20000/3/acme"], "removed": ["1/2/globex"], "forgotten": [], "last": ""}),
    (GATEWAY, E.REFUSED, {"kind": "links", "limit": 60, "sessions": HASH, "rule": "rate_limited"}),
    (GATEWAY, E.EXPIRED, {"kind": "feeds", "count": 3}),
    (MAIN_SERVICE, E.RESTRICTED, {"begins": True, "word": ""}),  # of an earlier gateway
    (MAIN_SERVICE, E.SUPPRESSED, {"kind": "unknown", "reason": "rejected", "pipeline": "fixed-1", "v": 2}),
    (MAIN_SERVICE, E.RELEASED, {"audience": "general|acme:user_id,globex:alias", "raised": False, "group": 3}),
    (MAIN_SERVICE, E.BATCHED, {"rounds": ["Home/news:12,6:3", "Home/travel::0"], "withheld": 3}),
]
"""What an event may say."""
OTHERWISE: list[tuple[str, EventType, dict[str, Any]]] = [
    (GATEWAY, E.OBJECTED, {"person": "ann"}),
    (GATEWAY, E.OBJECTED, {"request": HASH.upper()}),
    (GATEWAY, E.OBJECTED, {"request": f" {HASH[1:]}"}),
    (GATEWAY, E.OBJECTED, {"request": HASH + "00"}),
    (GATEWAY, E.OBJECTED, {"right": "erase what I said"}),
    (GATEWAY, E.OBJECTED, {"notices": [f"ann:{HASH}"]}),
    (GATEWAY, E.OBJECTED, {"notices": ["acme:asked"]}),
    (GATEWAY, E.OBJECTED, {"last": "20000/3/ann"}),
    (GATEWAY, E.OBJECTED, {"last": "20000/03/acme"}),
    (GATEWAY, E.ERASED, {"tombstone": "ann"}),
    (GATEWAY, E.ERASED, {"tags": HASH[:32]}),
    (GATEWAY, E.ERASED, {"untold": ["ann"]}),
    (GATEWAY, E.ERASED, {"feeds": ["ann:0"]}),
    (GATEWAY, E.ERASED, {"feeds": ["acme: 10"]}),
    (GATEWAY, E.ERASED, {"feeds": ["acme:\u0661"]}),
    (GATEWAY, E.REFUSED, {"kind": "ann"}),
    (GATEWAY, E.EXPIRED, {"kind": "feeds", "count": 3, "until": 4}),
    (GATEWAY, E.KEYED, {"party": "ann"}),
    (GATEWAY, E.SENT, {"group": 3, "entries": [HASH[:32]]}),
    (GATEWAY, E.DROPPED, {"group": 3, "time": 1733000000}),
    (MAIN_SERVICE, E.SUPPRESSED, {"kind": "node1 question"}),
    (MAIN_SERVICE, E.SUPPRESSED, {"reason": "node1 question"}),
    (MAIN_SERVICE, E.SUPPRESSED, {"pipeline": "node1 question"}),
    (MAIN_SERVICE, E.SUPPRESSED, {"kind": "general", "v": 2, "epoch": 20000}),
    (MAIN_SERVICE, E.SUPPRESSED, {"kind": "general", "v": 2, "time": "20000"}),
    (MAIN_SERVICE, E.RELEASED, {"audience": "general|ann:user_id"}),
    (MAIN_SERVICE, E.RELEASED, {"audience": "node1 question|acme:user_id"}),
    (MAIN_SERVICE, E.RELEASED, {"group": 3, "close": "20000.0"}),
    (MAIN_SERVICE, E.BATCHED, {"rounds": ["Home/news:012:3"]}),
    (MAIN_SERVICE, E.WITHDRAWN, {"kind": "location", "left": True}),
]
"""What it says in another form, or beside."""


@pytest.mark.parametrize(("log", "kind", "fields"), KNOWN)
def test_what_an_event_says_has_its_form(log: str, kind: EventType, fields: dict[str, Any]) -> None:
    assert not more(log, event(kind, **fields))


@pytest.mark.parametrize(("log", "kind", "fields"), OTHERWISE)
def test_what_has_another_form_says_more(log: str, kind: EventType, fields: dict[str, Any]) -> None:
    assert more(log, event(kind, **fields))


def test_what_never_waited_has_the_epoch_beside_what_would_have() -> None:
    assert not more(MAIN_SERVICE, event(E.SUPPRESSED, (b"",), kind="general", v=2, epoch=20000, reason="repeated"))


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        (E.BUFFERED, b'{"epoch": 1}'),
        (E.BUFFERED, b'{"epoch":1}\n'),
        (E.BUFFERED, b'\xef\xbb\xbf{"epoch":1}'),
        (E.BUFFERED, b'{"\\u0065poch":1}'),
        (E.BUFFERED, b'{"kind":"general","epoch":1}'),
        (E.RAISED, b'{"source":["a\\/b","a/b"]}'),
        (E.SENT, b'{"party":"acme", "epoch":1}'),
    ],
)
def test_a_header_that_is_written_otherwise_says_more(kind: EventType, header: bytes) -> None:
    assert more(GATEWAY if kind is E.SENT else MAIN_SERVICE, written(kind, header))


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        (E.RAISED, b'{"source":["a\\/b","c\\/d"],"target":["a\\/b"]}'),
        (E.RAISED, '{"source":["caf\u00e9"]}'.encode()),
        (E.RAISED, b'{"source":["caf\\u00e9"]}'),
        (E.SENT, b'{"party":"acme","epoch":1}'),
    ],
)
def test_a_header_is_written_as_the_store_does_it(kind: EventType, header: bytes) -> None:
    """Which escapes slashes, and names the fields of some types in no order."""
    assert not more(GATEWAY if kind is E.SENT else MAIN_SERVICE, written(kind, header))


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
