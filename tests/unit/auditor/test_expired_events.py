"""Events whose payload has expired: what follows them is judged by its header alone."""

from dataclasses import replace

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c3_deliveries import Deliveries
from auditor.checks.c3_links import People
from auditor.checks.c3_signatures import Signatures
from auditor.checks.c3_tuples import Tuples
from auditor.checks.c5_spill import Spill
from auditor.checks.c6_consents import Consents
from auditor.checks.c7_completeness import Sets
from auditor.checks.c8_obligations import Obligations
from auditor.findings import CONSENT, GROUPS, Report
from auditor.gateway_log import GatewayLog
from auditor.plain import dumps, loads
from auditor.policies import Policies
from auditor.service_log import ServiceLog, ServiceState
from auditor.trust import Trust
from proxid.anonymise.mix.settings import Settings
from proxid.evidence.events import BufferedPayload, Event, EventType, encode_header, session_header
from proxid.protocol.request import Utterance
from tests.support.scene import AUTHORITY, MS, NOW, PROX_ID, SCREENER, SERVICE, opening_key

SESSION, TAG = bytes(64), b"t" * 16


def trusted() -> Trust:
    return Trust(
        MS, AUTHORITY.public, SCREENER.public, SERVICE.public, opening_key("auditor"), {}, {}, Settings(k=2), {}
    )  # fmt: skip


def read(*events: Event) -> tuple[GatewayLog, Report]:
    trust = replace(trusted(), party_keys={"acme": b"", "globex": b""})
    policies = Policies(trust)
    report, people, signatures = Report(), People(policies), Signatures()
    deliveries, tuples = Deliveries(policies, people, signatures), Tuples(policies, people, signatures)
    sets = Sets(None)
    obligations = Obligations(trust, people, sets)
    log = GatewayLog(people, tuples, deliveries, sets, Erasures(trust), obligations, policies, report)
    for event in events:
        log.take(event)
    return log, report


def gone(number: int, kind: EventType, header: bytes) -> Event:
    return Event(number, kind, bytes(16), header, b"", 1, (TAG,), True)


def answered(number: int) -> Event:
    return Event(number, EventType.ANSWERED, bytes(16), session_header(SESSION), b"no pair", 0, (TAG,))


def test_an_answer_to_a_request_that_has_expired_is_expected_once() -> None:
    forwarded = gone(1, EventType.FORWARDED, session_header(SESSION))
    assert read(forwarded, answered(2))[1].violations == []
    assert [v.event for v in read(forwarded, answered(2), answered(3))[1].violations] == [3]
    assert [v.event for v in read(answered(1))[1].violations] == [1]


def test_nothing_that_rests_on_a_consent_that_has_expired_is_judged() -> None:
    log, report = read(gone(1, EventType.CONSENT, encode_header(epoch=1, version=1, phase="received")))
    assert log.unlinked == {TAG} and report.counts["consents.unreadable"] == 1


def test_an_erasure_that_has_expired_covers_those_alone_who_were_linked() -> None:
    linked = gone(1, EventType.LINKED, encode_header(epoch=1, owner="00" * 32))
    request = {"request": "11" * 32}
    _, report = read(linked, gone(2, EventType.ERASED, encode_header(tags=[TAG.hex()], **request)))
    assert report.violations == [] and report.counts["events.unproven_erasures"] == 1
    _, report = read(linked, gone(2, EventType.ERASED, encode_header(tags=["22" * 16], **request)))
    assert [v.text for v in report.violations] == ["ERASED: ERASED covers evidence of nobody who was linked"]


def test_an_erasure_that_is_there_and_does_not_open_covers_nothing() -> None:
    linked = gone(1, EventType.LINKED, encode_header(epoch=1, owner="00" * 32))
    header = encode_header(tags=[TAG.hex()], request="11" * 32)
    log, _ = read(linked, Event(2, EventType.ERASED, bytes(16), header, b"", 1, (b"",)))
    assert not log._erasures.covers(TAG) and not log._erasures.requested(bytes.fromhex("11" * 32))


def read_service(*events: Event) -> set[int]:
    """The checks that what MS logged violates."""
    return {violation.rule for violation in service(*events)[1].violations}


def service(*events: Event, stored: bool = False) -> tuple[ServiceLog, Report]:
    """MS's log, and what is found.

    Args:
        stored: each event ends one audit and begins the next.
    """
    trust, sets, report = trusted(), Sets(None), Report()
    policies = Policies(trust)
    people = People(policies)
    tuples = Tuples(policies, people, Signatures())
    obligations = Obligations(trust, people, sets)
    log = ServiceLog(policies, people, tuples, sets, Erasures(trust), obligations, Spill(sets), report, Consents)
    for number, event in enumerate(events, 1):
        log.take(replace(event, number=number))
        if stored:
            log.restore(loads(ServiceState, dumps(ServiceState, log.state())))
    return log, report


def test_a_record_of_a_request_that_has_expired_is_compared_with_what_is_left() -> None:
    opening = Utterance.new("node1 question", NOW * 1000).opening
    payload = BufferedPayload(SESSION, PROX_ID, True, "acme", "general", opening, "fixed-1", ("a",), ("b",), NOW * 1000)
    buffered = Event(3, EventType.BUFFERED, bytes(16), session_header(SESSION), payload.encode(), 0, (TAG,))
    received = gone(1, EventType.RECEIVED, session_header(SESSION))
    consent = gone(2, EventType.CONSENT, encode_header(epoch=1))
    assert read_service(buffered) == {GROUPS}
    assert read_service(received, buffered) == {CONSENT}
    assert read_service(received, consent, buffered) == {GROUPS}  # no log shows its link


def test_a_consent_says_that_it_came_or_that_it_was_acknowledged() -> None:
    for phase, told in (("received", 0), ("acknowledged", 0), ("receivedx", 1)):
        header = encode_header(epoch=1, version=1, message="ab" * 32, phase=phase)
        _, report = read(gone(1, EventType.CONSENT, header))
        assert len(report.violations) == told, phase
