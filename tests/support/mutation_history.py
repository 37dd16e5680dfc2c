"""Recorded histories of real services, and the logs that a lying one would have written of them.

A history is what both services' writers were given, event by event and in plain, with the keys of everybody: so a log
can be made again of other events, from the first leaf to its signed head and the promises that go with it.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from auditor.audit import Audit, AuditOptions
from auditor.checks.c9_receipts import Presented
from auditor.findings import Report
from auditor.reading.source import Heads
from auditor.trust import Trust
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.sansig import Message, SignedMessage, sign
from proxid.crypto.sansig.scheme import resign
from proxid.evidence.checkpoint import Checkpoint, origin
from proxid.evidence.events import EventType, SanitizedPair, decode_header
from proxid.evidence.leaf import Leaf
from proxid.evidence.merkle import Frontier, consistency_proof, inclusion_proof, root_of
from proxid.evidence.parts import NOBODY
from proxid.evidence.promise import Promise
from proxid.evidence.ratchet import Chain, subject_tag
from proxid.protocol.rights import ErasedDisclosure, Told, erased_info
from proxid.runtime.evidence_log.encryptor import Encryptor, PlainEvent
from proxid.runtime.evidence_log.writer import EvidenceWriter

LOGS = ("gateway", "main-service")
SERVICE = "main-service"
E = EventType
IN_EPOCHS = {E.BUFFERED, E.RAISED, E.SUPPRESSED, E.RELEASED, E.TICKED, E.BATCHED, E.WITHDRAWN, E.DROPPED, E.SENT}
"""What is replayed, or rests on what is."""
ASKED = {
    "CONSENT": "message", "ACCESSED": "request", "OBJECTED": "request", "ERASED": "request", "DELIVERED": "ack",
    "RESTRICTED": "word",
}  # fmt: skip
"""Which field of a header names what a promise is of."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event of a history.

    Attributes:
        gone: its payload has expired. person: somebody else's PROX_ID, whose evidence a liar files parts under.
        whose: those of whom. at: its place in the honest log, which promises were given by.
    """

    event: PlainEvent
    at: int
    gone: bool = False
    person: str | None = None
    whose: str = NOBODY


@dataclass
class History:
    """What was recorded. Of each log its events; evidence keys (public) by PROX_ID, and those that IS gives out."""

    trust: Trust
    keys: dict[str, SigningKey]
    auditor: OpeningKey
    now: float
    events: dict[str, list[Entry]] = field(default_factory=lambda: {log: [] for log in LOGS})
    evidence: dict[str, bytes] = field(default_factory=dict)
    seeds: dict[bytes, bytes] = field(default_factory=dict)
    presented: list[Presented] = field(default_factory=list)
    chains: dict[tuple[str, str], "Chained"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._leaves: dict[str, list[Leaf]] = {}
        self._dark: tuple[set[Any], set[Any]] | None = None

    def told_anew(self) -> None:
        """What the main service promised of objections, and the heads that came with answers, are of its log as it is
        told here.
        """
        shown, told = Shown(SERVICE, self.honest(SERVICE), self.keys[SERVICE]), self.events[SERVICE]
        self.events["gateway"] = self._of_gateway(told, shown)
        self.presented = [self._received(one, told, shown) for one in self.presented]

    def _promised(self, event: PlainEvent, entries: Sequence[Entry], shown: "Shown") -> PlainEvent:
        said = ErasedDisclosure.decode(self.auditor.open(event.payload, erased_info(SERVICE)))
        pairs = []
        for tag, data in said.owner_salts:
            told = Told.decode(data)
            promise = self._anew(Promise.decode(told.promise), SERVICE, entries, shown).encode()
            pairs.append((tag, dataclasses.replace(told, promise=promise).encode()))
        sealed = self.auditor.public.seal(
            dataclasses.replace(said, owner_salts=tuple(pairs)).encode(), erased_info(SERVICE)
        )
        return dataclasses.replace(event, payload=sealed)

    def _anew(self, promise: Promise, log: str, entries: Sequence[Entry], shown: "Shown") -> Promise:
        head = _head_again(promise.head, entries, shown)
        made = dataclasses.replace(promise, number=_number(promise, entries), head=head, signature=b"")
        return made.sign(self.keys[log])

    def _answered(self, event: PlainEvent, entries: Sequence[Entry], shown: "Shown") -> PlainEvent:
        """An answer with a head of the main service's log as it is told."""
        pair = SanitizedPair.decode(event.payload)
        original = self._with_head(pair.original, entries, shown)
        made = SanitizedPair(original, self._restored(original, pair.sanitized))
        return dataclasses.replace(event, payload=made.encode())

    def _with_head(self, signed: SignedMessage, entries: Sequence[Entry], shown: "Shown") -> SignedMessage:
        *blocks, head = signed.message.blocks
        return sign(Message(signed.header, (*blocks, _head_again(head, entries, shown))), self.keys[SERVICE])

    def _restored(self, original: SignedMessage, held: SignedMessage) -> SignedMessage:
        return resign(original, held.message.user_block, self.keys["gateway"], lambda _: None)

    def _of_gateway(self, entries: Sequence[Entry], shown: "Shown") -> list[Entry]:
        """The gateway's entries, with the promises and heads of a main service that tells another log."""
        told = []
        for entry in self.events["gateway"]:
            event = entry.event
            if event.type is EventType.OBJECTED and not entry.gone:
                event = self._promised(event, entries, shown)
            elif event.type is EventType.ANSWERED and not entry.gone:
                event = self._answered(event, entries, shown)
            told.append(dataclasses.replace(entry, event=event))
        return told

    def people(self, log: str, entry: Entry) -> set[str]:
        """Under whose PROX_IDs the evidence of an event is filed."""
        return {part.person for part in self._encryptor(log).split(entry.event).parts} - {NOBODY}

    def is_readable(self, log: str, entry: Entry) -> bool:
        """Whether the auditor can open all of an event's payload."""
        people = self.people(log, entry)
        return not entry.gone and all(self.seeds.get(subject_tag(self.evidence[person])) for person in people)

    def is_hidden(self, log: str, entry: Entry) -> bool:
        """Whether what an event says could be seen only in what was erased or has expired: its own payload, its
        request's, or that of something that waited in its epoch (docs/evidence.md).
        """
        if not self.is_readable(log, entry):
            return True
        if entry.event.type is E.ENROLLED:  # where some have expired, nobody can say which there were
            return any(one.gone for one in self.events[log])
        if self._dark is None:
            dark = [(name, one) for name in LOGS for one in self.events[name] if not self.is_readable(name, one)]
            said = [(name, one.event.type, decode_header(one.event.fields)) for name, one in dark]
            sessions = {fields["session"] for _, _, fields in said if "session" in fields}
            waited = (EventType.BUFFERED, EventType.EPOCH_OPENED)
            epochs = {fields["epoch"] for name, kind, fields in said if name == SERVICE and kind in waited}
            self._dark = sessions, epochs
        fields = decode_header(entry.event.fields)
        return fields.get("session") in self._dark[0] or (
            entry.event.type in IN_EPOCHS and fields.get("epoch") in self._dark[1]
        )

    def _encryptor(self, log: str) -> "Again":
        return Again(log, self)

    def leaves(self, log: str, entries: Sequence[Entry]) -> list[Leaf]:
        """The leaves of events, numbered without a gap."""
        encryptor, found = self._encryptor(log), []
        for number, entry in enumerate(entries, 1):
            event = dataclasses.replace(entry.event, number=number)
            encryptor.person, encryptor.whose = entry.person, entry.whose
            (leaf,) = encryptor.leaves([encryptor.split(event)], self.evidence)
            if entry.gone:
                encryptor.renew()  # the next chain begins in what is kept
                leaf = dataclasses.replace(leaf, parts=())
            found.append(leaf)
        return found

    def honest(self, log: str) -> list[Leaf]:
        """The leaves of the honest log, made once."""
        if log not in self._leaves:
            self._leaves[log] = self.leaves(log, self.events[log])
        return self._leaves[log]

    def audit(self, liar: str = "", entries: Sequence[Entry] = (), leaves: Sequence[Leaf] = ()) -> Report:
        """Audit from nothing; `liar` shows a log of these entries (`leaves`), signed and promised as its own."""
        told = {log: entries if log == liar else self.events[log] for log in LOGS}
        shown = {log: leaves if log == liar else self.honest(log) for log in LOGS}
        logs = {log: Shown(log, shown[log], self.keys[log]) for log in LOGS}
        if liar == SERVICE:
            made = self.leaves("gateway", self._of_gateway(entries, logs[SERVICE]))
            logs["gateway"] = Shown("gateway", made, self.keys["gateway"])
        receipts = [self._again(one, told, logs) for one in self.presented]
        if liar == SERVICE:
            receipts = [self._received(one, entries, logs[SERVICE]) for one in receipts]
        options = AuditOptions(settle=0.0, owed=0.0, receipts=receipts)
        return Audit(self.trust, Keys(self.seeds), options, lambda: self.now).run(logs["gateway"], logs["main-service"])

    def _again(self, one: Presented, told: Mapping[str, Sequence[Entry]], logs: dict[str, "Shown"]) -> Presented:
        """What somebody holds, promised of the logs as they are told now."""
        if one.kind != "promise":
            return one
        promise = Promise.decode(one.message)
        log = next(name for name in LOGS if promise.log == origin(SERVICE, name))
        return dataclasses.replace(one, message=self._anew(promise, log, told[log], logs[log]).encode())

    def _received(self, one: Presented, entries: Sequence[Entry], shown: "Shown") -> Presented:
        """An answer that somebody holds, with a head of the main service's log as it is told."""
        if one.kind != "response":
            return one
        held = SignedMessage.decode(one.message)
        return dataclasses.replace(one, message=self._restored(self._with_head(held, entries, shown), held).encode())


