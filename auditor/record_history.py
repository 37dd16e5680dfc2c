"""The history of one released record across both logs (`proxid explain`): from the request to each party.

For the auditor alone: it names people and texts.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from auditor.findings import GATEWAY, MAIN_SERVICE
from auditor.reading.events import log_events
from auditor.reading.source import EvidenceSource, KeySource
from auditor.trust import Trust
from proxid.crypto.identity import Link
from proxid.encoding import decode_text
from proxid.errors import InputError
from proxid.evidence.events import (
    BufferedPayload,
    DeliveredPayload,
    Event,
    EventType,
    LinkedPayload,
    ReleasedPayload,
    SanitizedPair,
)
from proxid.protocol.record import KIND_BASE, RecordBody, kind_and_number
from proxid.protocol.request import Utterance

_DIGITS: Final = 19


@dataclass(frozen=True, slots=True)
class RecordName:
    """A record: group of an epoch, and its position in it; or the request it came of; or an entry of a log."""

    epoch: int = 0
    group: int = 0
    position: int = 0
    session: str = ""
    log: str = ""
    leaf: int = 0

    @classmethod
    def parse(cls, text: str) -> "RecordName":
        """`EPOCH/GROUP/POSITION` (GROUP also `command-12`), a request hash in hexadecimal, or `LOG/LEAF`.

        Raises:
            InputError: it is none of them.
        """
        parts = text.split("/")
        if len(parts) == 2 and parts[0] in {GATEWAY, MAIN_SERVICE} and _is_number(parts[1]):
            return cls(log=parts[0], leaf=int(parts[1]))
        if len(parts) == 1 and len(text) >= 16 and all(c in "0123456789abcdef" for c in text):
            return cls(session=text)
        kind, dash, number = parts[1].rpartition("-") if len(parts) == 3 else ("", "", "")
        base = KIND_BASE.get(kind if dash else "general")
        if base is None or not all(_is_number(part) for part in (parts[0], number, parts[-1])):
            raise InputError(
                "a record is EPOCH/GROUP/POSITION, as 20650/3/0 or 20650/command-3/0, a request hash, or an entry of a "
                "log, as gateway/12"
            )
        return cls(int(parts[0]), base + int(number), int(parts[2]))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


@dataclass(slots=True)
class Step:
    """One event of a record's history: in which log, as which leaf, what it says."""

    log: str
    leaf: int
    event: str
    what: dict[str, Any]


