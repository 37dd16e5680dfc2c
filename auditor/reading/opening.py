"""From leaves to events (check 2 of DESIGN 10.4): every payload opens, or is covered by an ERASED or EXPIRED.

Opening a payload takes the auditor's key and the person's evidence key, which IS gives out and deletes on erasure.
The auditor keeps neither that key nor a chain key: a later audit asks again, starting from the leaf that holds the
seal. What is covered can only be decided when all logs were read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from auditor.findings import GATEWAY, OPENING, Report
from auditor.reading.belongs import Seals
from auditor.reading.damage import Damage
from auditor.reading.source import EvidenceSource, KeySource
from proxid.crypto.hpke import OpeningKey
from proxid.errors import EncodingError, PayloadUnreadableError, ProxidError
from proxid.evidence.events import Event, EventType
from proxid.evidence.leaf import OPEN_TAG, Leaf, LeafHeader, Part, part_context
from proxid.evidence.parts import join
from proxid.evidence.ratchet import ChainReader, is_sealed_to, open_seal, owner_salt, subject_tag

_CHUNK: Final = 256


UnopenedState = tuple[dict[bytes, tuple[str, int, int]], dict[str, int], bool]
"""`by_tag` and `gone` of `Unopened`, and whether some seal was the auditor's."""


@dataclass(slots=True)
class Unopened:
    """What does not open: counts by subject tag, with the first leaf; leaves whose payload is not kept at all.

    Attributes:
        by_tag: tag → (log, number of the first leaf, how many parts).
        gone: log → number of the last leaf whose payload is not there at all.
    """

    by_tag: dict[bytes, tuple[str, int, int]] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    seals: Seals = field(default_factory=Seals)

    def state(self) -> UnopenedState:
        """For storing."""
        return self.by_tag, self.gone, self.seals.before or self.seals.ours > 0

    def restore(self, state: UnopenedState) -> None:
        """Go on from a state."""
        self.by_tag, self.gone, self.seals.before = state

    def add(self, tag: bytes, log: str, number: int) -> None:
        """One more part that does not open."""
        first, at, count = self.by_tag.get(tag, (log, number, 0))
        self.by_tag[tag] = (first, at, count + 1)


