"""Payloads are filed under the evidence of whom they are of (check 2 of DESIGN 10.4).

Else somebody's erasure would hide what another did, and leave readable what is the erased person's.
"""

from collections import Counter

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c2_filed import Filed, FiledSets, Members
from auditor.checks.c3_links import People
from auditor.event_log import SHARED, check_of, is_acknowledged
from auditor.findings import APART, ERASURE, GATEWAY, MAIN_SERVICE, MISFILED, OPENING, Report
from auditor.policies import Policies
from proxid.errors import PayloadUnreadableError, ProxidError
from proxid.evidence.events import DeliveredPayload, Event, EventType, ReleasedPayload
from proxid.evidence.leaf import OPEN_TAG
from proxid.evidence.parts import PERSONS, person_of_pair
from proxid.protocol.consent import parse_audience

_NOT_YET = frozenset({EventType.ENROLLED, EventType.LINKED})
"""Their tags are compared with the link itself."""
_ANOTHERS = "payload is filed under another person's evidence"
_TAKEN = "something was taken of somebody who had been erased"
_AWAY = 30 * 86_400.0
"""Seconds for which a service may be away, and come back to what waited."""


def verify_filed(log: str, event: Event, people: People) -> bool:
    """Check the subject tags of an event whose payload opens, as far as it does; whether all are of whom it names.

    Raises:
        PayloadUnreadableError: a part is filed under another person than it is of.
    """
    try:
        found = _persons(log, event)
    except ProxidError:
        return False  # its handler says that it is malformed
    good = bool(found)
    for tag, prox_id in found:
        if prox_id and tag == OPEN_TAG:
            raise PayloadUnreadableError("payload is filed where no erasure takes it, and anybody can read it")
        filed = people.of_tag(tag) if prox_id else None
        # Whose link the gateway's log shows stands under no tag of nobody. MS may have had another credential, if that
        # log was begun anew.
        known = people.find(prox_id) if filed is None and prox_id and log == GATEWAY else None
        if known is not None or (filed is not None and filed.prox_id != prox_id):
            raise PayloadUnreadableError(_ANOTHERS)
        good &= filed is not None
    return good


