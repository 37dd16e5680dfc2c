"""What one request comes to stands under one person's evidence, in both logs: by headers alone, which never go."""

from dataclasses import replace

import pytest

from auditor.checks import c2_owners
from auditor.checks.c2_erasures import Erasures
from auditor.checks.c2_owners import Filing
from auditor.checks.c3_deliveries import Deliveries
from auditor.checks.c3_links import People, Person
from auditor.checks.c3_signatures import Signatures
from auditor.checks.c3_tuples import Tuples
from auditor.checks.c5_spill import Spill
from auditor.checks.c7_completeness import Sets
from auditor.checks.c8_obligations import Obligations
from auditor.event_log import RuleBroken
from auditor.findings import GATEWAY, MAIN_SERVICE, OPENING, Report, Verdict
from auditor.gateway_log import GatewayLog, GatewayState
from auditor.plain import dumps, loads
from auditor.policies import Policies
from auditor.service_log import ServiceLog
from proxid.evidence.events import Event, EventType, encode_header, session_header
from proxid.evidence.parts import PERSONS
from proxid.runtime.evidence_log.encryptor import LOST_TAG
from tests.unit.auditor.test_expired_events import SESSION, trusted

E = EventType
ANN, BOB = b"a" * 16, b"b" * 16
CHOICE = encode_header(epoch=1, version=1, message=SESSION.hex())


def gone(kind: EventType, tag: bytes, header: bytes = session_header(SESSION)) -> Event:
    """An event of which only the header is left."""
    return Event(0, kind, bytes(16), header, b"", 1, (tag,), True)


def there(kind: EventType, tag: bytes, whose: bytes = b"px1ann") -> Event:
    """One that opens, and says whose it is and nothing else that its handler would find good."""
    return Event(0, kind, bytes(16), session_header(SESSION), whose, 0, (tag,))


def linked(tag: bytes) -> Event:
    return gone(E.LINKED, tag, encode_header(epoch=1, owner="00" * 32))


def chosen(phase: str, tag: bytes) -> Event:
    return gone(E.CONSENT, tag, encode_header(epoch=1, version=1, message=SESSION.hex(), phase=phase))


