"""The Request Integrator (002 §5.2.2; DESIGN 9): a formed group becomes signed records, encrypted for each party.

What is shown is a pure function of (seed, number, members), so a crash between forming and releasing repeats it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from main_service.identity import EpochSecrets, Service
from main_service.store.slots import FormedSlotGroup
from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.pairs import release_pairs
from proxid.anonymise.mix.types import Group
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving
from proxid.errors import RecordMismatchError
from proxid.evidence.bodies import mix_body, slot_bodies
from proxid.evidence.events import BufferedPayload, ReleasedPayload
from proxid.evidence.splitting import entry_body
from proxid.protocol import contents, record
from proxid.protocol.consent import parse_audience
from proxid.protocol.entry import EntryPlace, tick_of
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.record import Issuer, Place, Placed, Recipient, RecordBody, group_number


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

    def __init__(self, service: Service) -> None:
        self._service = service

    def release(self, group: Group, secrets: EpochSecrets, buffered: Mapping[bytes, BufferedPayload]) -> GroupRelease:
        """Cycle, seal and sign a group.

        Args:
            secrets: the epoch's, with its settings. buffered: what waits, by session id.

        Raises:
            RestrictionError: the group breaks an invariant; nothing of it may leave.
            RecordMismatchError: a party has no sealing key here.
        """
        pairs = release_pairs(group, CycleSource(secrets.seed), secrets.terms.settings)
        _, _, audience = group.audience.partition("|")
        settings = secrets.terms.settings
        bodies = [mix_body(pair, group, secrets.epoch, settings, buffered[pair.record], secrets.seed) for pair in pairs]
        recipients = [self._recipient(party, fidelity, secrets) for party, fidelity in parse_audience(audience)]
        published = tuple(pair.person for pair in pairs)
        places = _places(group.number, len(published))
        parties = tuple(self._for_party(to, bodies, published, places, secrets.seed) for to in recipients)
        records = tuple(pair.record for pair in pairs)
        shown = tuple((p.party, p.records, p.bodies) for p in parties)
        owners = tuple(buffered[pair.record].prox_id for pair in pairs)
        payload = ReleasedPayload(records, published, shown, owners)
        return GroupRelease(parties, payload)

    def release_slot(
        self, formed: FormedSlotGroup, kind: str, secrets: EpochSecrets, buffered: Mapping[bytes, BufferedPayload]
    ) -> GroupRelease:
        """Seal and sign a group of a slot: each record keeps its user, the order is drawn from the seed.

        Raises:
            RestrictionError: fewer than k + m distinct seasoned published; nothing of it may leave.
            RecordMismatchError: a party has no sealing key here.
        """
        group, number = formed.group, group_number(kind, formed.number)
        rules, seed = secrets.terms.slots[kind], secrets.seed
        bodies_by_record = slot_bodies(group, kind, secrets.epoch, number, buffered, rules, seed)
        order = CycleSource(secrets.seed).draw(number, len(group.members))[1]
        members = [group.members[i] for i in order]
        bodies = [bodies_by_record[member.id] for member in members]
        published = tuple(member.person for member in members)
        _, _, audience = group.audience.partition("|")
        naming = secrets.terms.naming
        recipients = [self._recipient(to, naming.fidelity(kind, f), secrets) for to, f in parse_audience(audience)]
        places = _places(number, len(published))
        parties = tuple(self._for_party(to, bodies, published, places, secrets.seed) for to in recipients)
        records = tuple(member.id for member in members)
        shown = tuple((p.party, p.records, p.bodies) for p in parties)
        return GroupRelease(parties, ReleasedPayload(records, published, shown, published))

    def release_entries(
        self, portion: Sequence[Leaving], number: int, secrets: EpochSecrets, settings: SplitSettings,
        buffered: Sequence[BufferedPayload],
    ) -> GroupRelease:  # fmt: skip
        """Seal and sign a portion of entries of one audience, in its order (DESIGN 8.11).

        Args:
            buffered: what waited, entry by entry.

        Raises:
            RecordMismatchError: a party has no sealing key here.
        """
        draws, tick, epoch = Draws(secrets.seed), tick_of(number), secrets.epoch
        bodies = [
            entry_body(leaving, tick, epoch, settings, payload.time_ms, secrets.seed)
            for leaving, payload in zip(portion, buffered, strict=True)
        ]
        places: list[Placed] = [EntryPlace(tick, draws.entry(leaving.record.id)) for leaving in portion]
        people = tuple(leaving.record.person for leaving in portion)
        _, _, audience = portion[0].record.audience.partition("|")
        recipients = [self._recipient(party, fidelity, secrets) for party, fidelity in parse_audience(audience)]
        time = self._service.epochs.start(epoch) + (tick - 1) * settings.bucket_s
        parties = tuple(self._for_party(to, bodies, people, places, secrets.seed, time) for to in recipients)
        shown = tuple((p.party, p.records, p.bodies) for p in parties)
        records = tuple(leaving.record.id for leaving in portion)
        return GroupRelease(parties, ReleasedPayload(records, people, shown))

    def release_contents(
        self, audience_id: str, number: int, secrets: EpochSecrets, plaintext: bytes
    ) -> list[tuple[str, tuple[bytes, ...]]]:
        """One plaintext, for each party of `KIND|AUDIENCE`; raises RecordMismatchError as `release`."""
        place = (self._service.name, secrets.epoch, number)
        messages: list[tuple[str, tuple[bytes, ...]]] = []
        for party, fidelity in parse_audience(audience_id.partition("|")[2]):
            made = contents.make(place, party, self._recipient(party, fidelity, secrets).key, plaintext)
            messages.append((party, (made.sign(self._service.key).encode(),)))
        return messages

    def _recipient(self, party: str, fidelity: str, secrets: EpochSecrets) -> Recipient:
        if secrets.feeds:
            return Recipient(party, fidelity, FeedKey.of(secrets.seed, self._service.name, secrets.epoch, party))
        key = self._service.parties.get(party)
        if key is None:
            raise RecordMismatchError("a party of the audience has no sealing key")
        return Recipient(party, fidelity, key)

    def _for_party(
        self, to: Recipient, bodies: Sequence[RecordBody], people: Sequence[str], places: Sequence[Placed],
        seed: bytes, time: int | None = None,
    ) -> PartyRelease:  # fmt: skip
        service = self._service
        issuer = Issuer(service.name, service.key, service.screener)
        made = [
            record.make(body, person, place, to, issuer, seed, time)
            for body, person, place in zip(bodies, people, places, strict=True)
        ]
        return PartyRelease(to.party, tuple(signed.encode() for signed, _ in made), tuple(body for _, body in made))


def _places(number: int, size: int) -> list[Placed]:
    return [Place(number, position, size) for position in range(size)]
