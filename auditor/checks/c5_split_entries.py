"""A portion of entries of form `split`, against what it must show (checks 3 and 5 of DESIGN 10.4)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from auditor.checks.c3_records import verify_body
from auditor.checks.c3_signatures import Signatures
from auditor.checks.c5_slots import verify_readable
from auditor.checks.c7_shown import Named
from auditor.trust import Trust
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving
from proxid.crypto.sansig import Role, SignedMessage
from proxid.encoding import encode_text
from proxid.errors import GroupMismatchError
from proxid.evidence.events import ReleasedPayload
from proxid.evidence.splitting import entry_body
from proxid.protocol import record
from proxid.protocol.consent import parse_audience
from proxid.protocol.entry import EntryPlace, tick_of


class Judge(NamedTuple):
    """What entries are judged by: the policy, what was found good of them when each party got them.

    Attributes:
        seed: that they are salted and encrypted from; empty in an epoch without feed keys.
    """

    trust: Trust
    good: Mapping[str, Named]
    seed: bytes


class Entries:
    """The entries of one epoch; arguments as `c5_split.SplitReplay`."""

    def __init__(self, settings: SplitSettings, seed: bytes, epoch: int) -> None:
        self._settings, self._seed, self._epoch = settings, seed, epoch
        self._draws = Draws(seed)

    def verify(
        self, portion: Sequence[tuple[Leaving, int] | None], place: tuple[int, str], payload: ReleasedPayload, by: Judge
    ) -> None:
        """What can be read of a portion names and shows what it must, to each party of its audience and nobody else.

        Args:
            portion: what must stand at each position, with the time of its request (Unix ms); None where that is not
                known. place: the portion's number and its audience.

        Raises:
            GroupMismatchError: members, order, parties, node or body differ.
            SignatureInvalidError, HeaderMismatchError: an entry is not MS's.
        """
        number, audience = place
        verify_readable(payload.records, tuple(one[0].record.id if one else b"" for one in portion))
        verify_readable(payload.published, tuple(one[0].record.person if one else "" for one in portion))
        recipients = parse_audience(audience.partition("|")[2])
        if tuple(name for name, _, _ in payload.parties) != tuple(party for party, _ in recipients):
            raise GroupMismatchError("portion is released to other parties than its audience")
        for (party, records, padded), (_, fidelity) in zip(payload.parties, recipients, strict=True):
            for one, data, body in zip(portion, records, padded, strict=True):
                if one and data and body:
                    self._verify_entry(one, (data, body), number, (party, fidelity), by)

    def _verify_entry(
        self, entry: tuple[Leaving, int], said: tuple[bytes, bytes], number: int, to: tuple[str, str], by: Judge
    ) -> None:
        (one, asked), (data, padded), (party, fidelity), tick, trust = entry, said, to, tick_of(number), by.trust
        signed, identity = SignedMessage.decode(data), self._draws.entry(one.record.id)
        expected = record.expectation(trust.service, self._epoch, trust.service_key, trust.screener, fidelity)
        expected.verify_header(signed.message)
        Signatures.message(signed, Role.SIGNER, by.good.get(party, {}).get(identity, b""))
        blocks, place = signed.message.blocks, EntryPlace(tick, identity)
        named = (blocks[record.USER], blocks[record.PARTY], blocks[record.KIND], blocks[record.PLACE])
        kind = one.record.audience.partition("|")[0]
        if named != (encode_text(one.record.person), encode_text(party), encode_text(kind), place.encode()):
            raise GroupMismatchError("entry names another person, party, kind, tick or id")
        time = trust.epochs.start(self._epoch) + (tick - 1) * self._settings.bucket_s
        body = entry_body(one, tick, self._epoch, self._settings, asked, self._seed)
        if signed.header.time_ms != 1000 * time:
            raise GroupMismatchError("entry carries another time than its tick's")
        verify_body(signed, padded, body, trust.service, by.seed)