LINKED = (linked(ANN), linked(BOB))


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A payload is the PROX_ID of whom it is of."""
    for log, kind in ((GATEWAY, E.FORWARDED), (MAIN_SERVICE, E.RECEIVED)):
        monkeypatch.setitem(PERSONS[log], kind, bytes.decode)


def judged(
    gateway: tuple[Event, ...], service: tuple[Event, ...] = (), known: bytes = b"", stored: bool = False
) -> Report:
    """Both logs read.

    Args:
        known: whose link opens. stored: each event of the gateway's ends one audit and begins the next.
    """
    trust, sets, report = trusted(), Sets(None), Report()
    policies, erasures = Policies(trust), Erasures(trust)
    people, signatures = People(policies), Signatures()
    if known:
        people._tags[known] = b"key"
        people._by_key[b"key"] = Person("ann", b"", "px1ann", 1, True, b"")
    tuples, obligations = Tuples(policies, people, signatures), Obligations(trust, people, sets)
    deliveries = Deliveries(policies, people, signatures)
    first = GatewayLog(people, tuples, deliveries, sets, erasures, obligations, policies, report)
    second = ServiceLog(
        policies, people, tuples, sets, erasures, obligations, Spill(sets), report, lambda: first.consents
    )  # fmt: skip
    for number, event in enumerate(gateway, 1):
        first.take(replace(event, number=number))
        if stored:
            first.restore(loads(GatewayState, dumps(GatewayState, first.state())))
    for number, event in enumerate(service, 1):
        second.take(replace(event, number=number))
    return report


def misfiled(report: Report) -> list[tuple[str, int]]:
    return [(one.log, one.event) for one in report.violations if one.rule == OPENING]


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("tag", "wrong"), [(ANN, []), (BOB, [(GATEWAY, 1)])])
def test_who_is_enrolled_is_linked_in_one_step_with_it(tag: bytes, wrong: list[tuple[str, int]], stored: bool) -> None:
    enrolled = gone(E.ENROLLED, tag, encode_header(time=1, v=2))
    assert misfiled(judged((enrolled, linked(ANN)), stored=stored)) == wrong


@pytest.mark.parametrize(("tag", "wrong"), [(ANN, []), (BOB, [(GATEWAY, 4)])])
def test_an_answer_and_an_acknowledgement_stand_under_the_link_of_what_was_asked(
    tag: bytes, wrong: list[tuple[str, int]]
) -> None:
    assert misfiled(judged((*LINKED, gone(E.FORWARDED, ANN), gone(E.ANSWERED, tag)))) == wrong
    assert misfiled(judged((*LINKED, chosen("received", ANN), chosen("acknowledged", tag)))) == wrong


@pytest.mark.parametrize("kind", [E.RECEIVED, E.BUFFERED, E.SUPPRESSED])
def test_what_does_not_open_at_the_main_service_stands_under_the_link_of_what_was_forwarded(kind: EventType) -> None:
    fields = encode_header(session=SESSION.hex(), epoch=1, reason="no_consent")
    forwarded = (*LINKED, there(E.FORWARDED, ANN))
    assert misfiled(judged(forwarded, (gone(kind, ANN, fields),), ANN)) == []
    assert misfiled(judged(forwarded, (gone(kind, BOB, fields),), ANN)) == [(MAIN_SERVICE, 1)]
    # Links that no log of the gateway's shows any more, and a key that was gone when it was recorded.
    for tag in (b"c" * 16, LOST_TAG):
        assert misfiled(judged(forwarded, (gone(kind, tag, fields),), ANN)) == []


def test_so_does_a_choice() -> None:
    taken = (*LINKED, chosen("received", ANN))
    for tag, verdict in ((ANN, Verdict.CLEAN), (BOB, Verdict.UNCHECKED)):
        report = judged(taken, (gone(E.CONSENT, tag, CHOICE),))
        assert (misfiled(report), report.verdict) == ([], verdict)


def test_the_gateway_is_named_where_the_main_services_event_opens_under_its_own_link() -> None:
    forwarded = (*LINKED, gone(E.FORWARDED, BOB))
    assert misfiled(judged(forwarded, (there(E.RECEIVED, ANN),), ANN)) == [(GATEWAY, 0)]
    assert misfiled(judged(forwarded, (there(E.RECEIVED, ANN),))) == []  # whose link that is cannot be seen


def test_where_neither_opens_nobody_can_tell_which_is_filed_wrong() -> None:
    forwarded = (*LINKED, gone(E.FORWARDED, BOB))
    report = judged(forwarded, (gone(E.RECEIVED, ANN),))
    assert misfiled(report) == [] and report.verdict is Verdict.UNCHECKED
    assert any("another person" in reason.text for reason in report.reasons)
    assert judged(forwarded, (gone(E.RECEIVED, BOB),)).verdict is Verdict.CLEAN


def group(kind: EventType, *tags: bytes, opens: bool = False) -> Event:
    """A group that was released or delivered; under each tag, as far as it opens, what Ann has."""
    fields = {"epoch": 1, "group": 1, "audience": "general|acme:user_id", "party": "acme", "v": 2}
    under = (b"", *tags, *tags) if kind is E.RELEASED else (b"", *tags)
    return Event(0, kind, bytes(16), encode_header(**fields), b"px1ann" * opens, 0 if opens else 9, under, not opens)


@pytest.mark.parametrize("later", [False, True], ids=["in one audit", "released in the one before"])
@pytest.mark.parametrize(
    ("released", "delivered", "told"),
    [
        (group(E.RELEASED, ANN, BOB), group(E.DELIVERED, BOB, ANN), []),
        (group(E.RELEASED, ANN, BOB), group(E.DELIVERED, ANN), []),  # the rest was dropped
        (group(E.RELEASED, ANN, BOB), group(E.DELIVERED, ANN, LOST_TAG), []),
        (group(E.RELEASED, ANN, opens=True), group(E.DELIVERED, BOB), [(GATEWAY, 3)]),
        (group(E.RELEASED, BOB), group(E.DELIVERED, ANN, opens=True), [(MAIN_SERVICE, 1)]),
        (group(E.RELEASED, ANN), group(E.DELIVERED, BOB), None),
        (group(E.RELEASED, ANN, BOB), group(E.DELIVERED, BOB, BOB), None),
    ],
)
def test_who_is_in_a_group_is_so_in_both_logs(
    monkeypatch: pytest.MonkeyPatch, released: Event, delivered: Event, told: list[tuple[str, int]] | None, later: bool
) -> None:
    """None: nobody can tell which of the two is filed wrong."""
    monkeypatch.setattr(c2_owners, "_persons", lambda log, event: [(tag, "px1ann") for tag in event.tags[1:]])
    trust, sets, report = trusted(), Sets(None), Report()
    people, erasures = People(Policies(trust)), Erasures(trust)
    people._tags[ANN], people._by_key[b"key"] = b"key", Person("ann", b"", "px1ann", 1, True, b"")
    erasures.epochs |= {ANN: 1, BOB: 1}
    filings = [Filing(log, people, erasures, sets.filed, report) for log in (GATEWAY, MAIN_SERVICE)]
    events = [(filings[0], replace(delivered, number=3)), (filings[1], replace(released, number=1))]
    for filing, event in events[::-1] if later else events:
        filing.verify(event)
    assert misfiled(report) == (told or [])
    assert (report.verdict is Verdict.UNCHECKED) is (told is None)


def test_nobody_is_in_a_group_that_is_delivered_after_their_erasure() -> None:
    trust, sets, report = trusted(), Sets(None), Report()
    erasures = Erasures(trust)
    filing = Filing(GATEWAY, People(Policies(trust)), erasures, sets.filed, report)
    filing.verify(group(E.DELIVERED, ANN, BOB))
    erasures.erased[BOB] = 2
    filing.verify(group(E.DELIVERED, ANN))
    with pytest.raises(RuleBroken):
        filing.verify(group(E.DELIVERED, ANN, BOB))
