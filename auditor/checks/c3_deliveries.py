"""Deliveries in the gateway's log (DESIGN 10.4 checks 3, 9): records, their users or aliases, the party's word."""

from collections.abc import Sequence
from itertools import chain

from auditor.checks.c3_links import People, Person
from auditor.checks.c3_signatures import Signatures
from auditor.checks.c3_tuples import verify_pair
from auditor.findings import Basis
from auditor.policies import Policies
from auditor.trust import verify_party
from proxid.crypto.sansig import Limit
from proxid.encoding import decode, decode_text, encode_text
from proxid.errors import CredentialError, RecordMismatchError
from proxid.evidence.events import AliasedPayload, Event, SanitizedPair
from proxid.protocol import record
from proxid.protocol.entry import entries_digest, places_of
from proxid.protocol.naming import is_keyed
from proxid.protocol.receipt import DeliveryAck, group_digest

Alias = tuple[str, int, str]
DeliveriesState = tuple[dict[str, dict[tuple[str, int], list[str]]], bool, dict[tuple[str, int], bytes]]
"""Aliases by user, party and period; whether some cannot be read; keys by party and period."""


class Deliveries:
    """Checks DELIVERED, KEYED and ALIASED events."""

    def __init__(self, policies: Policies, people: People, signatures: Signatures) -> None:
        self._policies = policies
        self._trust = policies.trust
        self._people = people
        self._signatures = signatures
        self._user_of: dict[str, Alias] = {}
        self._aliases: dict[str, dict[tuple[str, int], list[str]]] = {}
        """The other way round: by user, then by party and period, the one in use last,
        or nothing once its key was drawn again."""
        self._keys: dict[tuple[str, int], bytes] = {}
        """Of aliases, by party and period; empty where one cannot be read."""
        self.incomplete = False
        """Some ALIASED cannot be read any more: a name that is not known may have been in it."""

    def keyed(self, event: Event) -> None:
        """A KEYED event: the key of a party's aliases in a period, one until it is destroyed, a period after its end.

        Raises:
            RecordMismatchError: none, not the one that its header commits to, or drawn again before.
        """
        if not event.payload and not event.hidden:
            raise RecordMismatchError("key of aliases is not disclosed")
        party, period = str(event.fields["party"]), int(str(event.fields["period"]))
        (key,) = decode(event.payload, 1) if event.payload else (b"",)
        if key and record.alias_commitment(party, period, key).hex() != event.fields["commitment"]:
            raise RecordMismatchError("key of aliases is another than was committed to")
        before, self._keys[party, period] = self._keys.get((party, period)), key
        if before is None:
            return
        for own in self._aliases.values():
            if (party, period) in own:
                own[party, period].append("")
        newest = max(self._policies.told, default=0)
        judge, epochs = self._policies.of(newest), self._trust.epochs
        if judge is not None and epochs.end(newest) < judge.naming.until(period, epochs):
            raise RecordMismatchError("key of aliases was drawn again before its time")

    def aliased_unread(self, _: Event) -> None:
        """An ALIASED event that cannot be read."""
        self.incomplete = True

    def forget(self, user_id: str) -> None:
        """Somebody was erased: nobody remembers whose the aliases were."""
        for alias in chain.from_iterable(self._aliases.pop(user_id, {}).values()):
            self._user_of.pop(alias, None)

    def named(self, alias: str, said: Alias) -> bool:
        """An alias stands for a user at a party in a period; whether it is the only one, and theirs alone."""
        if self._user_of.setdefault(alias, said) != said:
            return False
        party, period, user_id = said
        own = self._aliases.setdefault(user_id, {}).setdefault((party, period), [])
        if not own or not own[-1]:
            own.append(alias)
        return own[-1] == alias

    def aliased(self, event: Event) -> Basis | None:
        """An ALIASED event: an alias by its form, one-to-one over users, parties and periods, made as it must be.

        Returns:
            What it rests on: believed of an epoch from before feed keys, unreadable if part of it is; None: recomputed.

        Raises:
            RecordMismatchError: it is not.
        """
        said = AliasedPayload.decode(event.payload)
        if event.fields["party"] != said.party:
            raise RecordMismatchError("event names another party than the alias")
        key, user_id, alias = (said.party, said.period), said.user_id, said.name
        if not record.is_alias(alias):
            raise RecordMismatchError("a name that is no alias stands for a person")
        if not self.named(alias, (*key, user_id)):
            raise RecordMismatchError("aliases are not one-to-one for a party and period")
        return self._made(said)

    def _made(self, said: AliasedPayload) -> Basis | None:
        person = self._people.find(said.prox_id)
        if person is None:
            return Basis.UNREADABLE
        if person.user_id != said.user_id:
            raise RecordMismatchError("alias is said to be of another user than its PROX_ID")
        if is_keyed(said.period) != (person.epoch in self._policies.keyed):
            raise RecordMismatchError("alias is made otherwise than those of its epoch")
        if not is_keyed(said.period):
            return Basis.BELIEVED
        key = self._keys.get((said.party, said.period))
        if key is None:
            raise RecordMismatchError("alias is made under a key that is not in the log")
        if not key:
            return Basis.UNREADABLE
        if said.name != record.alias(key, said.user_id, person.part):
            raise RecordMismatchError("alias does not follow from the key of its party and period")
        return None

    def delivered(self, acknowledgement: bytes, pairs: Sequence[SanitizedPair | None]) -> DeliveryAck:
        """A DELIVERED event: every record, None where its person was erased, and the acknowledgement over all of them.

        Raises:
            ProxidError: a record, a user block or the acknowledgement does not hold.
        """
        ack = DeliveryAck.decode(acknowledgement)
        if not verify_party(self._trust, ack.party, ack.verify) and self._policies.of(ack.epoch) is not None:
            raise CredentialError("party is not configured")
        if ack.service != self._trust.service:
            raise RecordMismatchError("acknowledgement is of another service")
        kind = record.kind_and_number(ack.group)[0]
        for position, pair in enumerate(pairs):
            if pair is not None:
                place = None if kind == "entries" else record.Place(ack.group, position, len(pairs)).encode()
                self._record(pair, ack, place)
        shown = [pair.sanitized for pair in pairs if pair is not None]
        if kind == "entries" and shown:
            places_of(shown, ack.group)
        # What an erased member hides cannot be hashed again: the party's signature is all there is. What contents
        # show stands in the other log.
        digest_of = entries_digest if kind == "entries" else group_digest
        if kind != "contents" and len(shown) == len(pairs) and ack.digest != digest_of(shown):
            raise RecordMismatchError("acknowledgement is of another group")
        return ack

    def granted(self, pairs: Sequence[SanitizedPair]) -> tuple[str, str]:
        """Type of some records of a group, and how they name their users: every member must have granted that.

        Raises:
            RecordMismatchError: they differ.
        """
        said = {(decode_text(pair.original.message.blocks[record.KIND]), pair.original.header.limit) for pair in pairs}
        if len(said) != 1:
            raise RecordMismatchError("records of one group are of different types, or name people differently")
        kind, limit = said.pop()
        named = "user_id" if limit is Limit.LINKED_USER else "alias"
        return kind, self._policies.naming(pairs[0].original.header.epoch, kind, named)

    def state(self) -> DeliveriesState:
        """For storing."""
        return self._aliases, self.incomplete, self._keys

    def restore(self, state: DeliveriesState) -> None:
        """Go on from a state."""
        self._aliases, self.incomplete, self._keys = state
        self._user_of = {
            alias: (*at, user_id)
            for user_id, own in self._aliases.items()
            for at, aliases in own.items()
            for alias in filter(None, aliases)
        }

    def _record(self, pair: SanitizedPair, ack: DeliveryAck, place: bytes | None) -> None:
        trust, header, blocks = self._trust, pair.original.header, pair.original.message.blocks
        fidelity = "user_id" if header.limit is Limit.LINKED_USER else "alias"
        expected = record.expectation(trust.service, ack.epoch, trust.service_key, trust.screener, fidelity)
        person = self._people.of_prox(decode_text(pair.original.message.user_block))
        kind = decode_text(blocks[record.KIND])
        name = person.user_id
        if fidelity != "user_id":
            shown = decode_text(pair.sanitized.message.user_block)
            if not record.is_alias(shown):
                raise RecordMismatchError("a name that is no alias stands for a person")
            name = self._alias(person, ack, header.time_ms, kind, shown)
        elif self._policies.naming(ack.epoch, kind, fidelity) == "day":
            raise RecordMismatchError("a place or command is published under a lasting name")
        verify_pair(pair, expected, (person.prox_id, name), self._signatures)
        if person.epoch != ack.epoch:
            raise RecordMismatchError("record names a PROX_ID of another epoch")
        if blocks[record.PARTY] != encode_text(ack.party):
            raise RecordMismatchError("record names another party")
        if place is not None and blocks[record.PLACE] != place:
            raise RecordMismatchError("record stands at another place of the group")

    def _alias(self, person: Person, ack: DeliveryAck, time_ms: int, kind: str, shown: str) -> str:
        judge, user_id = self._policies.of(ack.epoch), person.user_id
        if judge is None:
            return shown
        period = judge.naming.period(kind, ack.epoch, time_ms, ack.epoch in self._policies.keyed)
        if self._user_of.get(shown) == (ack.party, period, user_id):
            return shown
        alias = next(reversed(self._aliases.get(user_id, {}).get((ack.party, period), ())), "")
        if not alias and self.incomplete:  # what was recorded cannot be read, and may follow all the same
            if is_keyed(period) and (ack.party, period) not in self._keys:
                raise RecordMismatchError("alias is made under a key that is not in the log")
            key = self._keys[ack.party, period] if is_keyed(period) and person.part else b""
            return record.alias(key, user_id, person.part) if key else shown
        if not alias:
            raise RecordMismatchError("alias was never recorded")
        return alias
