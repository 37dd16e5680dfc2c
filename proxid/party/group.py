"""What a party checks of a group before it acknowledges it (DESIGN 9), without I/O.

(1) header and both signatures: pk_MS, Judge = SAN under pk_IS          (4) the body opens, and is of this group
(2) the record names this party                                         (5) one user a record, one audience, this
(3) the group is whole: one number, positions 0 … size − 1                  party in it
"""

from collections.abc import Sequence
from dataclasses import dataclass

from proxid.crypto.hpke import OpeningKey
from proxid.crypto.sansig import Limit, Role, SignedMessage, verify
from proxid.encoding import decode_text
from proxid.errors import RecordMismatchError
from proxid.protocol import record
from proxid.protocol.consent import parse_audience
from proxid.protocol.record import Place, RecordBody


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
    """A verified record: the user as published (USER_ID or alias), and the body."""

    user: str
    fidelity: str
    body: RecordBody


def open_group(records: Sequence[SignedMessage], epoch: int, group: int, reader: Reader) -> list[OpenedRecord]:
    """Verify and open a group.

    Raises:
        RecordMismatchError: not one whole group for this party. SignatureInvalidError, HeaderMismatchError,
        SealInvalidError, EncodingError: a record is not MS's and IS's, or does not open.
    """
    if not records:
        raise RecordMismatchError("group is empty")
    fidelity = "user_id" if records[0].header.limit is Limit.LINKED_USER else "alias"
    opened = []
    for position, signed in enumerate(records):
        # (1)
        expected = record.expectation(reader.service, epoch, reader.service_key, reader.screener, fidelity)
        verify(signed, expected, Role.SANITIZER)
        # (3)
        if Place.decode(signed.message.blocks[record.PLACE]) != Place(group, position, len(records)):
            raise RecordMismatchError("record is not at its place in the group")
        # (2) (4)
        body = record.open_body(signed, reader.party, reader.key)
        opened.append(OpenedRecord(decode_text(signed.message.user_block), fidelity, body))
        _verify_body(signed, body, epoch, group)
    _verify_whole(opened, reader.party, fidelity)
    return opened


def _verify_body(signed: SignedMessage, body: RecordBody, epoch: int, group: int) -> None:
    if (body.epoch, body.group) != (epoch, group):
        raise RecordMismatchError("body is of another group")
    if body.kind != decode_text(signed.message.blocks[record.KIND]):
        raise RecordMismatchError("body is of another kind")


def _verify_whole(opened: Sequence[OpenedRecord], party: str, fidelity: str) -> None:
    # (5)
    if len({one.user for one in opened}) != len(opened):
        raise RecordMismatchError("group publishes a person twice")
    shared = {(one.body.audience, one.body.mechanism, one.body.time_bucket) for one in opened}
    if len(shared) != 1:
        raise RecordMismatchError("records of the group differ in what they must share")
    audience, _, _ = shared.pop()
    if (party, fidelity) not in parse_audience(audience):
        raise RecordMismatchError("group is for an audience without this party")
