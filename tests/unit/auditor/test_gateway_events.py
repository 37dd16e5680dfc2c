"""What single events of the gateway must say, whatever else its log holds."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from auditor.checks.c2_owners import verify_filed
from auditor.findings import COMPLETENESS, ERASURE, GATEWAY, MAIN_SERVICE, OPENING, Report, Verdict
from proxid.encoding import encode, encode_text
from proxid.errors import PayloadUnreadableError
from proxid.evidence.events import Event, EventType, encode_header, session_header
from proxid.evidence.parts import PERSONS
from tests.unit.auditor.test_expired_events import SESSION, TAG, gone, read
from tests.unit.auditor.test_half_said import opened

E = EventType
OTHER = b"o" * 16
ANN: Any = SimpleNamespace(prox_id="px1ann")
YEAR = 365


def said(number: int, kind: EventType, header: bytes, payload: bytes = b"", *tags: bytes) -> Event:
    return Event(number, kind, bytes(16), header, payload, 0, tags)


def linked(number: int, epoch: int) -> Event:
    return gone(number, E.LINKED, encode_header(epoch=epoch, owner="00" * 32))


def found(*events: Event) -> list[tuple[int, int]]:
    """Check and event of each violation."""
    return [(one.rule, one.event) for one in read(*events)[1].violations]


@pytest.mark.parametrize(
    ("log", "tag", "prox_id", "wrong"),
    [
        (GATEWAY, TAG, "px1ann", False),
        (GATEWAY, TAG, "px1bob", True),
        (GATEWAY, OTHER, "px1ann", True),  # somebody's who is linked later, say
        (GATEWAY, OTHER, "px1bob", False),  # whose link has expired
        (MAIN_SERVICE, OTHER, "px1ann", False),  # it may know another credential than the gateway's log
    ],
)
def test_evidence_of_a_person_stands_under_the_tag_that_their_link_has(
    monkeypatch: pytest.MonkeyPatch, log: str, tag: bytes, prox_id: str, wrong: bool
) -> None:
    monkeypatch.setitem(PERSONS[MAIN_SERVICE], E.REFUSED, PERSONS[GATEWAY][E.REFUSED])
    people: Any = SimpleNamespace(of_tag={TAG: ANN}.get, find={ANN.prox_id: ANN}.get)
    event = said(1, E.REFUSED, encode_header(rule="rate_limited"), encode(encode_text(prox_id)), tag)
    if wrong:
        with pytest.raises(PayloadUnreadableError):
            verify_filed(log, event, people)
    else:
        verify_filed(log, event, people)


@pytest.mark.parametrize(("epoch", "told"), [(1, []), (2, [(OPENING, 2)])])
def test_a_consent_stands_under_a_link_of_its_epoch_also_where_neither_opens(
    epoch: int, told: list[tuple[int, int]]
) -> None:
    assert found(linked(1, 1), gone(2, E.CONSENT, encode_header(epoch=epoch, version=1, phase="received"))) == told


def test_nothing_stands_under_a_link_before_there_is_one_also_where_neither_opens() -> None:
    enrolled = gone(1, E.ENROLLED, encode_header(time=1, v=2))
    assert found(enrolled, linked(2, 1), gone(3, E.FORWARDED, session_header(SESSION))) == []
    assert found(gone(1, E.FORWARDED, session_header(SESSION)), linked(2, 1)) == [(OPENING, 2)]


@pytest.mark.parametrize(("later", "verdict"), [(30, Verdict.CLEAN), (YEAR, Verdict.UNCHECKED)])
@pytest.mark.parametrize(
    ("kind", "header"), [(E.FORWARDED, session_header(SESSION)), (E.ALIASED, encode_header(party="acme"))]
)
def test_what_does_not_open_is_not_of_somebody_whose_link_may_have_been_gone_when_it_was_recorded(
    kind: EventType, header: bytes, later: int, verdict: Verdict
) -> None:
    report = read(linked(1, 1), opened(2, 1 + later), gone(3, kind, header))[1]
    assert report.verdict is verdict, report.reasons
    _, again = read(linked(1, 1), opened(2, 1 + later))
    again.counts.update(report.counts)  # as of an audit that goes on
    assert again.verdict is verdict


def test_what_is_old_when_it_is_delivered_waited() -> None:
    sent = Event(3, E.SENT, bytes(16), encode_header(epoch=1, group=1, party="acme"), b"")
    delivered = gone(4, E.DELIVERED, encode_header(epoch=1, group=1, party="acme", v=2))
    assert read(linked(1, 1), opened(2, YEAR), sent, delivered)[1].verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"kind": "links", "first": 7, "until": 7}, False),
        ({"kind": "links", "until": 7}, False),  # of version 1
        ({"kind": "links", "first": 8, "until": 7}, True),
        ({"kind": "feeds", "count": 3}, False),
        ({"kind": "feeds", "first": 7, "until": 7}, True),
    ],
)
def test_what_has_expired_is_said_by_the_fields_of_its_kind(fields: dict[str, Any], wrong: bool) -> None:
    assert found(said(1, E.EXPIRED, encode_header(**fields))) == ([(OPENING, 1)] if wrong else [])


def test_what_was_not_to_be_reached_had_been_forwarded() -> None:
    unreached = encode_header(session=SESSION.hex(), v=2)
    assert found(gone(1, E.FORWARDED, session_header(SESSION)), said(2, E.UNREACHED, unreached)) == []
    assert found(said(1, E.UNREACHED, unreached)) == [(COMPLETENESS, 1)]


def objected(number: int, **fields: Any) -> Event:
    return gone(number, E.OBJECTED, encode_header(**{"request": f"{number:064}", "v": 2, "notices": [], **fields}))


def test_parties_are_told_of_an_objection_and_not_that_it_is_over() -> None:
    notices = [f"acme:{'ab' * 32}"]
    told = objected(1, right="object", notices=notices)
    assert found(told, objected(2, right="resume")) == []
    assert found(told, objected(2, right="resume", notices=notices)) == [(ERASURE, 2)]


@pytest.mark.parametrize(
    ("last", "seen", "wrong"),
    [("7/1/acme", 9, False), ("", 9, False), ("7/2/acme", 9, True), ("7/2/acme", 0, False)],
)
def test_the_last_release_before_an_objection_is_one_that_there_was(last: str, seen: int, wrong: bool) -> None:
    log, _ = read(objected(1, right="object", last=last))
    obligations, report = log._obligations, Report()
    obligations.sets.released((7, 1, "acme"), 1)
    # What was settled between the objection and its event is no word of what waits.
    obligations.sets.dropped((7, 1, "acme"), "withdrawn", 1)
    obligations.check(seen, frozenset(), cast(Any, None), report)
    assert [(one.rule, one.event) for one in report.violations] == ([(ERASURE, 1)] if wrong else [])