@dataclass(slots=True)
class RecordHistory:
    """Reads both logs once and keeps what concerns one record."""

    trust: Trust
    name: RecordName
    steps: list[Step] = field(default_factory=list)
    _users: dict[str, str] = field(default_factory=dict)
    _kept: dict[str, list[Step]] = field(default_factory=dict)

    def read(self, gateway: EvidenceSource, service: EvidenceSource, keys: KeySource) -> list[Step]:
        """The steps in order; raises InputError if there is no such record, EvidenceUnreadableError."""
        if self.name.log:
            self._resolve(gateway if self.name.log == GATEWAY else service, keys)
        released: list[tuple[Event, ReleasedPayload]] = []
        for event in log_events(MAIN_SERVICE, service, keys, self.trust):
            self._service(event, released)
        position = self._find(released)
        for event in log_events(GATEWAY, gateway, keys, self.trust):
            self._gateway(event, position)
        if not self.steps and self.name.session not in self._kept:
            raise InputError("there is no such record in the logs")
        kept = self._kept.get(self.name.session, [])
        said = {(step.log, step.leaf) for step in kept}
        self.steps = [*kept, *(step for step in self.steps if (step.log, step.leaf) not in said)]
        order = {t: i for i, t in enumerate(("FORWARDED", "RECEIVED", "ANSWERED", "BUFFERED", "RAISED"))}
        self.steps.sort(key=lambda s: order.get(s.event, 9))
        return self.steps

    def _resolve(self, source: EvidenceSource, keys: KeySource) -> None:
        """From an entry of a log to the request or group that it is about; the entry itself is kept in any case."""
        name = self.name
        event = next((e for e in log_events(name.log, source, keys, self.trust) if e.number == name.leaf), None)
        if event is None:
            raise InputError("there is no such entry in the log, or it cannot be read")
        fields = event.fields
        self.steps.append(Step(name.log, event.number, event.type.value, dict(fields)))
        if "session" in fields:
            self.name = RecordName(session=str(fields["session"]))
        elif "epoch" in fields and "group" in fields:
            self.name = RecordName(int(str(fields["epoch"])), int(str(fields["group"])))
        else:
            self.name = RecordName(session="none")

    def _keep(self, log: str, event: Event, what: dict[str, Any]) -> None:
        session = str(event.fields.get("session", ""))
        step = Step(log, event.number, event.type.value, what)
        self._kept.setdefault(session, []).append(step)

    def _wanted(self, session: str) -> bool:
        return not self.name.session or session.startswith(self.name.session)

    def _service(self, event: Event, released: list[tuple[Event, ReleasedPayload]]) -> None:
        fields = event.fields
        if event.type is EventType.RELEASED:
            released.append((event, ReleasedPayload.decode(event.payload)))
        elif "session" in fields and self._wanted(str(fields["session"])):
            self._keep(MAIN_SERVICE, event, self._said(event))

    def _said(self, event: Event) -> dict[str, Any]:
        what: dict[str, Any] = {k: v for k, v in event.fields.items() if k != "session"}
        if event.type is EventType.BUFFERED and not event.hidden:
            payload = BufferedPayload.decode(event.payload)
            utterance = Utterance.from_opening(payload.opening)
            what |= {
                "person": payload.prox_id, "utterance": utterance.text, "kind": payload.kind,
                "category": "/".join(payload.path), "audience": payload.audience, "texts": list(payload.texts),
                "pipeline": payload.pipeline, "seasoned": payload.seasoned,
            }  # fmt: skip
        return what

    def _find(self, released: list[tuple[Event, ReleasedPayload]]) -> int | None:
        """The position of the record in its group, which is remembered; None if it was not released."""
        for event, payload in released:
            place = (int(str(event.fields["epoch"])), int(str(event.fields["group"])))
            records = [record.hex() for record in payload.records]
            if self.name.session:
                at = next((i for i, o in enumerate(records) if o.startswith(self.name.session)), None)
            else:
                at = self.name.position if place == (self.name.epoch, self.name.group) else None
            if at is None or at >= len(records):
                continue
            self.name = RecordName(*place, at, records[at])
            self._put(Step(MAIN_SERVICE, event.number, "RELEASED", self._released(event, payload, at)))
            return at
        full = next((s for s in self._kept if self.name.session and s.startswith(self.name.session)), "")
        self.name = RecordName(session=full or self.name.session)
        return None

    def _put(self, step: Step) -> None:
        """One more step, in the place of what was known of the same entry."""
        self.steps = [*(known for known in self.steps if (known.log, known.leaf) != (step.log, step.leaf)), step]

    @staticmethod
    def _released(event: Event, payload: ReleasedPayload, at: int) -> dict[str, Any]:
        shown = {}
        for party, _, bodies in payload.parties:
            if bodies[at]:
                body = RecordBody.decode(bodies[at])
                shown[party] = {"category": "/".join(body.path), "text": body.text, "rung": body.rung}
        owners = payload.owners or payload.published
        return {
            "epoch": event.fields["epoch"], "group": event.fields["group"], "position": at,
            "people": len(payload.published), "asked by": owners[at] or "erased",
            "published under": payload.published[at] or "erased", "shown": shown,
        }  # fmt: skip

    def _gateway(self, event: Event, position: int | None) -> None:
        fields, name = event.fields, self.name
        if event.type is EventType.LINKED and not event.hidden:
            link = Link.decode(LinkedPayload.decode(event.payload).link)
            self._users[link.prox_id] = link.user_id
        elif event.type in {EventType.FORWARDED, EventType.ANSWERED} and str(fields["session"]) == name.session:
            what = {} if event.hidden else {"user": self._user(SanitizedPair.decode(event.payload), event.type)}
            self._keep(GATEWAY, event, what)
        elif position is not None and event.type in {EventType.DELIVERED, EventType.DROPPED}:
            self._gateway_group(event, position)

    def _gateway_group(self, event: Event, position: int) -> None:
        if (event.fields["epoch"], event.fields["group"]) == (self.name.epoch, self.name.group):
            self._put(Step(GATEWAY, event.number, event.type.value, self._delivered(event, position)))

    @staticmethod
    def _user(pair: SanitizedPair, kind: EventType) -> str:
        side = pair.original if kind is EventType.FORWARDED else pair.sanitized
        return decode_text(side.message.user_block)

    @staticmethod
    def _delivered(event: Event, at: int) -> dict[str, Any]:
        what: dict[str, Any] = {"party": event.fields["party"]}
        if event.type is EventType.DROPPED:
            return {**what, "reason": event.fields["reason"]}
        pairs = DeliveredPayload.decode(event.payload).pairs
        # Entries of a portion that others took back are no longer among its pairs, so that positions say nothing.
        if kind_and_number(int(str(event.fields["group"])))[0] != "entries" and pairs[at]:
            what["as"] = decode_text(SanitizedPair.decode(pairs[at]).sanitized.message.user_block)
        return what