class Opener:
    """Opens the leaves of one log, in order.

    Args:
        log: its name. origin: its name in checkpoints. auditor: own key. keys: where evidence keys come from.
        damage: gets the leaves that the service can no longer show. base: entries of older logs of the service, from
            which numbers that are told count; those in leaves do not.
    """

    def __init__(
        self, log: str, origin: str, auditor: OpeningKey, keys: KeySource, report: Report, unopened: Unopened,
        damage: Damage | None = None, base: int = 0,
    ) -> None:  # fmt: skip
        self.log = log
        self._origin = origin
        self._auditor = auditor
        self._keys = keys
        self._report = report
        self._unopened = unopened
        self._damage = damage or Damage()
        self._base = base
        self._chains: dict[bytes, ChainReader | None] = {}
        self._seeds: dict[bytes, OpeningKey | None] = {}
        self._owner_salts: dict[bytes, bytes] = {}
        """By subject tag, until LINKED of the tag is read."""
        self.seal_of: dict[bytes, int] = {}
        """Number of the leaf that holds the newest seal of a tag: kept between audits, no secret."""

    def events(self, source: EvidenceSource, first: int, end: int, seen: Callable[[Leaf], None]) -> Iterator[Event]:
        """Events `first` … `end`−1; `seen` gets every leaf first. Raises EvidenceUnreadableError."""
        leaves, number = source.leaves(first, end), first
        while chunk := list(islice(leaves, _CHUNK)):
            parts = [self._parts(leaf) for leaf in chunk]
            self._fetch([part for row in parts for part in row if part is not None], source)
            for leaf, row in zip(chunk, parts, strict=True):
                seen(leaf)
                event = self._event(number, leaf, row)
                number += 1
                if event is not None:
                    yield event
            # A key is needed where a chain begins; the chain goes on without it.
            self._seeds.clear()

    @staticmethod
    def _parts(leaf: Leaf) -> list[Part | None]:
        return [_part(data) for data in leaf.parts]

    def _fetch(self, parts: Sequence[Part], source: EvidenceSource) -> None:
        """Ask for the keys of chains that these parts begin or go on with."""
        wanted = {p.tag for p in parts if p.tag != OPEN_TAG and (p.seal or p.tag not in self._chains)}
        # A chain that an earlier audit has begun: its seal is in a leaf that was read then.
        seals = {tag: self._old_seal(tag, source) for tag in wanted if tag in self.seal_of}
        tags = sorted(wanted)
        for tag, seed in zip(tags, self._keys.keys(tags) if tags else [], strict=True):
            key = _evidence_key(tag, seed)
            self._seeds[tag] = key
            if key is not None and self.log == GATEWAY:
                self._owner_salts[tag] = owner_salt(key.seed)
            self._chains[tag] = self._reader(tag, seals[tag], key) if seals.get(tag) else None

    def _old_seal(self, tag: bytes, source: EvidenceSource) -> bytes:
        number = self.seal_of[tag]
        for leaf in source.leaves(number, number + 1):
            for part in self._parts(leaf):
                if part is not None and part.tag == tag and part.seal:
                    return part.seal
        return b""

    def _reader(self, tag: bytes, seal: bytes, key: OpeningKey | None) -> ChainReader | None:
        seals = self._unopened.seals
        seals.seen += 1
        seals.keys += key is not None
        # Once is enough to know that the auditor's own key is the right one.
        seals.ours += not seals.ours and is_sealed_to(self._auditor, seal, self._origin, tag)
        if key is None:
            return None
        try:
            return ChainReader(open_seal(seal, self._origin, tag, key, self._auditor))
        except PayloadUnreadableError:
            return None

    def _event(self, number: int, leaf: Leaf, parts: list[Part | None]) -> Event | None:
        if leaf.lost:
            self._damage.lost.append(self._base + number)
            return None
        if leaf.damaged:
            self._damage.payloads.append(self._base + number)
        try:
            header = leaf.known
        except ProxidError:
            self._report.add(OPENING, self.log, self._base + number, "leaf's header is malformed")
            return None
        opened = [self._open(header, leaf, parts, at) for at in range(len(header.parts))]
        hidden = sum(1 for data in opened if data is None)
        try:
            payload = b"" if leaf.damaged else join(header.type, opened)
        except ProxidError:
            self._report.add(OPENING, self.log, self._base + header.number, "payload's parts are not those of its type")
            payload, hidden = b"", max(1, hidden)
        tags = tuple(tag for tag, _ in header.parts)
        gone = bool(tags) and not any(leaf.parts)
        salt = self._owner_salts.pop(tags[0], b"") if tags and header.type is EventType.LINKED else b""
        return Event(
            self._base + header.number, header.type, leaf.salt, header.fields, payload, hidden, tags, gone, salt
        )  # fmt: skip

    def _open(self, header: LeafHeader, leaf: Leaf, parts: list[Part | None], at: int) -> bytes | None:
        tag, digest = header.parts[at]
        self._report.checked[OPENING] += 1
        data = leaf.parts[at] if at < len(leaf.parts) else b""
        if not data and leaf.damaged:
            return None
        if not data:
            self._unopened.gone[self.log] = max(self._unopened.gone.get(self.log, 0), self._base + header.number)
            return None
        part = parts[at]
        if part is None or leaf.part_hashes[at] != digest or part.tag != tag:
            differs = "its person" if part is not None and part.tag != tag else "its hash"
            text = f"payload's part {at} is not the one that the leaf commits to: {differs} differs"
            self._report.add(OPENING, self.log, self._base + header.number, text, firm=True)
            return None
        if tag == OPEN_TAG:
            return part.body
        if part.seal:
            self.seal_of[tag] = header.number
            self._chains[tag] = self._reader(tag, part.seal, self._seeds.get(tag))
        return self._decrypt(header, part, at)

    def _decrypt(self, header: LeafHeader, part: Part, at: int) -> bytes | None:
        chain, tag = self._chains.get(part.tag), part.tag
        if chain is None:
            self._unopened.add(tag, self.log, self._base + header.number)
            return None
        try:
            data = chain.decrypt(part.index, part.body, part_context(self._origin, header.number, at, tag))
        except PayloadUnreadableError as error:
            self._report.add(OPENING, self.log, self._base + header.number, error.rule)
            return None
        return data

    def forget(self) -> None:
        """Drop every key: nothing that opens evidence outlives an audit."""
        self._chains.clear()
        self._seeds.clear()
        self._owner_salts.clear()


def _part(data: bytes) -> Part | None:
    """A part of its encoding; None for one that is gone or damaged."""
    try:
        return Part.decode(data) if data else None
    except EncodingError:
        return None


def _evidence_key(tag: bytes, seed: bytes) -> OpeningKey | None:
    """The evidence key of a tag; None if it is gone, or is another's."""
    if not seed:
        return None
    try:
        key = OpeningKey(seed)
    except ProxidError:
        return None
    return key if subject_tag(key.public.data) == tag else None
