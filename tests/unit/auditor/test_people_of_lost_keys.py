"""Lost epoch keys as the auditor reads them: what nobody can read is told, and what a gateway makes up is its fault."""

from dataclasses import replace
from typing import Any

import pytest

from auditor.checks.c3_links import People
from auditor.checks.c6_taken_back import TakenBack
from auditor.findings import GATEWAY, Report
from auditor.policies import Policies
from auditor.trust import Trust
from proxid.anonymise.mix.settings import Settings
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Credential, Link
from proxid.errors import RegistrationError
from proxid.evidence.events import LinkedPayload
from proxid.evidence.ratchet import subject_tag
from tests.support import scene

LOST, TAG = "px1lost", b"u" * 16
EVIDENCE = scene.opening_key("evidence").public.data


@pytest.fixture
def people() -> People:
    trust = Trust(
        scene.MS, scene.AUTHORITY.public, scene.SCREENER.public, scene.SERVICE.public, scene.opening_key("auditor"),
        {}, {}, Settings(), {},
    )  # fmt: skip
    found = People(Policies(trust))
    found.enrolled(scene.enrolment(), 1)
    return found


def word(key: SigningKey = scene.DEVICE, seasoned: bool = False, instead: str = LOST) -> Credential:
    said = replace(scene.credential(), epoch_key=key.public, seasoned=seasoned, instead=instead)
    return said.issue(scene.SCREENER)


def linked(people: People, said: Credential, key: SigningKey = scene.DEVICE) -> None:
    link = Link.make(scene.USER_ID, scene.USER, key, scene.EPOCH, scene.MS, scene.SCREENER.public)
    people.linked(LinkedPayload(scene.enrolment().encode(), link.encode(), said.encode()), subject_tag(EVIDENCE), 9)


def told(people: People, erased: set[bytes] | None = None) -> tuple[list[str], list[str]]:
    """Logs that are accused, and what could not be checked."""
    report = Report()
    people.lost.finish(erased or set(), report)
    return [found.log for found in report.violations], [reason.text for reason in report.missing]


def test_a_key_in_the_place_of_none_is_made_up(people: People) -> None:
    with pytest.raises(RegistrationError):
        linked(people, word())
    # The main service, which was shown that credential, takes what comes under it.
    assert not people.of_key(scene.DEVICE.public).seasoned


def test_somebody_elses_erasure_hides_no_key_that_was_lost(people: People) -> None:
    """Who is erased is so whole: what stands in the place of a key of theirs does not open, either."""
    people.lost.unread_link(scene.EPOCH, TAG)
    linked(people, word())
    assert told(people, {TAG}) == ([GATEWAY], [])
    assert told(people, {TAG}) == ([], [])  # once


def test_a_lost_key_whose_link_has_expired_leaves_unchecked_that_it_was_one(people: People) -> None:
    people.lost.unread_link(scene.EPOCH, TAG)
    people.lost.unread_link(scene.EPOCH, b"v" * 16)
    linked(people, word())
    accused, missing = told(people, {TAG})
    assert accused == [] and len(missing) == 1


@pytest.mark.parametrize("before", [False, True], ids=["shown later", "shown before"])
@pytest.mark.parametrize("seasoned", [False, True])
def test_of_two_credentials_of_one_key_the_gateway_is_accused(people: People, before: bool, seasoned: bool) -> None:
    people.lost.unread_link(scene.EPOCH, TAG)
    shown = word(seasoned=seasoned, instead="")
    if before:
        people.verify_credential(shown.epoch_key, scene.EPOCH, shown.encode())
    linked(people, word())
    if not before:
        people.verify_credential(shown.epoch_key, scene.EPOCH, shown.encode())
    assert told(people, {TAG})[0] == [GATEWAY] * 2
    # The main service goes by the one that it was shown, and is held to nothing that another says.
    assert people.lost.before(scene.PROX_ID) == "" and people.lost.has_two(scene.PROX_ID)


def test_a_credential_that_was_signed_again_says_nothing_else(people: People) -> None:
    people.lost.unread_link(scene.EPOCH, TAG)
    linked(people, word())
    shown = replace(word(), evidence_key=scene.opening_key("another").public.data).issue(scene.SCREENER)
    people.verify_credential(shown.epoch_key, scene.EPOCH, shown.encode())
    assert told(people)[0] == [] and people.lost.before(scene.PROX_ID) == LOST


def test_two_credentials_over_a_lost_log_accuse_nobody(people: People) -> None:
    """A gateway whose store was lost knows of no key before, and counts the season anew."""
    people.lost.follows = True
    people.lost.unread_link(scene.EPOCH, TAG)
    linked(people, word())
    shown = word(instead="")
    people.verify_credential(shown.epoch_key, scene.EPOCH, shown.encode())
    accused, missing = told(people)
    assert accused == [] and len(missing) == 2


def test_a_key_is_in_use_by_its_links_if_its_enrolment_cannot_be_read(people: People) -> None:
    anew = People(people._policies)
    anew.enrolled_unread(None)
    linked(anew, word(instead="", seasoned=True))
    assert anew.is_in_use(scene.USER_ID, scene.USER.public)
    assert not anew.is_in_use(scene.USER_ID, scene.MALLORY.public) and not anew.is_in_use("bob", scene.USER.public)


def test_nothing_is_kept_of_who_was_erased(people: People) -> None:
    groups: Any = type("Held", (), {"held": lambda *_: []})()
    policies: Any = people._policies
    sets: Any = type("Empty", (), {"forwarded_at": lambda *_: None})()
    obligations: Any = type("Nobody", (), {"has_objected_since": lambda *_: False, "sets": sets})()
    taken = TakenBack(policies, people, groups, obligations, Report())
    linked(people, word(instead="", seasoned=True))
    after = scene.MALLORY
    linked_after = word(after, instead=scene.PROX_ID)
    link = Link.make(scene.USER_ID, scene.USER, after, scene.EPOCH, scene.MS, scene.SCREENER.public)
    evidence = scene.opening_key("second").public.data
    said = replace(linked_after, evidence_key=evidence).issue(scene.SCREENER)
    payload = LinkedPayload(scene.enrolment().encode(), link.encode(), said.encode())
    people.linked(payload, subject_tag(evidence), 10)
    taken.withdrawn(scene.EPOCH, b"s" * 32, scene.PROX_ID)
    taken.verify_waits(scene.PROX_ID)
    taken.received(scene.EPOCH, said.prox_id)
    taken.finish(scene.EPOCH)
    assert taken.state()[2:] == ({scene.PROX_ID}, {scene.PROX_ID}, set(), {})
    for key in (EVIDENCE, evidence):
        people.erased(subject_tag(key))
    taken.finish(scene.EPOCH)
    assert taken.state() == (set(), {}, set(), set(), set(), {})
