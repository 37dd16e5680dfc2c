"""Words of the gateway's that somebody objects, in the main service's log, and whether OBJECTED names them."""

from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c6_restricted import Restrictions
from auditor.findings import CONSENT, GATEWAY, MAIN_SERVICE, Report
from auditor.plain import dumps, loads
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import ConsentError, MessageInvalidError, SignatureInvalidError
from proxid.evidence.events import Event, EventType, RestrictedPayload, encode_header
from proxid.protocol.restriction import Restriction

MS, PX, OTHER = "main-service", "px1ann", "px1bob"
KEY = SigningKey(bytes(range(32)))
USERS = {PX: "ann", "px1later": "ann", OTHER: "bob"}
PEOPLE: Any = SimpleNamespace(
    find=lambda prox_id: prox_id if prox_id in USERS else None, user_of=lambda prox_id: USERS.get(prox_id, "")
)
TRUST: Any = SimpleNamespace(screener=KEY.public, service=MS)


def word(begins: bool, prox_id: str = PX, key: SigningKey = KEY) -> Restriction:
    return Restriction.make(MS, prox_id, begins, key, 0)


def event(said: Restriction | None, *, prox_id: str = PX, begins: bool | None = None, digest: str = "") -> Event:
    payload = RestrictedPayload(prox_id, b"" if said is None else said.encode())
    named = digest or ("" if said is None else said.digest.hex())
    begun = bool(said and said.begins) if begins is None else begins
    header = encode_header(begins=begun, word=named)
    return Event(1, EventType.RESTRICTED, bytes(16), header, payload.encode())


def unchecked(*told: tuple[Restriction | None, bool, bool], older: bool = False) -> list[str]:
    """Of whose logs something is unchecked, when words come, each named by an OBJECTED or not, or none (`begins`)."""
    found = []
    for stops in (False, True):
        check, report = Restrictions(TRUST, PEOPLE), Report()
        if older:
            check._older.add(("ann", False))
        for said, begins, named in told:
            check.heeded(event(said, prox_id=said.prox_id if said else PX, begins=begins))
            if stops:
                again = Restrictions(TRUST, PEOPLE)
                again.restore(loads(type(check.state()), dumps(type(check.state()), check.state())))
                check = again
            if said is not None and named:
                check._named[said.digest] = said.prox_id
        check.finish(report)
        assert not report.violations and all(one.rule == CONSENT for one in report.missing)
        found.append([one.log for one in report.missing])
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(("told", "logs"), [
    ([(True, True)], []),
    ([(True, False)], [GATEWAY]),
    ([(True, False), (True, True)], []),  # it was killed in between, and told anew
    ([(True, True), (False, False)], [GATEWAY]),
    ([(True, True), (False, False), (False, False), (False, True)], []),
    ([(True, True), (True, False)], []),  # two of its processes said it, and one recorded it
    ([(True, True), (False, True), (False, False)], []),
    ([(True, True), (False, False), (True, False)], [GATEWAY]),  # it was free in between
    ([(True, False), (False, True)], [GATEWAY]),  # nobody objected
    ([(False, False), (True, True), (False, True)], [GATEWAY]),
])  # fmt: skip
def test_a_word_is_recorded_or_said_again(told: list[tuple[bool, bool]], logs: list[str]) -> None:
    assert unchecked(*((word(begins), begins, named) for begins, named in told)) == logs


def test_what_is_said_again_may_be_of_a_later_key() -> None:
    assert unchecked((word(True), True, False), (word(True, "px1later"), True, True)) == []
    assert unchecked((word(True), True, False), (word(True, OTHER), True, True)) == [GATEWAY]
    assert unchecked((word(True, "px1gone"), True, False)) == []
    assert unchecked((word(True), True, True), (word(True, "px1later"), True, False)) == [GATEWAY]


def test_an_end_without_a_word_is_one_of_before_or_unchecked() -> None:
    ended = (word(True), True, True), (None, False, False)
    assert unchecked(*ended) == [MAIN_SERVICE]
    assert unchecked(*ended, older=True) == []
    assert unchecked(*ended, (None, True, False)) == []


def test_what_may_wait_follows_the_main_services_own_log() -> None:
    check = Restrictions(TRUST, PEOPLE)
    for said, begins, may, told in (
        (word(True), True, False, True), (word(False), False, True, False),
        (None, True, False, False), (None, False, True, False),
    ):  # fmt: skip
        check.heeded(event(said, begins=begins))
        assert check.may_wait(PX) is may and check.is_told(PX) is told and check.may_wait(OTHER)


def test_a_word_is_the_gateways_of_the_same_and_heeded_once() -> None:
    check, said = Restrictions(TRUST, PEOPLE), word(True)
    with pytest.raises(SignatureInvalidError):
        check.heeded(event(word(True, key=SigningKey(bytes(32)))))
    for wrong in (
        event(said, prox_id=OTHER), event(said, begins=False), event(said, digest="ab" * 32), event(None, digest="ab"),
    ):  # fmt: skip
        with pytest.raises(MessageInvalidError):
            check.heeded(wrong)
    assert check.may_wait(PX)
    check.heeded(event(said))
    with pytest.raises(ConsentError):
        check.heeded(event(said))
