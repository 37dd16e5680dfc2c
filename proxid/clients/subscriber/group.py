"""What a party checks of a group before it acknowledges it (DESIGN 9), without I/O.

(1) header and both signatures: pk_MS, Judge = SAN under pk_IS          (4) the body opens, and is of this group
(2) the record names this party                                         (5) one user a record, one kind and audience;
(3) the group is whole: one number, positions 0 … size − 1                  no header says anything of its own
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxid.crypto.hpke import OpeningKey
from proxid.crypto.sansig import Limit, Role, SignedMessage, verify
from proxid.encoding import decode_text
from proxid.errors import RecordMismatchError
from proxid.protocol import record
from proxid.protocol.contents import ContentsBody, ContentsMessage, open_contents
from proxid.protocol.entry import places_of, tick_of
from proxid.protocol.feedkey import FeedKey, FeedKeyMessage
from proxid.protocol.record import Place, RecordBody

_FIDELITIES: Final = {Limit.LINKED_USER: "user_id", Limit.LINKED_ALIAS: "alias", Limit.PROX_ID: "user_id"}
"""For the expectation: a record whose limit is neither of the first two fails it."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A party as the reader of its feed: its name and key, and the keys it was provisioned with."""

    party: str
    service: str
    service_key: bytes
    screener: bytes
    key: OpeningKey


@dataclass(frozen=True, slots=True, repr=False)
class OpenedRecord:
    """A verified record: the user as published, `user_id`, `alias` or alias of the `day`, and the body."""

    user: str
    fidelity: str
    body: RecordBody


def feed_key(data: bytes, epoch: int, reader: Reader) -> FeedKey:
    """Verify and open the key of an epoch's bodies.

    Raises:
        RecordMismatchError: it is of another epoch or party. SignatureInvalidError, SealInvalidError, EncodingError.
    """
    message = FeedKeyMessage.decode(data)
    message.verify(reader.service_key, reader.service, epoch)
    if message.party != reader.party:
        raise RecordMismatchError("feed key is another party's")
    return message.open(reader.key)


def open_group(
    records: Sequence[SignedMessage], epoch: int, group: int, reader: Reader, key: FeedKey | None = None
) -> list[OpenedRecord]:
    """Verify and open a group.

    Args:
        key: of the epoch; None if it was opened before there were feed keys.

    Raises:
        RecordMismatchError: not one whole group for this party. SignatureInvalidError, HeaderMismatchError,
        SealInvalidError, EncodingError: a record is not MS's and IS's, or does not open.
    """
    if not records:
        raise RecordMismatchError("group is empty")
    limit, bodies = records[0].header.limit, []
    for position, signed in enumerate(records):
        # (1)
        expected = record.expectation(reader.service, epoch, reader.service_key, reader.screener, _FIDELITIES[limit])
        verify(signed, expected, Role.SANITIZER)
        # (3)
        if Place.decode(signed.message.blocks[record.PLACE]) != Place(group, position, len(records)):
            raise RecordMismatchError("record is not at its place in the group")
        # (2) (4)
        body = record.open_body(signed, reader.party, key or reader.key)
        _verify_body(signed, body, epoch, group)
        record.verify_label(signed, 1000 * body.time_bucket, reader.party, key is not None)
        bodies.append(body)
    # (5)
    fidelity = _verify_shared(bodies, limit)
    users = [decode_text(signed.message.user_block) for signed in records]
    if len(set(users)) != len(users):
        raise RecordMismatchError("group publishes a person twice")
    return [OpenedRecord(user, fidelity, body) for user, body in zip(users, bodies, strict=True)]


def open_entries(
    records: Sequence[SignedMessage], epoch: int, group: int, reader: Reader, key: FeedKey | None = None
) -> list[OpenedRecord]:
    """Verify and open a portion of entries (DESIGN 8.11): each stands for itself, in the order of ids; as `open_group`.

    Raises:
        RecordMismatchError: not a portion of this tick, for this party. Others as `open_group`.
    """
    places_of(records, group)
    fidelity = _FIDELITIES[records[0].header.limit]
    expected = record.expectation(reader.service, epoch, reader.service_key, reader.screener, fidelity)
    bodies = []
    for signed in records:
        verify(signed, expected, Role.SANITIZER)
        body = record.open_body(signed, reader.party, key or reader.key)
        _verify_body(signed, body, epoch, tick_of(group))
        record.verify_label(signed, records[0].header.time_ms, reader.party, key is not None)
        bodies.append(body)
    if len({(body.audience, body.kind, body.mechanism.items()[:-1]) for body in bodies}) != 1:
        raise RecordMismatchError("entries of the portion differ in what they must share")
    users = [decode_text(signed.message.user_block) for signed in records]
    return [OpenedRecord(user, fidelity, body) for user, body in zip(users, bodies, strict=True)]


def open_message(
    data: bytes, epoch: int, group: int, reader: Reader, key: FeedKey | None = None
) -> tuple[ContentsBody, bytes]:
    """Verify and open a content message (DESIGN 8.11): what it holds, and the digest of its plaintext; as `open_group`.

    Raises:
        RecordMismatchError: it is of another epoch, number or party. Others as `open_group`.
    """
    message = ContentsMessage.decode(data)
    message.verify(reader.service_key)
    said = (message.service, message.epoch, message.number, message.party)
    if said != (reader.service, epoch, group, reader.party):
        raise RecordMismatchError("content message is of another epoch, number or party")
    body = open_contents(message, key or reader.key)
    if body.epoch != epoch:
        raise RecordMismatchError("contents are of another epoch")
    return body, message.digest


def _verify_body(signed: SignedMessage, body: RecordBody, epoch: int, group: int) -> None:
    if (body.epoch, body.group) != (epoch, group):
        raise RecordMismatchError("body is of another group")
    if body.kind != decode_text(signed.message.blocks[record.KIND]):
        raise RecordMismatchError("body is of another kind")


def _verify_shared(bodies: Sequence[RecordBody], limit: Limit) -> str:
    shared = {(body.audience, body.kind, body.mechanism, body.time_bucket) for body in bodies}
    if len(shared) != 1:
        raise RecordMismatchError("records of the group differ in what they must share")
    return _FIDELITIES[limit]
