"""Accounts of age: a credential is held against the times around its link, as far as honest clocks leave it open."""

from dataclasses import replace

import pytest

from auditor.checks.c3_links import People, Person
from auditor.checks.c3_seasons import Seasons
from auditor.findings import Report
from auditor.policies import Policies
from proxid.crypto.identity import Credential, Enrolment
from proxid.errors import CredentialError
from tests.unit.auditor.test_expired_events import trusted

EPOCH, SEASON = 20_000, 30 * 86_400
START = int(trusted().epochs.start(EPOCH))
NOON = START + 43_200
OFF = 60 + 2 * int(trusted().clock_skew)


def seasons() -> Seasons:
    return Seasons(Policies(replace(trusted(), season_seconds=SEASON)))


def link(found: Seasons, ripe: int, seasoned: bool, entered: int | None = None, event: int = 1) -> None:
    """A key is linked whose account is of age at a time (Unix seconds)."""
    enrolment = Enrolment("ann", bytes(32), ripe - SEASON, b"")
    credential = Credential(bytes(32), EPOCH, "ms", START + 86_400, seasoned, bytes(32))
    found.linked(enrolment, credential, entered, event)


def doubted(found: Seasons) -> int:
    again, report = seasons(), Report()
    again.restore(found.state())
    again.finish(report)
    return len(report.missing)


@pytest.mark.parametrize("seasoned", [True, False])
def test_it_is_of_the_time_of_its_enrolment_within_clocks(seasoned: bool) -> None:
    for late in (-OFF + 1, 0, OFF):
        link(seasons(), NOON + late, seasoned, NOON)
    off = OFF + 1 if seasoned else -OFF
    with pytest.raises(CredentialError):
        link(seasons(), NOON + off, seasoned, NOON)


def test_what_is_asked_next_shows_that_it_was_not_of_age_yet() -> None:
    for ripe, left in ((NOON, 0), (NOON + OFF, 0), (NOON + OFF + 1, 1)):
        found = seasons()
        link(found, ripe, True)
        assert doubted(found) == 0
        found.answered(NOON * 1000, 2)
        found.answered((NOON + 9_000) * 1000, 2)
        assert doubted(found) == left


def test_what_was_asked_before_shows_that_it_was_of_age_already() -> None:
    for ripe, left in ((NOON, 0), (NOON - OFF + 1, 0), (NOON - OFF, 1)):
        found = seasons()
        found.answered(NOON * 1000, 2)
        link(found, ripe, False)
        assert doubted(found) == left


def test_without_anything_around_it_the_epoch_is_all_there_is() -> None:
    for seasoned, ripe in ((True, START + 86_400), (False, START + 1)):
        found = seasons()
        link(found, ripe, seasoned)
        assert doubted(found) == 0
    with pytest.raises(CredentialError):
        link(seasons(), START + 86_401, True)
    with pytest.raises(CredentialError):
        link(seasons(), START, False)


def test_a_request_that_the_main_service_did_not_take_shows_nothing() -> None:
    """An accomplice asks with a time that has not come: the main service refuses that, whatever was forwarded."""
    people = People(Policies(replace(trusted(), season_seconds=SEASON)))
    link(people.seasons, NOON + OFF + 1, True)
    before = people.seasons.state()
    people.verify_not_revoked(Person("bob", bytes(32), "px1bob", EPOCH, True, b""), (NOON + 900) * 1000)
    assert people.seasons.state() == before


def test_what_is_linked_while_a_request_waits_for_its_answer_is_held_against_the_next() -> None:
    """The main service may answer long after it was asked, as one that was away does."""
    for later, left in ((NOON + 900, 0), (NOON, 1)):
        found = seasons()
        link(found, NOON + 900, True, event=3)
        found.answered(NOON * 1000, 2)
        assert doubted(found) == 0
        found.answered(later * 1000, 4)
        assert doubted(found) == left
