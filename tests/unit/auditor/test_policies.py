"""Which policy an epoch went by (DESIGN 7, 10.4): what an auditor lacks, and what has expired, convicts nobody."""

import dataclasses
import math
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c9_receipts import Presented, ReceiptCheck
from auditor.checks.c9_recent import Recent
from auditor.findings import RECEIPTS, Report, Verdict
from auditor.policies import Policies
from auditor.trust import Trust
from proxid.crypto.identity import EpochKey
from proxid.errors import ProxidError
from proxid.evidence.events import EpochOpened, Event, EventType, decode_header, encode_header
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.opening import EpochOpening
from proxid.protocol.policy import PolicyDocument
from proxid.runtime.config.anonymiser import AnonymiserConfig, Retention
from proxid.runtime.config.base import Floors
from proxid.runtime.config.terms import Terms, terms_of
from tests.support.scene import MS, SCREENER, SERVICE, opening_key
from tests.unit.auditor.test_epochs import EPOCHS
from tests.unit.auditor.test_expired_events import read as read_gateway
from tests.unit.auditor.test_expired_events import read_service, trusted

EPOCH, DAY = 10, 86_400


def terms(parties: tuple[str, ...] = (), **changes: Any) -> Terms:
    """A document's settings, ready for use."""
    settings = {
        "epoch_seconds": DAY, "epoch_grace": 300.0, "clock_skew": 120.0, "season_days": 7.0, "alias_period": 30 * DAY,
        "pipeline": "", "anonymiser": AnonymiserConfig().model_dump(mode="json"),
        "retention": Retention().model_dump(mode="json"),
    }  # fmt: skip
    return terms_of(PolicyDocument(parties, {}, settings | changes), lambda _: None)


def knowing(*accepted: Terms) -> Trust:
    """An auditor who accepted these, and has the keys of no party."""
    by_digest = {found.digest: found for found in accepted}
    return dataclasses.replace(trusted(), accepted=by_digest.get)


def opened(
    by: Terms, *, by_service: bool, seed: bytes = b"s", expired: bool = False, feeds: tuple[bytes, ...] = ()
) -> Event:
    """EPOCH_OPENED as a service logs it; without its payload, once that has expired."""
    key = EpochKey(MS, EPOCH, b"k" * 1216, seed * 32, by.digest).issue(SERVICE).encode()
    now = EPOCHS.start(EPOCH) + 1
    said = EpochOpening.at(MS, EPOCHS, now).sign(SCREENER).encode()
    event = EpochOpened(key, b"sealed", said, now * 1000, feeds) if by_service else EpochOpened(key, feeds=feeds)
    header = event.header if by_service else encode_header(**decode_header(event.header), feeds=[], last="")
    return Event(1, EventType.EPOCH_OPENED, bytes(16), header, b"" if expired else event.payload)


def read(trust: Trust, *events: tuple[Event, bool], base: int = 0) -> tuple[Policies, Report]:
    """Both logs' EPOCH_OPENED, each with whether it is MS's; `base`: entries of the gateway's older logs."""
    policies, report = Policies(trust), Report()
    for event, by_service in events:
        if by_service and event.payload:
            policies.began(event, report)
        elif by_service:
            policies.began_unread(event, report)
        elif event.payload:
            policies.given(event, base)
        else:
            policies.given_unread(event)
    policies.check([EPOCH], 0, report)
    return policies, report


def both(given: Terms, began: Terms, expired: tuple[bool, bool], seed: bytes = b"s") -> list[tuple[Event, bool]]:
    return [
        (opened(given, by_service=False, expired=expired[0]), False),
        (opened(began, by_service=True, expired=expired[1], seed=seed), True),
    ]


EXPIRED = [(False, False), (True, False), (False, True), (True, True)]


@pytest.mark.parametrize("expired", EXPIRED)
def test_an_epoch_whose_key_has_expired_is_judged_by_its_document(expired: tuple[bool, bool]) -> None:
    policy = terms()
    policies, report = read(knowing(policy), *both(policy, policy, expired))
    assert report.verdict is Verdict.CLEAN
    judge = policies.of(EPOCH)
    assert judge is not None and judge.settings == policy.settings


@pytest.mark.parametrize("expired", EXPIRED)
def test_two_policies_for_one_epoch_are_found_without_the_keys(expired: tuple[bool, bool]) -> None:
    one, other = terms(), terms(season_days=8.0)
    _, report = read(knowing(one, other), *both(one, other, expired))
    assert ["another key or policy" in violation.text for violation in report.violations] == [True]


def test_another_key_under_the_same_policy_is_found_as_long_as_both_can_be_read() -> None:
    policy = terms()
    for expired in EXPIRED:
        _, report = read(knowing(policy), *both(policy, policy, expired, seed=b"t"))
        assert len(report.violations) == (1 if expired == (False, False) else 0)


def test_a_second_key_of_an_epoch_is_found() -> None:
    policy = terms()
    given = opened(policy, by_service=False)
    with pytest.raises(ProxidError, match="two keys"):
        read(knowing(policy), (given, False), (opened(policy, by_service=False, seed=b"t"), False))
    first = opened(policy, by_service=False, expired=True)
    with pytest.raises(ProxidError, match="opened twice"):
        read(knowing(policy), (first, False), (given, False))
    # Told again in a successor log, once the first has expired, it is as it was.
    assert read(knowing(policy), (first, False), (given, False), base=1)[1].counts == {}


def test_an_epoch_that_was_given_out_is_in_the_main_services_log() -> None:
    policy, report = terms(), Report()
    policies = Policies(knowing(policy))
    policies.given(opened(policy, by_service=False))
    policies.check([], 0, report)
    assert not report.violations  # it came after the main service's log was read
    policies.check([], 1, report)
    assert [violation.log for violation in report.violations] == ["main-service"]


