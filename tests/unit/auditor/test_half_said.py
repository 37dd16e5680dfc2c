"""Lies by saying less: older forms, parties said to have left, damage that is none, things gone too early."""

from typing import Any

import pytest

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c2_expiry import check_expiry
from auditor.findings import ERASURE, GATEWAY, HEADS, Report, Violation
from auditor.policies import Policies
from auditor.reading.damage import Damage, count, excuse_compared
from proxid.evidence.events import Event, EventType, encode_header
from proxid.evidence.succession import Succession
from proxid.runtime.config.anonymiser import Retention
from tests.unit.auditor.test_expired_events import TAG, gone, read, trusted

E = EventType
LINKED = gone(1, E.LINKED, encode_header(epoch=1, owner="00" * 32))
DELIVERED = {"epoch": 1, "group": 1, "party": "acme"}
OBJECTED = {"request": "11" * 32, "right": "object"}
ERASED: dict[str, Any] = {"request": "11" * 32, "tags": [TAG.hex()]}
SAID: dict[str, Any] = {
    "v": 2, "notices": [], "untold": [], "forgotten": [], "dropped": [], "removed": [], "feeds": ["acme:0"], "last": "",
}  # fmt: skip


def opened(number: int, epoch: int) -> Event:
    fields = {"epoch": epoch, "policy": "aa" * 32, "commitment": "cc" * 32, "feeds": ["acme:0", "globex:0"], "last": ""}
    return gone(number, E.EPOCH_OPENED, encode_header(**fields))


@pytest.mark.parametrize(
    ("kind", "less", "more"),
    [
        (E.DELIVERED, DELIVERED, {"v": 2}),
        (E.OBJECTED, OBJECTED, {"notices": []}),
        (E.ERASED, ERASED, SAID),
    ],
)
def test_an_event_of_an_older_form_does_not_get_round_what_its_version_obliges_to(
    kind: EventType, less: dict[str, Any], more: dict[str, Any]
) -> None:
    old, new = (gone(3, kind, encode_header(**fields)) for fields in (less, less | more))
    assert read(LINKED, gone(2, kind, encode_header(**less)))[1].violations == []  # of version 1
    assert read(LINKED, opened(2, 1), new)[1].violations == []
    found = read(LINKED, opened(2, 1), old)[1].violations
    assert [(v.rule, v.log, v.event) for v in found] == [(ERASURE, GATEWAY, 3)]


BOTH = ("acme", "globex")


@pytest.mark.parametrize(
    ("then", "listed", "guilty"),
    [
        (BOTH, BOTH, True),
        (BOTH, ("globex",), False),
        (("globex",), ("globex",), False),
        (("globex",), BOTH, False),  # it had left before, and is back
    ],
)
def test_a_party_that_is_not_told_of_an_erasure_has_left_by_the_next_epoch_or_was_not_there(
    monkeypatch: pytest.MonkeyPatch, then: tuple[str, ...], listed: tuple[str, ...], guilty: bool
) -> None:
    monkeypatch.setattr(Policies, "newest_parties", lambda policies: listed if 2 in policies.told else then)
    erased = gone(3, E.ERASED, encode_header(**ERASED | SAID | {"untold": ["acme"]}))
    before, report = read(LINKED, opened(2, 1), erased)
    before.finish()
    assert report.violations == []  # it may be about to leave
    assert [reason.rule for reason in report.missing] == [ERASURE] * ("acme" in then)
    log, report = read()
    log.next_number = 4
    log.restore(before.state())
    log.take(opened(4, 2))
    found = [(v.rule, v.event, v.text) for v in report.violations]
    assert found == [(ERASURE, 3, "ERASED: a party that has not left was not told")] * guilty
    monkeypatch.setattr(Policies, "newest_parties", lambda _: BOTH)
    log.take(opened(5, 3))
    assert len(report.violations) == guilty


def test_damage_that_is_admitted_and_is_none_excuses_nothing() -> None:
    admitted = Damage(admitted=[(1, 9, "disk")])
    report = Report()
    report.violations.append(Violation(ERASURE, GATEWAY, 20, "found"))
    excuse_compared(report, {"gateway": admitted, "main-service": Damage()}, 0)
    assert len(report.violations) == 1 and admitted.reasons("gateway")[0].rule == HEADS
    lost = Damage(lost=[3], admitted=[(1, 9, "disk")])
    excuse_compared(report, {"gateway": lost, "main-service": Damage()}, 0)
    assert report.violations == []


@pytest.mark.parametrize(("years", "hidden"), [(0, True), (2, False)])
def test_what_expires_before_its_time_leaves_nothing_clean(
    monkeypatch: pytest.MonkeyPatch, years: int, hidden: bool
) -> None:
    monkeypatch.setattr(Policies, "retention", lambda *_: Retention())
    trust = trusted()
    policies, report = Policies(trust), Report()
    report.scope.started = trust.epochs.start(100) + years * 366 * 86_400.0
    for number, epoch in ((1, 99), (9, 100)):
        policies.given_unread(opened(number, epoch))
    erasures = Erasures(trust)
    erasures.links, erasures.expired = {99}, {GATEWAY: 20}
    check_expiry(policies, erasures, 0, report)
    assert report.violations == []
    found = [reason.text.partition(" have")[0] for reason in report.missing]
    assert found == ["links of epoch 99", "payloads of epoch 100"] * hidden
    report.missing.clear()
    erasures.links, erasures.expired = set(), {GATEWAY: 0}
    check_expiry(policies, erasures, 0, report)
    assert report.missing == []


def test_a_range_that_a_service_makes_up_costs_the_auditor_nothing() -> None:
    """Numbers in headers are whatever a service writes: no audit ends because it was told to count them."""
    erasures = Erasures(trusted())
    for tag, epoch in ((b"a" * 16, 7), (b"b" * 16, 9)):
        erasures.epochs[tag] = epoch
    erasures.expiry(GATEWAY, gone(1, E.EXPIRED, encode_header(kind="links", first=8, until=1 << 60)), 0)
    assert [erasures.covers(tag) for tag in (b"a" * 16, b"b" * 16)] == [False, True]
    damage = Damage(lost=[3])
    damage.give_up(range(5, 1 << 60))
    assert damage.first == 3 and next(reason.text for reason in damage.reasons(GATEWAY)).startswith("leaves 5-")
    assert damage.covers(3, 4) and damage.covers(5, 1 << 59) and not damage.covers(3, 6)
    report = Report()
    count(report, {GATEWAY: damage})
    assert report.counts["leaves.damaged"] == (1 << 60) - 5 + 1


def test_a_head_of_more_leaves_than_anybody_has_is_read_as_far_as_it_goes() -> None:
    log, report = read()
    log.damage.give_up(range(1, 1 << 60))
    log.begin(2, (1 << 60) - 1)
    log.take(Event(1 << 60, E.SUCCEEDED, bytes(16), Succession(b"note", True).header(), b""))
    assert report.violations == []
