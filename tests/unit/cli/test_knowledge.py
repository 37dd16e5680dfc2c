"""What the demo says each party knew: nobody's column holds what that party must not know."""

import io
import json
from typing import Any

import pytest
from rich.console import Console

from proxid.cli.demo.knowledge import NOTHING, Knowledge, Known, Told, tell
from proxid.crypto.sansig import SignedMessage
from proxid.evidence.events import (
    BufferedPayload,
    DeliveredPayload,
    Event,
    EventType,
    ReleasedPayload,
    SanitizedPair,
)
from proxid.protocol import record
from proxid.protocol.entry import EntryPlace, portion_number
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.record import Recipient
from proxid.protocol.request import Utterance
from tests.unit.clients.subscriber.test_feed import BODY, IS, KEY, MS, restored

ASKED = Known(
    "ann", "px1abc", 36_000.0, 2051, "what is new in brazil", ("news", "world"), ("new in brazil",), "general"
)
ROW = {"user": "ann", "category": "news", "text": "", "time": "1970-01-01T06:00:00Z", "mode": "split"}


@pytest.mark.parametrize(
    ("row", "contents", "beside"),
    [
        (ROW, {"text": "new in brazil", "records": 7}, "“new in brazil”, 7 times, by nobody"),
        (ROW, None, NOTHING),
        (
            ROW | {"mode": "mix", "user": "bob", "text": "new in brazil"},
            None,
            "“new in brazil”, beside the name of bob",
        ),
        (ROW | {"mode": "mix", "user": "bob"}, None, "no text, beside the name of bob"),
    ],
    ids=["split", "split without a text", "pairs", "pairs without a text"],
)
def test_a_column_holds_what_its_party_knew(row: dict[str, Any], contents: dict[str, Any] | None, beside: str) -> None:
    rows = Told(ASKED, "acme", row, contents).rows()
    _, gateway, service, party = ([cell[i] for cell in rows] for i in range(1, 5))
    assert gateway == ["ann", NOTHING, NOTHING, "10:00:00", "2051", NOTHING]
    assert not any("ann" in cell for cell in service) and ASKED.said in service[1]
    assert ASKED.said not in " ".join(party) and party[-1] == beside
    assert (party[0] == "ann") == (row["mode"] == "split")


NUMBER = portion_number(3, 1)
SESSIONS = [bytes([n]) * 64 for n in (1, 2, 3)]


def entry(identity: int) -> SignedMessage:
    to, issuer = Recipient("acme", "user_id", KEY.public), record.Issuer("main-service", MS, IS.public)
    return record.make(BODY, "px1" + "a" * 32, EntryPlace(3, bytes([identity]) * 16), to, issuer)[0]


def event(kind: EventType, payload: bytes, **header: object) -> Event:
    return Event(1, kind, bytes(16), json.dumps(header).encode(), payload)


def portion(texts: list[str], delivered: list[int], epoch: int = 7) -> Knowledge:
    """What both logs say of one person's requests at one node, of which some entries were delivered; ids fall."""
    knowledge, ids = Knowledge(), [9 - n for n in range(len(texts))]
    made = {identity: entry(identity) for identity in ids}
    for session, said in zip(SESSIONS, texts, strict=False):
        knowledge.requests[session.hex()] = Known("ann", "px1abc", 36_000.0 + session[0], 2051)
        opening = Utterance(said, "en-US", 0, "", bytes(32), bytes(32)).opening
        payload = BufferedPayload(
            session, "px1abc", True, "general|acme", "general", opening, "1", ("news", "world"), (said,), 0
        )
        knowledge.add(event(EventType.BUFFERED, payload.encode()))
    order = sorted(range(len(texts)), key=lambda n: ids[n])
    records = tuple(made[ids[n]].encode() for n in order)
    shown = (("acme", records, tuple(b"" for _ in records)),)
    released = ReleasedPayload(tuple(SESSIONS[n] for n in order), ("px1abc",) * len(texts), shown)
    knowledge.add(event(EventType.RELEASED, released.encode(), epoch=epoch, group=NUMBER))
    pairs = tuple(SanitizedPair(made[ids[n]], restored(made[ids[n]], "ann")).encode() for n in order if n in delivered)
    ack = DeliveryAck("acme", "main-service", epoch, NUMBER, bytes(32))
    knowledge.add(event(EventType.DELIVERED, DeliveredPayload(ack.encode(), pairs).encode()))
    return knowledge


def kept(times: list[str], epoch: int = 7) -> dict[str, Any]:
    return {"epoch": epoch, "group": NUMBER, "records": [ROW | {"time": time} for time in times]}


def test_a_row_is_the_requests_own_and_no_other_of_the_same_person_and_node() -> None:
    """Entries stand in the order of their ids, and one that was dropped leaves no row."""
    times = [f"1970-01-01T0{hour}:00:00Z" for hour in (2, 1, 0)]
    for delivered, rows, want in (([0, 1, 2], times, 0), ([1, 2], times[:2], 1), ([2], times[:1], 2)):
        told = tell(portion(["one", "two", "three"], delivered), "acme", [kept(rows)])
        assert told is not None and told.request.said == ["one", "two", "three"][want]
        assert told.row["time"] == f"1970-01-01T0{want}:00:00Z"
    assert tell(portion(["one"], [0]), "globex", [kept(times[:1])]) is None, "nobody knows what another party holds"


def test_contents_are_those_of_its_own_epoch_and_category() -> None:
    knowledge, groups = portion(["new in brazil"], [0]), [kept(["1970-01-01T06:00:00Z"])]
    for epoch, category, beside in ((7, "news", True), (7, "news/wor", False), (8, "news", False)):
        shown = {"rows": [{"category": category, "text": "new in brazil", "records": 7}]}
        told = tell(knowledge, "acme", [*groups, {"epoch": epoch, "group": 1, "records": [], "contents": shown}])
        assert told is not None and (told.contents is not None) == beside


def test_the_table_fits_a_terminal_of_eighty_columns() -> None:
    """Every word of it is whole."""
    request = Known(
        "user-17", f"px1{'q' * 32}", 36_000.0, 2051, "what is the weather in new brunswick", ("news", "world")
    )
    row = ROW | {"user": "user-17", "category": "news/world"}
    told = Told(request, "acme", row, {"text": "weather in new brunswick", "records": 7})
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(told.table())
    shown = console.export_text()
    assert max(map(len, shown.splitlines())) <= 80
    for word in ("pseudonym", "brunswick", "user-17", "news/world", "device", "gateway", "service", "auditor"):
        assert word in shown