def _head_again(note: bytes, entries: Sequence[Entry], shown: "Shown") -> bytes:
    """A head of the log as it is told, from when the honest one had the size that a head says."""
    size = Checkpoint.parse(note.decode().split("\n\n")[0] + "\n").size
    return shown.head(sum(entry.at <= size for entry in entries))


def _number(promise: Promise, entries: Sequence[Entry]) -> int:
    """Where the event stands that was promised; where it was promised, if it is told no more."""
    for number, entry in enumerate(entries, 1):
        if entry.at == promise.number:
            return number
    for number, entry in enumerate(entries, 1):
        event = entry.event
        if event.type == promise.type and decode_header(event.fields).get(ASKED[promise.type]) == promise.asked.hex():
            return number
    return promise.number


class Again(Encryptor):
    """Makes leaves with the chains of before, so that each seal is made once."""

    def __init__(self, log: str, history: History) -> None:
        super().__init__(log, origin(SERVICE, log), history.auditor.public)
        self._history = history
        self.person: str | None = None
        self.whose = NOBODY

    def _part(self, number: int, position: int, part: Any, keys: Any) -> Any:
        if self.person is not None and part.person == self.whose:
            part = dataclasses.replace(part, person=self.person)
        return super()._part(number, position, part, keys)

    def _chain(self, person: str, keys: Any) -> Any:
        if person not in self._chains and person in keys:
            known = self._history.chains.get((self._log, person))
            if known is None:
                made = super()._chain(person, keys)
                known = self._history.chains[self._log, person] = Chained(made.tag, made.seal, made._key)
            self._chains[person] = known.begin()
        return super()._chain(person, keys)


