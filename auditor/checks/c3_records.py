"""The records of a released group, against what each must show (checks 3 and 5 of DESIGN 10.4)."""

from collections.abc import Mapping, Sequence

from auditor.checks.c3_signatures import Signatures
from auditor.checks.c7_shown import Named
from auditor.checks.c7_shown import position as position_of
from auditor.trust import Trust
from proxid.crypto.sansig import Expectation, Role, SignedMessage
from proxid.encoding import decode_text, encode_text
from proxid.errors import GroupMismatchError
from proxid.evidence.events import ReleasedPayload
from proxid.protocol import record
from proxid.protocol.consent import parse_audience
from proxid.protocol.record import Filling, Place, RecordBody


def verify_records(
    trust: Trust, payload: ReleasedPayload, audience_id: str, bodies: Sequence[RecordBody],
    good: Mapping[str, Named], seed: bytes,
) -> None:  # fmt: skip
    """Every record of a group, for every party of its audience and for nobody else.

    Args:
        audience_id: `KIND|AUDIENCE` of the group. bodies: what the positions must show, in order.
        good: for each party, what was found good of its records when it got them. seed: see `verify_filled`.

    Raises:
        GroupMismatchError: other parties, an incomplete group, or a record that shows or names something else.
        SignatureInvalidError, HeaderMismatchError: a record is not MS's.
    """
    kind, _, text = audience_id.partition("|")
    audience = parse_audience(text)
    if tuple(name for name, _, _ in payload.parties) != tuple(party for party, _ in audience):
        raise GroupMismatchError("group is released to other parties than its audience")
    for (party, records, padded), (_, fidelity) in zip(payload.parties, audience, strict=True):
        if len(records) != len(bodies) or len(padded) != len(bodies):
            raise GroupMismatchError("group is not released whole")
        for position, (data, body) in enumerate(zip(records, padded, strict=True)):
            signed = SignedMessage.decode(data)
            expected = _expected(trust, bodies[position], trust.naming.fidelity(kind, fidelity))
            expected.verify_header(signed.message)
            Signatures.message(signed, Role.SIGNER, good.get(party, {}).get(position_of(position), b""))
            place = Place(bodies[position].group, position, len(bodies)).encode()
            _verify_shown(signed, body, bodies[position], (payload.published[position], party, place))
            verify_filled(signed, body, trust.service, seed)


def verify_filled(signed: SignedMessage, padded: bytes, service: str, seed: bytes) -> None:
    """Check that whatever a record holds besides what it shows follows from the seed: salt, nonce, encrypted body.

    Args:
        padded: the body. service: MS id. seed: of the epoch; empty if it has no feed keys, and MS drew all that.

    Raises:
        GroupMismatchError: it does not.
    """
    if not seed:
        return
    blocks = signed.message.blocks
    party, where = decode_text(blocks[record.PARTY]), blocks[record.PLACE]
    made = Filling.of(RecordBody.decode(padded), where, party, service, seed)
    if (padded, blocks[record.BODY_HASH]) != (made.padded, made.digest):
        raise GroupMismatchError("body of a record is salted with something else than the committed seed gives")
    if signed.header.nonce != made.nonce or blocks[record.SEALED] != made.encrypted:
        raise GroupMismatchError("record holds something that does not follow from the committed seed")


def verify_all_filled(payload: ReleasedPayload, service: str, seed: bytes) -> None:
    """The same of whatever can be read of a group; raises as `verify_filled`."""
    for _, records, bodies in payload.parties if seed else ():
        for data, padded in zip(records, bodies, strict=False):
            if data and padded:
                verify_filled(SignedMessage.decode(data), padded, service, seed)


def _expected(trust: Trust, body: RecordBody, fidelity: str) -> Expectation:
    return record.expectation(trust.service, body.epoch, trust.service_key, trust.screener, fidelity)


def _verify_shown(signed: SignedMessage, padded: bytes, body: RecordBody, said: tuple[str, str, bytes]) -> None:
    person, party, place = said
    blocks = signed.message.blocks
    named = (blocks[record.USER], blocks[record.PARTY], blocks[record.KIND], blocks[record.PLACE])
    if named != (encode_text(person), encode_text(party), encode_text(body.kind), place):
        raise GroupMismatchError("record names another person, party, kind or place")
    if signed.header.time_ms != 1000 * body.time_bucket:
        raise GroupMismatchError("record carries another time than its group's bucket")
    if blocks[record.BODY_HASH] != record.body_hash(padded) or RecordBody.decode(padded) != body:
        raise GroupMismatchError("record shows something else than the group allows")
