"""Deliveries in the gateway's log (DESIGN 10.4 checks 3, 9): records, their users or aliases, the party's word."""

from collections.abc import Sequence

from auditor.checks.c3_links import People
from auditor.checks.c3_signatures import Signatures
from auditor.checks.c3_tuples import verify_pair
from auditor.policies import Policies
from proxid.crypto.sansig import Limit
from proxid.encoding import decode_text, encode_text
from proxid.errors import CredentialError, RecordMismatchError
from proxid.evidence.events import AliasedPayload, SanitizedPair
from proxid.protocol import record
from proxid.protocol.entry import entries_digest, places_of
from proxid.protocol.receipt import DeliveryAck, group_digest

Alias = tuple[str, int, str]
DeliveriesState = tuple[dict[str, Alias], dict[Alias, str], bool]
"""Party, period and user by alias, and the other way round; whether some cannot be read."""


class Deliveries:
    """Checks DELIVERED and ALIASED events."""

    def __init__(self, policies: Policies, people: People, signatures: Signatures) -> None:
        self._policies = policies
        self._trust = policies.trust
        self._people = people
        self._signatures = signatures
        self._user_of: dict[str, Alias] = {}
        self._alias_of: dict[Alias, str] = {}
        self.incomplete = False
        """Some ALIASED cannot be read any more: a name that is not known may have been in it."""

    def aliased(self, payload: bytes) -> None:
        """An ALIASED event: an alias by its form, one-to-one over users, parties and periods.

        Raises:
            RecordMismatchError: it is not.
        """
        said = AliasedPayload.decode(payload)
        key, user_id, alias = (said.party, said.period), said.user_id, said.name
        if not record.is_alias(alias):
            raise RecordMismatchError("a name that is no alias stands for a person")
        taken = self._user_of.setdefault(alias, (*key, user_id)) != (*key, user_id)
        if taken or self._alias_of.setdefault((*key, user_id), alias) != alias:
            raise RecordMismatchError("aliases are not one-to-one for a party and period")

    def delivered(self, acknowledgement: bytes, pairs: Sequence[SanitizedPair | None]) -> DeliveryAck:
        """A DELIVERED event: every record, None where its person was erased, and the acknowledgement over all of them.

        Raises:
            ProxidError: a record, a user block or the acknowledgement does not hold.
        """
        ack = DeliveryAck.decode(acknowledgement)
        key = self._trust.party_keys.get(ack.party)
        if key is not None:
            ack.verify(key)
        elif self._policies.of(ack.epoch) is not None:
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

    def granted(self, pair: SanitizedPair, kind: str) -> str:
        """How this record names its user, which every member of its group must have granted."""
        header = pair.original.header
        return self._policies.naming(header.epoch, kind, "user_id" if header.limit is Limit.LINKED_USER else "alias")

    def state(self) -> DeliveriesState:
        """For storing."""
        return self._user_of, self._alias_of, self.incomplete

    def restore(self, state: DeliveriesState) -> None:
        """Go on from a state."""
        self._user_of, self._alias_of, self.incomplete = state

    def _record(self, pair: SanitizedPair, ack: DeliveryAck, place: bytes | None) -> None:
        trust, header, blocks = self._trust, pair.original.header, pair.original.message.blocks
        fidelity = "user_id" if header.limit is Limit.LINKED_USER else "alias"
        expected = record.expectation(trust.service, ack.epoch, trust.service_key, trust.screener, fidelity)
        person = self._people.of_prox(decode_text(pair.original.message.user_block))
        kind = decode_text(blocks[record.KIND])
        name = person.user_id
        if fidelity != "user_id":
            shown = decode_text(pair.sanitized.message.user_block)
            name = self._alias(person.user_id, ack, header.time_ms, kind, shown)
        elif self._policies.naming(ack.epoch, kind, fidelity) == "day":
            raise RecordMismatchError("a place or command is published under a lasting name")
        verify_pair(pair, expected, (person.prox_id, name), self._signatures)
        if person.epoch != ack.epoch:
            raise RecordMismatchError("record names a PROX_ID of another epoch")
        if blocks[record.PARTY] != encode_text(ack.party):
            raise RecordMismatchError("record names another party")
        if place is not None and blocks[record.PLACE] != place:
            raise RecordMismatchError("record stands at another place of the group")

    def _alias(self, user_id: str, ack: DeliveryAck, time_ms: int, kind: str, shown: str) -> str:
        judge = self._policies.of(ack.epoch)
        if judge is None:
            return shown
        period = judge.naming.period(kind, ack.epoch, time_ms)
        alias = self._alias_of.get((ack.party, period, user_id))
        if alias is None and self.incomplete:
            return shown
        if alias is None:
            raise RecordMismatchError("alias was never recorded")
        return alias