class Filing:
    """Links that a log's events of one person are filed under, by headers as far as they do not open.

    Under one that has expired, or of somebody who was erased, nobody reads what an event says, nor whose it is. But
    what comes of one request, in both logs, stands under one link, whether or not it opens. Where a log was begun anew,
    or a key was gone when something was recorded, there is no link of one of the two.
    """

    def __init__(self, log: str, people: People, erasures: Erasures, filed: FiledSets, report: Report) -> None:
        self._log, self._people, self._erasures, self._filed, self._report = log, people, erasures, filed, report

    def verify(self, event: Event) -> None:
        """An event of the log, in its order; raises RuleBroken."""
        with check_of(OPENING):
            opens = bool(event.payload) and verify_filed(self._log, event, self._people)
            if event.type in PERSONS[self._log] and event.tags and event.tags[0]:
                self._verify_together(event, opens)
            elif event.type in SHARED:
                self._verify_members(event, opens)

    def _verify_together(self, event: Event, opens: bool) -> None:
        asked, tag = str(event.fields.get("session", event.fields.get("message", ""))), event.tags[0]
        filed = self._filed.of(asked) if asked else None
        if filed is None:
            if asked and self._log == GATEWAY:
                self._filed.add(asked, Filed(tag, event.number, opens))
        elif filed.tag != tag and {filed.tag, tag} <= self._erasures.epochs.keys():
            if self._log == GATEWAY or filed.opens:
                raise PayloadUnreadableError(_ANOTHERS)
            if opens:
                self._report.once(OPENING, GATEWAY, f"{_ANOTHERS} (leaf {filed.event})")
            else:
                self._report.counts[APART] += 1

    def _verify_members(self, event: Event, opens: bool) -> None:
        """Whom a party got a group of is in it, as far as the gateway's log knows their links, and was not erased."""
        fields, tags = event.fields, event.tags[1:]
        if self._log == GATEWAY and not self._erasures.erased.keys().isdisjoint(tags):
            raise PayloadUnreadableError("a group was delivered with somebody in it who had been erased")
        parties = [str(fields["party"])] if event.type is EventType.DELIVERED else _parties(str(fields["audience"]))
        own = Members(tags[-(len(tags) // 2) :] if event.type is EventType.RELEASED else tags, event.number, opens)
        for party in parties if tags else []:
            named = (int(str(fields["epoch"])), int(str(fields["group"])), party)
            other = self._filed.other(self._log, named, own)
            if other is None:
                continue
            delivered, released = (own, other) if self._log == GATEWAY else (other, own)
            if all(released.tags) and (cut := Counter(released.tags) - Counter(delivered.tags)):
                self._filed.cut(named, cut.elements())
            self._compare(delivered, released)

    def _compare(self, delivered: Members, released: Members) -> None:
        more = Counter(delivered.tags) - Counter(released.tags)
        if more.keys().isdisjoint(self._erasures.epochs):
            return
        if released.opens == delivered.opens:
            self._report.counts[APART] += 1
        elif released.opens:
            self._report.add(OPENING, GATEWAY, delivered.event, f"DELIVERED: {_ANOTHERS}")
        else:
            self._report.add(OPENING, MAIN_SERVICE, released.event, f"RELEASED: {_ANOTHERS}")


class ScreenerFiling(Filing):
    """The same of the gateway's log, which says who was linked when.

    Args:
        policies: say which epochs had begun.
    """

    def __init__(
        self, people: People, erasures: Erasures, filed: FiledSets, policies: Policies, report: Report
    ) -> None:
        super().__init__(GATEWAY, people, erasures, filed, report)
        self._policies = policies
        self._early: set[bytes] = set()
        """Tags that nobody was linked under so far: what stands under them and is not covered ends each audit."""
        self.entered = (0, b"")
        """Number and tag of the newest ENROLLED, which is recorded in one step with the first link by it."""

    def verify(self, event: Event) -> None:
        """See `Filing.verify`.

        A consent says its epoch, which the link must be of. What was recorded when the link may have been gone already,
        so that it never could be read, is counted: clocks may have been wrong.
        """
        tag = event.tags[0] if event.tags else b""
        if event.type is EventType.ENROLLED:
            self.entered = (event.number, tag)
        elif event.type is EventType.LINKED:
            self._linked(event, tag)
        elif tag and event.type in PERSONS[GATEWAY]:
            self._take(event, tag)
        super().verify(event)

    def _linked(self, event: Event, tag: bytes) -> None:
        if tag in self._early:
            self._report.add(
                OPENING, GATEWAY, event.number, "LINKED: evidence stands under a link before there was one"
            )
        number, entered = self.entered
        if number and number + 1 == event.number and entered != tag:
            self._report.add(OPENING, GATEWAY, number, f"ENROLLED: {_ANOTHERS}")

    def _take(self, event: Event, tag: bytes) -> None:
        epoch, policies = self._erasures.epochs.get(tag), self._policies
        if tag in self._erasures.erased and _is_new(event):
            self._report.add(ERASURE, GATEWAY, event.number, f"{event.type.value}: {_TAKEN}")
        if epoch is None:
            self._early.add(tag)
            return
        if event.type is EventType.CONSENT:
            if event.fields.get("epoch", epoch) != epoch:
                self._report.add(OPENING, GATEWAY, event.number, f"CONSENT: {_ANOTHERS}")
            if not event.fields.keys() >= {"epoch", "message"}:
                self._report.older("consents")
        age = (max(policies.told, default=epoch) - epoch) * policies.trust.epochs.seconds
        if not event.payload and age > max(policies.trust.floors.links, _AWAY):
            self._report.counts[MISFILED] += 1


def _is_new(event: Event) -> bool:
    """Whether it comes of something that was taken just then: what was taken before may be answered behind ERASED."""
    return event.type is EventType.FORWARDED or (event.type is EventType.CONSENT and not is_acknowledged(event))


def _parties(audience: str) -> list[str]:
    return [party for party, _ in parse_audience(audience.partition("|")[2])]


def _persons(log: str, event: Event) -> list[tuple[bytes, str]]:
    """Subject tag and PROX_ID of each part, which is empty where it cannot be read; raises EncodingError."""
    if event.type is EventType.RELEASED:
        payload = ReleasedPayload.decode(event.payload)
        return [*zip(event.tags[1:], (*(payload.owners or payload.published), *payload.published), strict=True)]
    if event.type is EventType.DELIVERED:
        pairs = DeliveredPayload.decode(event.payload).pairs
        return [*zip(event.tags[1:], [person_of_pair(pair) if pair else "" for pair in pairs], strict=True)]
    person = None if event.type in _NOT_YET else PERSONS[log].get(event.type)
    return [] if person is None else [(event.tags[0], person(event.payload))]
