"""The Main Service's log (checks 2 to 7 of DESIGN 10.4)."""

from typing import Final

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c3_links import People
from auditor.checks.c3_tuples import Tuples
from auditor.checks.c4_pipeline import Pipeline
from auditor.checks.c5_epochs import EpochTimes, TimesState
from auditor.checks.c5_groups import Groups, GroupsState
from auditor.checks.c5_shapes import verify_shape
from auditor.checks.c5_spill import Spill
from auditor.checks.c6_taken_back import TakenBack, TakenBackState
from auditor.checks.c7_completeness import HIDDEN_OWNERS, Sets
from auditor.checks.c8_kept import Kept, KeptState
from auditor.checks.c8_obligations import Obligations
from auditor.event_log import Log, check_of
from auditor.findings import COMMITS, COMPLETENESS, CONSENT, ERASURE, GROUPS, MAIN_SERVICE, OPENING, SIGNATURES, Report
from auditor.policies import Policies
from auditor.split_events import SplitEvents
from auditor.trust import Trust
from proxid.crypto.sansig import Role, SignedMessage, verify
from proxid.encoding import decode
from proxid.errors import CommitMismatchError, ConsentError, GroupMismatchError, MessageInvalidError
from proxid.evidence.events import BufferedPayload, Event, EventType, Header, ReceivedPayload, ReleasedPayload
from proxid.protocol import consent, request
from proxid.protocol.record import kind_and_number
from proxid.protocol.request import Utterance

ServiceState = tuple[
    GroupsState, dict[str, tuple[bytes, str] | None], set[int], dict[str, str], set[bytes], TimesState, KeptState,
    TakenBackState,
]  # fmt: skip
"""Replays, open requests, epochs that were opened, bundles by PROX_ID, tags of unknown consent, times, what waits, what
is to be withdrawn."""
_WAITS: Final = frozenset({EventType.BUFFERED, EventType.RELEASED})