@pytest.mark.parametrize("expired", EXPIRED)
def test_a_key_that_a_device_holds_is_known_by_its_commitment_when_it_has_expired(expired: tuple[bool, bool]) -> None:
    policy = terms()
    policies, _ = read(knowing(policy), *both(policy, policy, expired))

    def held(seed: bytes = b"s", policy: Terms = policy, seal: bytes = b"k", epoch: int = EPOCH) -> EpochKey:
        return EpochKey(MS, epoch, seal * 1216, seed * 32, policy.digest).issue(SERVICE)

    assert policies.logged(held()) and not policies.logged(held(seed=b"t"))
    assert not policies.logged(held(policy=terms(season_days=8.0)))
    assert policies.logged(held(seal=b"l")) is (True in expired)  # of that the header says nothing
    assert policies.logged(held(epoch=EPOCH + 1)) is None


@pytest.mark.parametrize(("epochs", "recent"), [(0, True), (-1, False)])
def test_a_key_that_no_log_shows_is_new_until_its_epoch_ends_however_new_the_file_is(epochs: int, recent: bool) -> None:
    trust, report, now = trusted(), Report(), EPOCHS.start(EPOCH) * 1000 + 120_000
    key = EpochKey(MS, EPOCH + epochs, b"k" * 1216, b"s" * 32, bytes(32)).issue(SERVICE)
    nothing: Any = None
    sets: Any = SimpleNamespace(texts=SimpleNamespace(doubted=int))
    check = ReceiptCheck(Policies(trust), sets, set(), nothing, report, Recent(now - 60_000, now + 60_000), nothing)
    check.run([Presented("epoch", b"", key.encode(), now)])
    assert (report.counts["receipts.recent"], [v.rule for v in report.violations]) == (
        (1, []) if recent else (0, [RECEIPTS])
    )


@pytest.mark.parametrize("expired", EXPIRED)
def test_an_auditor_without_the_keys_of_a_party_leaves_the_epoch_unchecked(expired: tuple[bool, bool]) -> None:
    policy = terms(("acme",))
    policies, report = read(knowing(policy), *both(policy, policy, expired))
    assert policies.of(EPOCH) is None
    assert (report.verdict, report.violations) == (Verdict.UNCHECKED, [])
    (reason,) = report.missing
    assert "lacks the keys of a party" in reason.text and "epoch 10" in reason.text


def test_how_long_things_may_take_is_known_of_a_document_whose_parties_keys_are_missing_and_of_no_unknown_one() -> None:
    policy = terms(("acme",), clock_skew=300.0)
    events = both(policy, policy, (True, True))
    for trust, longest in ((knowing(policy), (300.0, 300.0)), (knowing(), (math.inf, 120.0))):
        policies, _ = read(trust, *events)
        assert policies.of(EPOCH) is None
        assert tuple(policies.longest(lambda one: one.clock_skew, unknown) for unknown in (math.inf, 0.0)) == longest


def test_a_document_that_was_not_accepted_leaves_the_epoch_unchecked_and_says_what_to_run() -> None:
    policy = terms()
    _, report = read(knowing(), *both(policy, policy, (True, True)))
    assert (report.verdict, report.violations) == (Verdict.UNCHECKED, [])
    assert "proxid policy accept" in report.missing[0].text


def test_below_the_floors_is_a_violation_when_the_key_has_expired_too() -> None:
    policy = terms(season_days=1.0)
    trust = dataclasses.replace(knowing(policy), floors=Floors(season_days=7.0))
    _, report = read(trust, *both(policy, policy, (True, True)))
    assert ["floors (season_days)" in violation.text for violation in report.violations] == [True]


def test_both_logs_are_read_on_behind_a_key_that_has_expired() -> None:
    policy = terms()

    def gone(event: Event) -> Event:
        return dataclasses.replace(event, hidden=1, tags=(bytes(16),), gone=True)

    assert read_service(gone(opened(policy, by_service=True, expired=True))) == set()
    assert read_gateway(gone(opened(policy, by_service=False, expired=True)))[1].violations == []


def feed_keys(*parties: str, service: str = MS) -> tuple[bytes, ...]:
    """What MS seals to parties in this epoch."""
    keys = {party: FeedKey.of(b"s" * 32, service, EPOCH, party) for party in parties}
    to = opening_key("party").public
    return tuple(keys[party].seal(to, service, EPOCH, party).sign(SERVICE).encode() for party in parties)


@pytest.mark.parametrize("parties", [("acme",), ("acme", "globex", "nobody"), ("acme", "nobody"), ("nobody",)])
def test_feed_keys_of_others_than_the_policys_parties_are_named_in_either_log(parties: tuple[str, ...]) -> None:
    policy, feeds, words = terms(("acme", "globex")), feed_keys(*parties), "parties of the epoch's policy"
    given, began = (opened(policy, by_service=by_service, feeds=feeds) for by_service in (False, True))
    for trust, found in ((knowing(policy), 1), (knowing(), 0)):  # of a document that was not accepted it is not known
        policies, report = Policies(trust), Report()
        policies.began(began, report)
        assert [words in violation.text for violation in report.violations] == [True] * found
    with pytest.raises(ProxidError, match=words):
        Policies(knowing(policy)).given(given)
    Policies(knowing()).given(given)


def test_feed_keys_of_the_policys_parties_accuse_nobody_nor_do_none() -> None:
    policy = terms(("acme", "globex"))
    for feeds in (feed_keys("globex", "acme"), ()):
        events = [(opened(policy, by_service=by_service, feeds=feeds), by_service) for by_service in (True, False)]
        assert read(knowing(policy), *events)[1].violations == []