@dataclass(frozen=True, slots=True)
class Chained:
    """How a chain begins."""

    tag: bytes
    seal: bytes
    key: bytes

    def begin(self) -> Chain:
        chain = Chain.__new__(Chain)
        chain.tag, chain.seal, chain._key, chain.index = self.tag, self.seal, self.key, 0
        return chain


class Shown:
    """A log as its service shows it."""

    def __init__(self, log: str, leaves: Sequence[Leaf], key: SigningKey) -> None:
        self.name, self._leaves, self._key = origin(SERVICE, log), leaves, key
        self._hashes = [leaf.hash for leaf in leaves]
        self.size, frontier = len(leaves), Frontier()
        self._roots = [frontier.root]
        for digest in self._hashes:
            frontier.append(digest)
            self._roots.append(frontier.root)

    def head(self, size: int) -> bytes:
        return Checkpoint(self.name, size, self._roots[size]).sign(self._key).encode()

    def heads(self) -> Heads:
        return Heads(self.head(self.size))

    def leaves(self, first: int, end: int) -> Iterator[Leaf]:
        return iter(self._leaves[first - 1 : end - 1])

    def log(self, generation: int) -> "Shown":
        return self

    def _node(self, level: int, index: int) -> bytes:
        return root_of(self._hashes[index << level : (index + 1) << level])

    def consistency(self, old: int, size: int) -> list[bytes]:
        return consistency_proof(self._node, old, size)

    def inclusion(self, number: int, size: int) -> list[bytes]:
        return inclusion_proof(self._node, number - 1, size)


class Keys:
    """What IS gives out."""

    def __init__(self, seeds: dict[bytes, bytes]) -> None:
        self._seeds = seeds

    def keys(self, tags: Sequence[bytes]) -> list[bytes]:
        return [self._seeds.get(tag, b"") for tag in tags]


class Recorder:
    """Keeps what the writers of both services are given."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.events: dict[str, list[PlainEvent]] = {log: [] for log in LOGS}
        self.evidence: dict[str, bytes] = {}
        honest, keys, known = EvidenceWriter._log_events, EvidenceWriter._keys, self

        async def log_events(self: EvidenceWriter, events: Sequence[PlainEvent]) -> None:
            await honest(self, events)
            known.events["gateway" if self._prefix == "{gw}" else "main-service"] += events

        async def found(self: EvidenceWriter, items: Any) -> dict[str, bytes]:
            told = await keys(self, items)
            known.evidence |= told
            return told

        patch.setattr(EvidenceWriter, "_log_events", log_events)
        patch.setattr(EvidenceWriter, "_keys", found)
