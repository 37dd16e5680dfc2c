"""MS that says it has forgotten somebody and keeps records: by headers alone, since payloads are unreadable then."""

import pytest

from auditor.checks.c8_kept import Kept
from auditor.findings import ERASURE, MAIN_SERVICE, OPENING
from proxid.errors import GroupMismatchError
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


def waits(kept: Kept, epochs: dict[bytes, int]) -> bool:
    """Whether an epoch that is closed now had something waiting."""
    try:
        kept.verify_over(7, epochs)
    except GroupMismatchError:
        return True
    return False


def shown(*owners: bytes, published: tuple[bytes, ...] = ()) -> Event:
    return of(E.RELEASED, (b"", *owners, *(published or owners)), audience="general|acme:alias", epoch=7, group=1)


@pytest.mark.parametrize(
    ("event", "whole"),
    [
        (shown(TAG, OTHER, published=(OTHER, TAG)), True),
        (shown(TAG, TAG), True),
        (shown(TAG, b"q" * 16), False),  # somebody's of whom nothing waits
        (shown(OTHER, OTHER), False),  # of whom one record waits
        (shown(TAG, published=(OTHER,)), False),
    ],
)
def test_what_is_released_stands_under_those_of_whom_it_waited(event: Event, whole: bool) -> None:
    kept = Kept()
    for one in (buffered(1), buffered(2), buffered(3, OTHER)):
        kept.buffered(one)
    assert kept.released(event, []) is whole
    assert waits(kept, {TAG: 7, OTHER: 8}) is (event.tags.count(TAG) < 4)


def test_nothing_waits_under_a_link_of_an_epoch_that_was_closed() -> None:
    kept = Kept()
    kept.buffered(buffered(1))
    assert waits(kept, {TAG: 7}) and not waits(kept, {TAG: 8, OTHER: 7})
    kept.ended(session(1))
    assert not waits(kept, {TAG: 7})


def test_a_release_under_another_persons_evidence_is_the_main_services_fault() -> None:
    for owners, told in (((TAG,), []), ((OTHER,), [(MAIN_SERVICE, 3)])):
        _, report = service(OPENED, buffered(1), released(*owners))
        assert [(v.log, v.event) for v in report.violations if v.rule == OPENING] == told


@pytest.mark.parametrize(("epoch", "wrong"), [(7, False), (8, True)])
def test_what_moves_up_waits_in_the_epoch_that_is_said(epoch: int, wrong: bool) -> None:
    """Also where nobody can see what moves: in an epoch of which something cannot be read."""
    kept = Kept()
    kept.buffered(buffered(1))
    moved = of(E.RAISED, session=session(1), epoch=epoch).fields
    kept.verify_epoch(moved, {})  # of a link that no log holds any more
    kept.verify_epoch(of(E.RAISED, session=session(2), epoch=epoch).fields, {TAG: 7})  # said before
    if wrong:
        with pytest.raises(GroupMismatchError):
            kept.verify_epoch(moved, {TAG: 7})
    else:
        kept.verify_epoch(moved, {TAG: 7})