class ServiceLog(Log):
    """Checks each event, replays the groups and fills the sets of check 7."""

    def __init__(
        self, policies: Policies, people: People, tuples: Tuples, sets: Sets, erasures: Erasures,
        obligations: Obligations, spill: Spill, report: Report,
    ) -> None:  # fmt: skip
        self._policies = policies
        self._trust = trust = policies.trust
        self._people = people
        self._tuples = tuples
        self._sets = sets
        self._groups = Groups(policies, spill)
        self._times = EpochTimes(policies, report)
        self._split = SplitEvents(policies, self._groups, sets, self._times, report)
        self._commits: dict[str, tuple[bytes, str] | None] = {}
        """Commit and PROX_ID of requests that were received; None where that cannot be read."""
        self._unknown: set[bytes] = set()
        """Subject tags of people whose consent at MS cannot be read."""
        self._opened: set[int] = set()
        self._kept = Kept()
        self._taken_back = TakenBack(policies, people, self._groups, obligations, report)
        self._bundles: dict[str, str] = {}
        self._erasures = erasures
        self._obligations = obligations
        self._pipeline = None if trust.classifier is None else Pipeline(trust.classifier)
        rules = {
            EventType.EPOCH_OPENED: (GROUPS, self._epoch_opened),
            EventType.EPOCH_CLOSED: (GROUPS, self._epoch_closed),
            EventType.CONSENT: (SIGNATURES, self._consent),
            EventType.RECEIVED: (SIGNATURES, self._received),
            EventType.REFUSED: (COMPLETENESS, self._refused),
            EventType.BUFFERED: (GROUPS, self._buffered),
            EventType.RAISED: (GROUPS, self._raised),
            EventType.RELEASED: (GROUPS, self._released),
            EventType.TICKED: (GROUPS, self._split.ticked),
            EventType.BATCHED: (GROUPS, self._split.batched),
            EventType.SUPPRESSED: (COMPLETENESS, self._suppressed),
            EventType.WITHDRAWN: (COMPLETENESS, self._withdrawn),
            EventType.ERASED: (ERASURE, self._erased),
            EventType.EXPIRED: (OPENING, self._expired),
        }
        hidden = {
            EventType.CONSENT: self._consent_unread,
            EventType.RECEIVED: self._received_unread,
            EventType.BUFFERED: self._buffered_unread,
            EventType.RELEASED: self._released_unread,
            EventType.EPOCH_OPENED: self._epoch_opened_unread,
        }
        super().__init__(MAIN_SERVICE, rules, hidden, report)

    def take(self, event: Event) -> None:
        """See `Log.take`; whoever was forgotten neither waits nor leaves any more."""
        try:
            self._taken_back.verify_done(event)
        except ConsentError as error:
            self._report.add(CONSENT, MAIN_SERVICE, event.number, f"CONSENT: {error.rule}")
        super().take(event)
        if event.type in _WAITS and not self._obligations.forgotten.isdisjoint(event.tags):
            text = "of a person whom the main service had said to have forgotten"
            self._report.add(ERASURE, MAIN_SERVICE, event.number, f"{event.type.value}: {text}")

    def _epoch_opened(self, event: Event) -> None:
        fields = event.fields
        epoch = int(str(fields["epoch"]))
        sealed = self._policies.began(event, self._report)
        self._opened.add(epoch)
        self._groups.opened(epoch, bytes.fromhex(str(fields["commitment"])), sealed)
        self._times.opened(event)

    def _epoch_opened_unread(self, event: Event) -> None:
        epoch = int(str(event.fields["epoch"]))
        self._policies.began_unread(event, self._report)
        self._groups.opened_blind(epoch)
        self._opened.add(epoch)
        with check_of(GROUPS):
            self._times.opened(event)

    def _epoch_closed(self, event: Event) -> None:
        if int(str(event.fields["epoch"])) not in self._opened:
            raise GroupMismatchError("an epoch was closed that was never opened")
        self._groups.closed(int(str(event.fields["epoch"])))
        self._times.closed(event)

    def _consent(self, event: Event) -> None:
        message, _ack, _credential = decode(event.payload, 3)
        signed, trust = SignedMessage.decode(message), self._trust
        person = self._people.of_key(signed.header.signer)
        expected = consent.expectation(trust.service, person.epoch, signed.header.signer, trust.screener)
        verify(signed, expected, Role.SANITIZER)
        self._bundles[person.prox_id] = consent.read(signed)[0]
        self._taken_back.consented(person.epoch, person.prox_id, consent.read(signed)[0])
        self._unknown.difference_update(event.tags)

    def _consent_unread(self, event: Event) -> None:
        self._unknown.update(event.tags)

    def _received(self, event: Event) -> None:
        session = str(event.fields["session"])
        payload = ReceivedPayload.decode(event.payload)
        signed = SignedMessage.decode(payload.request)
        with check_of(COMPLETENESS):
            good = self._sets.received(session, signed.header.time_ms, event.number)
        # Whatever is wrong with it, what follows in the session is compared with it: one fault is told once.
        blocks = signed.message.blocks
        if len(blocks) == request.BLOCKS:
            self._commits[session] = (blocks[request.COMMIT], blocks[request.USER].decode("utf-8", "replace"))
        self._tuples.received(signed, payload.credential, good)
        with check_of(GROUPS):
            self._times.verify_received(signed.header.epoch, signed.header.time_ms)
        if signed.session_id.hex() != session:
            raise MessageInvalidError("session id is not the request's hash")

    def _received_unread(self, event: Event) -> None:
        session = str(event.fields["session"])
        self._sets.received(session, 0, event.number)
        self._commits[session] = None

    def _refused(self, event: Event) -> None:
        self._sets.refused(str(event.fields["session"]))

    def _buffered_unread(self, event: Event) -> None:
        self._kept.buffered(event)
        fields = event.fields
        session = str(fields["session"])
        self._sets.buffered(session)
        self._commits.pop(session, None)
        self._groups.blinded(int(str(fields["epoch"])), str(fields.get("kind", "general")))

    def _buffered(self, event: Event) -> None:
        self._kept.buffered(event)
        payload = BufferedPayload.decode(event.payload)
        session = payload.session.hex()
        self._sets.buffered(session)
        received = self._commits.pop(session, (b"", ""))
        self._report.checked[COMMITS] += 1
        with check_of(COMMITS):
            commit = Utterance.from_opening(payload.opening).commit
            if received is not None and received[0] != commit:
                raise CommitMismatchError("buffered utterance does not open the request's commit")
            if self._pipeline is not None and not self._pipeline.verify(payload):
                self._report.counts["pipeline.unknown"] += 1
        if received is not None and received[1] != payload.prox_id:
            raise GroupMismatchError("record is buffered for another person than asked")
        epoch = int(str(event.fields.get("epoch", 0)))
        judge = self._policies.of(epoch)
        with check_of(CONSENT):
            self._verify_audience(event, payload, judge)
        person = self._people.of_prox(payload.prox_id)
        if person.epoch != epoch:
            raise GroupMismatchError("record waits in another epoch than its person's")
        if judge is not None and judge.pipeline not in ("", payload.pipeline):
            raise GroupMismatchError("record was made by another pipeline than the policy demands")
        if payload.seasoned != person.seasoned:
            raise GroupMismatchError("record counts as seasoned otherwise than its credential says")
        self._groups.buffered(person.epoch, payload)

    def _verify_audience(self, event: Event, payload: BufferedPayload, judge: Trust | None) -> None:
        """What waits was allowed by the bundle in effect at MS, for exactly its audience."""
        if judge is None or not self._unknown.isdisjoint(event.tags):
            self._report.counts["consents.unknown"] += 1
            return
        self._report.checked[CONSENT] += 1
        grants = judge.bundles.get(self._bundles.get(payload.prox_id, consent.NOTHING), ())
        if payload.audience != consent.audience_id(consent.audience(grants, payload.kind)) or not payload.audience:
            raise ConsentError("record waits for an audience that the person's bundle does not allow")

    def _raised(self, event: Event) -> None:
        fields = event.fields
        nodes = (_path(fields["source"]), _path(fields["target"]))
        session = bytes.fromhex(str(fields["session"]))
        if "kind" in fields:
            epoch, kind = int(str(fields["epoch"])), str(fields["kind"])
            if not self._groups.is_blind(epoch, kind):
                self._groups.slots(epoch, kind, str(fields["close"])).verify_raised(session, nodes)
            return
        self._groups.raised(int(str(fields["epoch"])), session, nodes, float(str(fields["time"])))

    def _released(self, event: Event) -> None:
        fields = event.fields
        epoch, number = int(str(fields["epoch"])), int(str(fields["group"]))
        payload = ReleasedPayload.decode(event.payload)
        self._kept.released(event, [session.hex() for session in payload.records])
        with check_of(COMPLETENESS):
            good = self._sets.released_to((epoch, number), payload, event.number)
        for session in payload.records:
            if session:
                self._end(session.hex(), "released", event)
            else:
                self._report.counts[HIDDEN_OWNERS] += 1
        kind = str(fields.get("kind", "general"))
        if kind != kind_and_number(number)[0]:
            raise GroupMismatchError("group is numbered as one of another kind")
        if kind == "entries":
            self._split.entries(event, epoch, number, payload, good)
            return
        self._report.counts[f"group.size.{kind}.{len(payload.records):02d}"] += 1
        if event.hidden or self._groups.is_blind(epoch, kind):
            self._report.counts["groups.partly_erased"] += 1
            verify_shape(self._policies, epoch, kind, payload)
            if not self._groups.is_blind(epoch, kind):
                self._groups.released_unread((epoch, number), kind, str(fields.get("close", "")), payload)
        elif "kind" in fields:
            self._groups.released_slot((epoch, number), str(fields["kind"]), str(fields["close"]), payload, good)
        else:
            self._groups.released(epoch, number, payload, good)

    def _released_unread(self, event: Event) -> None:
        self._kept.released(event, [])
        fields = event.fields
        place = (int(str(fields["epoch"])), int(str(fields["group"])))
        self._report.counts[HIDDEN_OWNERS] += len(event.tags) // 2  # an open part, the owners', the people's
        for party, _ in consent.parse_audience(str(fields["audience"]).partition("|")[2]):
            self._sets.released((*place, party), event.number)
        kind = str(fields.get("kind", "general"))
        if kind == "entries":
            self._split.entries_unread(*place)
        elif not self._groups.is_blind(place[0], kind):
            self._groups.released_unread(place, kind, str(fields.get("close", "")), None)

    def _suppressed(self, event: Event) -> None:
        fields = event.fields
        session = str(fields["session"])
        self._kept.ended(session)
        self._commits.pop(session, None)
        waited = self._sets.is_buffered(session)
        self._end(session, str(fields["reason"]), event)
        with check_of(GROUPS):
            self._given_up(fields, session, waited)

    def _given_up(self, fields: Header, session: str, waited: bool) -> None:
        epoch, reason = int(str(fields.get("epoch", 0))), str(fields["reason"])
        if waited and "kind" in fields:
            kind = str(fields["kind"])
            if not self._groups.is_blind(epoch, kind):
                self._groups.slots(epoch, kind, str(fields["close"])).verify_gone(bytes.fromhex(session), reason)
        elif waited and "tick" in fields:
            self._split.gone(epoch, bytes.fromhex(session), reason)
        elif waited:
            self._groups.gone(epoch, bytes.fromhex(session), reason, float(str(fields["time"])))

    def _withdrawn(self, event: Event) -> None:
        fields = event.fields
        epoch, session = int(str(fields["epoch"])), bytes.fromhex(str(fields["session"]))
        if "left" not in fields:
            self._kept.ended(str(fields["session"]))
            self._end(str(fields["session"]), "withdrawn", event)
        kind, left = str(fields.get("kind", "general")), fields.get("left") is True
        with check_of(GROUPS):
            self._taken_back.withdrawn(epoch, session, self._groups.withdrawn(epoch, session, kind, left))

    def _end(self, session: str, fate: str, event: Event) -> None:
        self._sets.ended(session, fate, event.number)

    def _erased(self, event: Event) -> None:
        tag = bytes.fromhex(str(event.fields["tag"]))
        self._obligations.forgotten.add(tag)
        self._kept.erased(tag)

    def _expired(self, event: Event) -> None:
        self._erasures.expiry(MAIN_SERVICE, event, self.base)

    def state(self) -> ServiceState:
        """For storing."""
        own = (self._commits, self._opened, self._bundles, self._unknown)
        return self._groups.state(), *own, self._times.state(), self._kept.state(), self._taken_back.state()

    def restore(self, state: ServiceState) -> None:
        """Go on from a state."""
        groups, self._commits, self._opened, self._bundles, self._unknown, times, kept, taken_back = state
        self._taken_back.restore(taken_back)
        self._kept.restore(kept)
        self._times.restore(times)
        self._groups.restore(groups)

    def finish(self) -> None:
        """What only the whole log shows: groups that formed and were never released stay pending."""
        try:
            self._report.counts["groups.pending"] = self._groups.unreleased()
        except GroupMismatchError as error:
            self._report.add(GROUPS, MAIN_SERVICE, 0, error.rule)
        self._times.finish()
        self._taken_back.finish(max(self._opened, default=-1), bool(self._unknown))


def _path(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("a node is a list")
    return tuple(str(part) for part in value)
