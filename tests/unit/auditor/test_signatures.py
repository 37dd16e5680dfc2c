"""Signatures checked once: what is vouched for is one message in one role, byte for byte."""

import pytest

from auditor.checks.c3_signatures import Signatures, name_of, name_of_pair, prove
from auditor.checks.c3_workers import BATCH, SignatureWorkers
from proxid.crypto.sansig import Role, SignedMessage
from proxid.errors import SignatureInvalidError
from proxid.evidence.events import Event, EventType, SanitizedPair
from tests.support import scene


def flipped(signed: SignedMessage, at: int) -> SignedMessage:
    changed = bytearray(signed.signature)
    changed[at] ^= 1
    return SignedMessage(signed.message, bytes(changed))


GOOD = SanitizedPair(scene.request(), scene.sanitized())
HALVES = {
    "sigma_f": SanitizedPair(flipped(GOOD.original, 0), flipped(GOOD.sanitized, 0)),
    "signer": SanitizedPair(flipped(GOOD.original, 100), GOOD.sanitized),
    "sanitizer": SanitizedPair(GOOD.original, flipped(GOOD.sanitized, 100)),
}


@pytest.mark.parametrize("bad", HALVES.values(), ids=HALVES)
def test_a_pair_that_does_not_hold_is_not_vouched_for(bad: SanitizedPair) -> None:
    assert prove([(EventType.FORWARDED, bad.encode()), (EventType.FORWARDED, b"no pair")]) == frozenset()
    signatures = Signatures()
    signatures.proven = prove([(EventType.FORWARDED, GOOD.encode())])
    assert signatures.proven == {name_of_pair(GOOD)}
    signatures.pair(GOOD)
    with pytest.raises(SignatureInvalidError):
        signatures.pair(bad)


def test_only_the_same_message_in_the_same_role_needs_no_check() -> None:
    signed = scene.sanitized()
    good = name_of(signed, Role.SANITIZER)
    assert good != name_of(signed, Role.SIGNER)
    Signatures.message(signed, Role.SANITIZER, good)
    for bad in (flipped(signed, 3), flipped(signed, 70)):
        with pytest.raises(SignatureInvalidError):
            Signatures.message(bad, Role.SANITIZER, good)


@pytest.mark.parametrize("count", [0, 2])
def test_events_come_in_order_with_what_other_processes_found(count: int) -> None:
    bad = HALVES["signer"]
    payloads = [GOOD.encode(), bad.encode(), b""] * BATCH
    events = [Event(i, EventType.FORWARDED, b"", b"{}", payload) for i, payload in enumerate(payloads)]
    workers = SignatureWorkers(count)
    try:
        batches = list(workers.batches(iter(events)))
    finally:
        workers.close()
    assert [event for batch, _ in batches for event in batch] == events
    expected = frozenset({name_of_pair(GOOD)}) if count else frozenset()
    assert {proven for _, proven in batches} == {expected}
