"""Records of form `pairs` whose author was erased (check 5): they hold what the committed seed gives, and no more."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from auditor.checks.c3_records import verify_all_filled
from proxid.crypto.sansig import SignedMessage
from proxid.errors import GroupMismatchError
from proxid.evidence.events import ReleasedPayload
from proxid.protocol import record
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.record import Filling, Issuer, Mechanism, Place, Recipient, RecordBody
from tests.support.lies import filled
from tests.support.scene import EPOCH, MS, SCREENER, SERVICE

SEED, PARTIES, PEOPLE = bytes(range(32)), ("acme", "globex"), ("prox-a", "prox-b", "prox-c")
FRAME = (Mechanism("mix", 2, 1, 2, 1), EPOCH, 4, 900)
BODIES = [RecordBody("aa" * 16, "general", *FRAME, 0, ("news", "sport"), f"text {n}") for n in range(3)]
Change = Callable[[int, RecordBody], RecordBody]


def group(
    erased: int, make: Callable[..., tuple[SignedMessage, bytes]] = record.make, change: Change = lambda _, body: body
) -> ReleasedPayload:
    """What an audit reads of a group when the author of one text was erased: its record, and nothing of its body."""
    issuer = Issuer(MS, SERVICE, SCREENER.public)
    parties = []
    for at, party in enumerate(PARTIES):
        to = Recipient(party, "user_id", FeedKey.of(SEED, MS, EPOCH, party))
        shown = [change(at, body) if n == erased else body for n, body in enumerate(BODIES)]
        made = [make(b, PEOPLE[n], Place(4, n, 3), to, issuer, SEED) for n, b in enumerate(shown)]
        bodies = [b"" if n == erased else padded for n, (_, padded) in enumerate(made)]
        parties.append((party, tuple(signed.encode() for signed, _ in made), tuple(bodies)))
    owners = tuple("" if n == erased else PEOPLE[n - 1] for n in range(3))
    return ReleasedPayload(tuple(bytes([n] * 32) for n in range(3)), PEOPLE, tuple(parties), owners)


@pytest.mark.parametrize("erased", range(3))
def test_an_honest_group_is_as_it_was_without_the_body_of_whom_was_erased(erased: int) -> None:
    verify_all_filled(group(erased), MS, SEED)
    verify_all_filled(group(erased), MS, b"")


LIES: dict[str, Callable[[RecordBody, str, Callable[[bytes], Filling], Filling], Filling]] = {
    "salt": lambda body, prox_id, salted, due: salted((prox_id.encode() * 32)[:32]),
    "nonce": lambda body, prox_id, salted, due: replace(due, nonce=prox_id.encode().ljust(16)),
    "encrypted": lambda body, prox_id, salted, due: replace(due, encrypted=prox_id.encode() + due.encrypted[6:]),
}


@pytest.mark.parametrize("where", LIES)
def test_what_is_hidden_in_a_record_of_an_accomplice_who_is_erased_is_found(where: str) -> None:
    def make(*arguments: object) -> tuple[SignedMessage, bytes]:
        chosen = arguments[1] == PEOPLE[1]
        return (filled(LIES[where]) if chosen else record.make)(*arguments)  # type: ignore[arg-type]

    with pytest.raises(GroupMismatchError):
        verify_all_filled(group(1, make), MS, SEED)


@pytest.mark.parametrize(
    "change",
    [
        lambda at, body: replace(body, time_bucket=901),
        lambda at, body: replace(body, audience="bb" * 16),
        lambda at, body: replace(body, mechanism=replace(body.mechanism, k=3)),
        lambda at, body: replace(body, text=f"for party {at}"),
    ],
)
def test_so_is_what_its_group_does_not_say_or_what_one_party_alone_is_told(change: Change) -> None:
    with pytest.raises(GroupMismatchError):
        verify_all_filled(group(1, change=change), MS, SEED)
