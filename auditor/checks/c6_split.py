"""Deliveries of form `split` (checks 6 and 7 of DESIGN 10.4): entries are their own person's, contents everybody's.

Whoever has an entry at a party and is erased, objects, or in a later epoch takes the grant back, takes the contents of
that epoch back from it, as far as they were not sent. SENT says when they were: before that nothing was delivered,
after it contents are not dropped.
"""

from collections.abc import Sequence
from typing import Final

from auditor.checks.c3_links import People
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_shown import Delivery
from auditor.event_log import check_of
from auditor.findings import COMPLETENESS, CONSENT
from proxid.encoding import decode_text
from proxid.errors import ConsentError, RecordMismatchError
from proxid.evidence.events import Event, Header, SanitizedPair
from proxid.protocol.record import kind_and_number

Epochs = set[tuple[str, int]]
"""Parties and epochs."""
SplitDeliveriesState = tuple[dict[str, Epochs], Epochs, bool]
"""What `SplitDeliveries` remembers: by user where they have entries, of which epochs a party may get no contents any
more, whether groups are said to be sent."""
_KINDS: Final = frozenset({"entries", "contents"})
_LEFT: Final = "party_left"


class SplitDeliveries:
    """What the gateway's log says of them."""

    def __init__(self, people: People, sets: Sets) -> None:
        self._people = people
        self._sets = sets
        self._entered: dict[str, Epochs] = {}
        """Where a user has delivered entries."""
        self._barred: Epochs = set()
        """Where somebody with entries went or objected: contents are not sent any more."""
        self._says = False
        """Whether the log says when groups were sent: a gateway of version 2 says it of none."""

    def sent(self, event: Event) -> None:
        """SENT; raises RecordMismatchError for a second one, ConsentError for contents that were taken back."""
        fields = event.fields
        named = (int(str(fields["epoch"])), int(str(fields["group"])), str(fields["party"]))
        self._sets.sent(named, event.number)
        self._says = self._says or kind_and_number(named[1])[0] not in _KINDS
        entries = fields.get("entries")
        if isinstance(entries, list):
            self._sets.shown.sent(named, [str(entry) for entry in entries])
        with check_of(CONSENT):
            if kind_and_number(named[1])[0] == "contents" and (named[2], named[0]) in self._barred:
                raise ConsentError("contents were sent although somebody among whom they are took them back")

    def verify_sent(self, named: Delivery) -> None:
        """That what was delivered was sent before; raises RecordMismatchError."""
        told = self._says or kind_and_number(named[1])[0] in _KINDS
        if told and not self._sets.is_sent(named):
            raise RecordMismatchError("a delivery was never recorded as sent")

    def delivered(self, named: Delivery, pairs: Sequence[SanitizedPair | None], digest: bytes) -> bool:
        """DELIVERED; whether it is of contents, which name nobody.

        Args:
            digest: that the party signed.

        Raises:
            RecordMismatchError: other contents than the main service formed.
        """
        kind = kind_and_number(named[1])[0]
        if kind == "contents":
            with check_of(COMPLETENESS):
                if self._sets.vouched(named) not in (b"", digest):
                    raise RecordMismatchError("a party got other contents than the ones of the epoch and audience")
            self._sets.vouch_contents(named, digest)
        if kind == "entries":
            for pair in filter(None, pairs):
                person = self._people.of_prox(decode_text(pair.original.message.user_block))
                self._entered.setdefault(person.user_id, set()).add((named[2], named[0]))
        return kind == "contents"

    def dropped(self, named: Delivery, fields: Header) -> bool:
        """DROPPED; whether nothing of the group, portion or contents is left.

        Raises:
            RecordMismatchError: contents that were sent before.
        """
        entries = fields.get("entries")
        if isinstance(entries, list):
            self._sets.shown.dropped(named, [str(entry) for entry in entries], int(str(fields["left"])))
            return fields["left"] == 0
        if kind_and_number(named[1])[0] == "contents" and self._sets.is_sent(named) and fields["reason"] != _LEFT:
            raise RecordMismatchError("contents were dropped after they were sent")
        return True

    def went(self, user_id: str) -> None:
        """A user was erased, or objects."""
        self._barred |= self._entered.pop(user_id, set())

    def took_back(self, user_id: str, epoch: int, parties: frozenset[str]) -> None:
        """It was acknowledged to a user that in an epoch these parties are no longer allowed anything."""
        entered = self._entered.get(user_id, set())
        self._barred |= {(party, before) for party, before in entered if party in parties and before < epoch}

    def state(self) -> SplitDeliveriesState:
        """For storing."""
        return self._entered, self._barred, self._says

    def restore(self, state: SplitDeliveriesState) -> None:
        """Go on from a state."""
        self._entered, self._barred, self._says = state
