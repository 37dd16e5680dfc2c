"""The Request Integrator (002 §5.2.2; DESIGN 9): a formed group becomes signed records, sealed to each party.

What is shown is a pure function of (seed, number, members), so a crash between forming and releasing repeats it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from main_service.service import Service
from proxid.anonymise.stream.cycle import CycleSource
from proxid.anonymise.stream.pairs import release_pairs
from proxid.anonymise.stream.settings import Settings
from proxid.anonymise.stream.types import Group, Pair, Rung
from proxid.errors import RecordMismatchError
from proxid.evidence.events import BufferedPayload, ReleasedPayload
from proxid.protocol import record
from proxid.protocol.consent import parse_audience
from proxid.protocol.record import Issuer, Mechanism, Place, Recipient, RecordBody

RUNGS = {Rung.TEXT: 0, Rung.UNIT: 1, Rung.CATEGORY: 2, Rung.NODE: 3}


@dataclass(frozen=True, slots=True)
class PartyRelease:
    """A group for one party, in the order shown."""

    party: str
    records: tuple[bytes, ...]
    bodies: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class GroupRelease:
    """A group for all parties of its audience, and its evidence."""

    parties: tuple[PartyRelease, ...]
    payload: ReleasedPayload


class Integrator:
    """Makes releases of formed groups."""

    def __init__(self, service: Service, settings: Settings) -> None:
        self._service = service
        self._settings = settings

    def release(self, group: Group, epoch: int, seed: bytes, buffered: Mapping[bytes, BufferedPayload]) -> GroupRelease:
        """Cycle, seal and sign a group.

        Args:
            seed: the epoch's. buffered: what waits, by session id.

        Raises:
            RestrictionError: the group breaks an invariant; nothing of it may leave.
            RecordMismatchError: a party has no sealing key here.
        """
        pairs = release_pairs(group, CycleSource(seed), self._settings)
        kind, _, audience = group.audience.partition("|")
        bodies = [self._body(pair, group, epoch, (kind, audience), buffered[pair.record]) for pair in pairs]
        recipients = [self._recipient(party, fidelity) for party, fidelity in parse_audience(audience)]
        parties = tuple(self._for_party(to, bodies, pairs, group) for to in recipients)
        owners = tuple(pair.record for pair in pairs)
        people = tuple(pair.person for pair in pairs)
        shown = tuple((p.party, p.records, p.bodies) for p in parties)
        askers = tuple(buffered[pair.record].prox_id for pair in pairs)
        payload = ReleasedPayload(owners, people, shown, askers)
        return GroupRelease(parties, payload)

    def _body(
        self, pair: Pair, group: Group, epoch: int, label: tuple[str, str], buffered: BufferedPayload
    ) -> RecordBody:
        kind, audience = label
        settings = self._settings
        text = "" if pair.unit is None else buffered.texts[pair.unit]
        path = group.node if pair.rung is Rung.NODE else buffered.path
        mechanism = Mechanism("mix", settings.k, settings.margin, settings.level, len(group.node))
        return RecordBody(audience, kind, mechanism, epoch, group.number, group.bucket, RUNGS[pair.rung], path, text)

    def _recipient(self, party: str, fidelity: str) -> Recipient:
        key = self._service.parties.get(party)
        if key is None:
            raise RecordMismatchError("a party of the audience has no sealing key")
        return Recipient(party, fidelity, key)

    def _for_party(
        self, to: Recipient, bodies: Sequence[RecordBody], pairs: Sequence[Pair], group: Group
    ) -> PartyRelease:
        service = self._service
        issuer = Issuer(service.name, service.key, service.screener)
        made = [
            record.make(body, pair.person, Place(group.number, position, len(pairs)), to, issuer)
            for position, (body, pair) in enumerate(zip(bodies, pairs, strict=True))
        ]
        return PartyRelease(to.party, tuple(signed.encode() for signed, _ in made), tuple(body for _, body in made))
