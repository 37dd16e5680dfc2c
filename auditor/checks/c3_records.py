"""The records of a released group, against what each must show (checks 3 and 5 of DESIGN 10.4)."""

from collections.abc import Mapping, Sequence

from auditor.checks.c3_signatures import Signatures
from auditor.checks.c7_shown import Named
from auditor.checks.c7_shown import position as position_of
from auditor.trust import Trust
from proxid.crypto.sansig import Expectation, Role, SignedMessage
from proxid.encoding import decode_text, encode_text
from proxid.errors import GroupMismatchError, SealInvalidError
from proxid.evidence.events import ReleasedPayload
from proxid.protocol import record
from proxid.protocol.consent import parse_audience
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.record import Filling, Place, RecordBody


def verify_records(
    trust: Trust, payload: ReleasedPayload, audience_id: str, bodies: Sequence[RecordBody],
    good: Mapping[str, Named], seed: bytes,
) -> None:  # fmt: skip
    """Every record of a group, for every party of its audience and for nobody else.

    Args:
        audience_id: `KIND|AUDIENCE` of the group. bodies: what the positions must show, in order.
        good: for each party, what was found good of its records when it got them. seed: see `verify_body`.

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
            _verify_named(signed, bodies[position], (payload.published[position], party, place))
            verify_body(signed, body, bodies[position], trust.service, seed)


def verify_body(signed: SignedMessage, padded: bytes, body: RecordBody, service: str, seed: bytes) -> None:
    """Check that a record shows what it must, and that whatever else it holds follows from the seed.

    Args:
        padded: the body that was logged. body: what must be shown. service: MS id. seed: of the epoch, from which salt,
            nonce and encrypted body follow; empty if it has no feed keys, and MS drew all that.

    Raises:
        GroupMismatchError: it does not.
    """
    blocks = signed.message.blocks
    if not seed:
        if blocks[record.BODY_HASH] != record.body_hash(padded) or RecordBody.decode(padded) != body:
            raise GroupMismatchError("record shows something else than it must")
        return
    made = Filling.of(body, blocks[record.PLACE], decode_text(blocks[record.PARTY]), service, seed)
    if padded != made.padded:
        salted = RecordBody.decode(padded) == body
        what = "is salted otherwise than by the committed seed" if salted else "shows something else than it must"
        raise GroupMismatchError(f"record {what}")
    held = (blocks[record.BODY_HASH], blocks[record.SEALED], signed.header.nonce)
    if held != (made.digest, made.encrypted, made.nonce):
        raise GroupMismatchError("record holds something that does not follow from the committed seed")


def verify_all_filled(payload: ReleasedPayload, service: str, seed: bytes) -> None:
    """Check that the records of a group that can be read hold nothing but what they show and the seed gives.

    The body of a record whose author was erased is gone, and the record is its reader's: it is opened by the seed, and
    nothing of it is kept. What it shows cannot be compared, only that all parties see the same, in the group's frame.

    Raises:
        GroupMismatchError: they do. EncodingError: it is no record.
    """
    frames: set[tuple[object, ...]] = set()
    shown: dict[int, RecordBody] = {}
    for party, records, bodies in payload.parties if seed else ():
        for position, (data, padded) in enumerate(zip(records, bodies, strict=False)):
            if not data:
                continue
            signed = SignedMessage.decode(data)
            plain = padded or _opened(signed, party, service, seed)
            body = RecordBody.decode(plain)
            verify_body(signed, plain, body, service, seed)
            frames.add((body.audience, body.kind, body.mechanism, body.epoch, body.group, body.time_bucket))
            if len(frames) > 1 or shown.setdefault(position, body) != body:
                raise GroupMismatchError("record shows something else than its group, or than to another party")


def _opened(signed: SignedMessage, party: str, service: str, seed: bytes) -> bytes:
    header, blocks = signed.header, signed.message.blocks
    info = record.seal_info(service, header.epoch, party, blocks[record.PLACE])
    try:
        key = FeedKey.of(seed, service, header.epoch, party)
        return key.decrypt(blocks[record.SEALED], blocks[record.BODY_HASH], info)
    except SealInvalidError:
        raise GroupMismatchError("record holds something that does not follow from the committed seed") from None


def _expected(trust: Trust, body: RecordBody, fidelity: str) -> Expectation:
    return record.expectation(trust.service, body.epoch, trust.service_key, trust.screener, fidelity)


def _verify_named(signed: SignedMessage, body: RecordBody, said: tuple[str, str, bytes]) -> None:
    person, party, place = said
    blocks = signed.message.blocks
    named = (blocks[record.USER], blocks[record.PARTY], blocks[record.KIND], blocks[record.PLACE])
    if named != (encode_text(person), encode_text(party), encode_text(body.kind), place):
        raise GroupMismatchError("record names another person, party, kind or place")
    if signed.header.time_ms != 1000 * body.time_bucket:
        raise GroupMismatchError("record carries another time than its group's bucket")
