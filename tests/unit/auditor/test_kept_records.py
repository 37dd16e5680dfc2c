"""MS that says it has forgotten somebody and keeps records: by headers alone, since payloads are unreadable then."""

import pytest

from auditor.findings import ERASURE, MAIN_SERVICE
from proxid.evidence.events import Event, EventType, encode_header
from tests.unit.auditor.test_expired_events import gone, service

E = EventType
TAG, OTHER = b"t" * 16, b"o" * 16
OPENED = gone(1, E.EPOCH_OPENED, encode_header(epoch=7, commitment="", policy="aa" * 32))


def of(kind: EventType, tags: tuple[bytes, ...] = (), **fields: object) -> Event:
    return Event(1, kind, bytes(16), encode_header(**fields), b"", len(tags), tags, True)  # type: ignore[arg-type]


def session(n: int) -> str:
    return f"{n:02d}" * 64


def buffered(n: int, tag: bytes = TAG) -> Event:
    return of(E.BUFFERED, (tag,), session=session(n), epoch=7)


def released(*owners: bytes) -> Event:
    header = {"audience": "general|acme:alias", "epoch": 7, "group": 1, "node": [], "raised": False}
    return of(E.RELEASED, (b"", *owners, *reversed(owners)), **header)


def ended(kind: EventType, n: int, **fields: object) -> Event:
    return of(kind, session=session(n), epoch=7, time="1.0", **fields)


ERASED = of(E.ERASED, tag=TAG.hex())
HONEST = [
    [],
    [buffered(1), released(TAG, OTHER)],
    [buffered(1), ended(E.WITHDRAWN, 1)],
    [buffered(1), ended(E.SUPPRESSED, 1, reason="erased")],
    [buffered(1), buffered(2), buffered(3, OTHER), released(OTHER, TAG), ended(E.WITHDRAWN, 2)],
]
LIES = [
    [buffered(1)],
    [buffered(1, OTHER), buffered(2), released(OTHER)],
    [buffered(1), buffered(2), released(TAG)],
    [buffered(1), ended(E.SUPPRESSED, 2, reason="erased")],
]


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("events", "guilty"), [*((e, False) for e in HONEST), *((e, True) for e in LIES)])
def test_nothing_of_a_forgotten_person_waits(events: list[Event], guilty: bool, stored: bool) -> None:
    _, report = service(OPENED, *events, ERASED, stored=stored)
    found = [(v.log, v.event) for v in report.violations if v.rule == ERASURE]
    assert found == [(MAIN_SERVICE, len(events) + 2)] * guilty
