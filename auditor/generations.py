"""A service's log and its successors, read one after the other as one log (check 1 of DESIGN 10.4).

A successor's first leaf names the last head of the log before it. Whatever an auditor, a witness or anybody else has
seen of that log must be covered by the named head: what is not is hidden. Leaves that the service can no longer show
are counted as damaged. Numbers go on: the first leaf of a successor comes after all that the named head covers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from auditor.checks.c1_heads import HeadCheck, HeadRules, says_more
from auditor.event_log import Log
from auditor.findings import HEADS, OPENING, Report, Unchecked
from auditor.reading.belongs import shown_head
from auditor.reading.damage import LISTED, Damage
from auditor.reading.opening import Opener, Unopened
from auditor.reading.source import EvidenceSource, Heads, KeySource
from auditor.scope import Hours
from proxid.crypto.hpke import OpeningKey
from proxid.errors import EncodingError, EvidenceLostError, EvidenceUnreadableError, NoteInvalidError, ProxidError
from proxid.evidence.checkpoint import Checkpoint, generation_of, open_checkpoint
from proxid.evidence.leaf import Leaf
from proxid.evidence.merkle import EMPTY_ROOT, Frontier
from proxid.evidence.note import Verifier
from proxid.evidence.promise import opened
from proxid.evidence.succession import Succession

_SEEN: Final = (
    "a device or party was shown a head beyond the one that the successor names; what was damaged or lost may "
    "explain it"
)


class AsFar:
    """An old log as far as its service can show it."""

    def __init__(self, source: EvidenceSource) -> None:
        self._source = source
        self.consistency, self.inclusion, self.heads, self.log = (
            source.consistency, source.inclusion, source.heads, source.log,
        )  # fmt: skip

    def leaves(self, first: int, end: int) -> Iterator[Leaf]:
        """Leaves until one is lost with all that follow."""
        try:
            yield from self._source.leaves(first, end)
        except EvidenceLostError:
            return


def named_head(following: EvidenceSource, log: str) -> Succession:
    """What a successor says of the log that it follows.

    Args:
        following: the successor. log: its name.

    Raises:
        EvidenceUnreadableError: its first leaf cannot be read. EncodingError: that names none.
    """
    leaf = next(iter(following.leaves(1, 2)), None)
    if leaf is None or leaf.lost:
        raise EvidenceUnreadableError(f"{log}: the first entry of a successor log cannot be read")
    return Succession.of_leaf(leaf)


@dataclass(slots=True)
class Part:
    """One log of a service in its order.

    Attributes:
        base: entries of the logs before. heads: those it is read by. size: None if there is no head to go by.
        old: a successor follows it. held: entries that it had, as that one admits, where the head covers fewer.
    """

    generation: int
    base: int
    rules: HeadRules
    check: HeadCheck
    opener: Opener
    source: EvidenceSource
    heads: Heads
    size: int | None
    old: bool = False
    held: int = 0

    def lost(self) -> range:
        """Numbers of the leaves that were to come and did not."""
        size = max(self.size or 0, self.held)
        return range(self.base + self.check.frontier.size + 1, self.base + size + 1)


class ReadState(NamedTuple):
    """How far one service's log was read, for storing.

    Attributes:
        number: of the next event. frontier: of the newest log's tree. seals: see `Opener.seal_of`.
        uncovered, exported: see `HeadCheck`. named, sizes: see `ReadLog`.
    """

    number: int
    generation: int
    base: int
    named: list[bytes]
    sizes: list[int]
    frontier: bytes
    seals: dict[bytes, int]
    uncovered: int
    exported: float | None
    damage: Damage


@dataclass(slots=True)
class ReadLog:
    """One service's log as it is read, across its successors.

    Attributes:
        first: verifier of the first log. witness, lag: see `HeadRules`. auditor, keys, unopened: see `Opener`.
        generation, base: of the newest log that was read, and the entries before it.
        named: the signed heads that successors name, of the first log on; empty if one names none. sizes: entries of
            those logs, as successors admit them. parts: of this audit.
    """

    log: Log
    first: Verifier
    witness: Verifier | None
    lag: float
    report: Report
    clock: Callable[[], float]
    auditor: OpeningKey
    keys: KeySource
    unopened: Unopened
    generation: int = 1
    base: int = 0
    named: list[bytes] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    heads: HeadCheck = field(init=False)
    opener: Opener = field(init=False)
    parts: list[Part] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.turn(1, 0)

    @property
    def rules(self) -> HeadRules:
        """Whom the newest log's heads must be signed by."""
        return HeadRules(self._verifier(self.generation), self.witness, self.lag)

    def _verifier(self, generation: int) -> Verifier:
        name = self.first.name if generation == 1 else f"{self.first.name}/{generation}"
        return Verifier(name, self.first.key)

    def turn(self, generation: int, base: int) -> None:
        """Go on with a log of which nothing was read yet."""
        self.generation, self.base = generation, base
        self.heads = HeadCheck(self.log.name, self.rules, Frontier(), self.report, self.clock)
        self.opener = Opener(
            self.log.name, self.rules.log.name, self.auditor, self.keys, self.report, self.unopened, self.log.damage,
            base,
        )  # fmt: skip

    def state(self) -> ReadState:
        """For storing."""
        return ReadState(
            self.log.next_number, self.generation, self.base, self.named, self.sizes, self.heads.frontier.encode(),
            self.opener.seal_of, self.heads.uncovered, self.heads.exported, self.log.damage,
        )  # fmt: skip

    def restore(self, state: ReadState) -> None:
        """Go on from a state."""
        self.turn(state.generation, state.base)
        self.named[:], self.sizes[:] = state.named, state.sizes
        self.log.damage.take_over(state.damage)
        self.log.next_number = state.number
        self.heads.uncovered, self.heads.exported = state.uncovered, state.exported
        self.heads.frontier = Frontier.decode(state.frontier)
        self.opener.seal_of = state.seals

    def begin(self, source: EvidenceSource, known: Sequence[bytes]) -> None:
        """Ask for the heads of what is new, and check them.

        Args:
            known: heads, of any of the service's logs, that somebody else was shown.

        Raises:
            EvidenceUnreadableError: the service is away, or shows no head.
        """
        heads = source.heads()
        generation = generation_of(shown_head(heads.latest, self.first.name)[1].origin, self.first.name)
        self.parts, read = [], self.generation
        while 0 < self.generation < generation:
            self.parts.append(self._old(source, known))
            size = self.parts[-1].held or self.parts[-1].size or self.heads.frontier.size
            self.sizes.append(size)
            self.turn(self.generation + 1, self.base + size)
        if 0 < generation < self.generation:
            self.report.once(HEADS, self.log.name, "an older log is shown than the one that was audited before")
            self.parts.append(self._part(source, heads, None))
            return
        self.report.scope.shown(
            self.log.name, self.rules.log, self.witness, heads, self.base + self.heads.frontier.size, self.base
        )  # fmt: skip
        self.parts.append(self._part(source, heads, self.heads.begin(source, heads, self._of(known))))
        self._compare_others(source, known, read)

    def _part(self, source: EvidenceSource, heads: Heads, size: int | None, old: bool = False) -> Part:
        return Part(self.generation, self.base, self.rules, self.heads, self.opener, source, heads, size, old)

    def _of(self, known: Sequence[bytes]) -> list[bytes]:
        return [note for note in known if note.startswith(f"{self.heads.origin}\n".encode())]

    def _compare_others(self, source: EvidenceSource, known: Sequence[bytes], read: int) -> None:
        """Heads that others were shown of logs that are not read now: of older ones, and of successors not shown.

        Args:
            read: the log that the last audit read last.
        """
        for note in known:
            generation = generation_of(note.partition(b"\n")[0].decode("utf-8", "replace"), self.first.name)
            own = self._verifier(generation)
            if 0 < generation < read and (named := self.named[generation - 1]):
                log, end = source.log(generation), open_checkpoint(named, own)[0]
            elif generation > self.generation:
                log, end = source, Checkpoint(own.name, 0, EMPTY_ROOT)
            else:
                continue
            check = HeadCheck(self.log.name, HeadRules(own), Frontier(), self.report, self.clock)
            check.compare(log, end, [note])
            self.heads.missing += check.missing

    def compare(self, note: bytes) -> bool:
        """A head that a service showed to others, once the logs are read; whether it is a beginning of its log.

        One that is newer than what was read says nothing yet, and one of an older log is compared with what the next
        one names. Where that admits a loss, a head of the moment before accuses nobody: nobody else may hold it.
        """
        head, generation = opened(note, self.first)
        source, rules = self.parts[-1].source, HeadRules(self._verifier(generation))
        if generation == self.generation:
            end = open_checkpoint(self.parts[-1].heads.latest, rules.log)[0]
        elif generation < self.generation and (named := self.named[generation - 1]):
            source, end = source.log(generation), open_checkpoint(named, rules.log)[0]
        else:
            end = Checkpoint(head.origin, 0, EMPTY_ROOT)
        if generation == self.generation and head.size > end.size:
            return False
        lost = generation < self.generation and (
            self.log.damage.is_lost(self.entries_before(generation + 1))
            or end.size < head.size <= self.sizes[generation - 1]
        )
        found = Report()
        check = HeadCheck(self.log.name, rules, Frontier(), found, self.clock)
        if lost and head.size > end.size:
            told = [Unchecked(HEADS, self.log.name, _SEEN)]
        else:
            check.compare(source, end, [note])
            told = [] if lost else check.missing  # what was lost is told, and with it what proves
        self.report.checked += found.checked
        for violation in found.violations:
            self.report.once(violation.rule, violation.log, violation.text)
        self.report.missing += [reason for reason in told if reason not in self.report.missing]
        return not (told or check.missing or found.violations)

    def accuse_silent(self, hours: Hours) -> None:
        """Once the logs are read: the service has long since been told of damage, admits nothing and shows nothing.

        What an audit that goes on finds whole again, in a file that was put back, it reads with `--fresh`. Of an
        exported folder the time of the export counts.
        """
        last = self.parts[-1]
        overdue = self.log.damage.overdue(hours)
        here = [number - last.base for number in overdue if last.base < number <= last.base + (last.size or 0)]
        for number in here[:LISTED]:
            leaf = next(iter(last.source.leaves(number, number + 1)), None)
            if leaf is None or leaf.lost or leaf.damaged:
                text = "leaf is damaged for more than a week, and the service has not admitted that"
                self.report.add(OPENING, self.log.name, last.base + number, text)

    def entries_before(self, generation: int) -> int | None:
        """Entries before any of the service's logs; None if that is not known."""
        if generation == self.generation:
            return self.base
        if generation > self.generation or not all(self.named[: generation - 1]):
            return None
        return sum(self.sizes[: generation - 1])

    def _old(self, source: EvidenceSource, known: Sequence[bytes]) -> Part:
        """A log that a successor follows, up to the head that this one names."""
        own = AsFar(source.log(self.generation))
        try:
            cosigned = own.heads().cosigned
        except EvidenceUnreadableError:
            cosigned = ()
        said = self._named(source.log(self.generation + 1))
        named = b"" if said is None else said.note
        self.named.append(named)
        heads = Heads(named, cosigned)
        size, held = None, 0
        if said is not None:
            held = said.held if said.held > opened(named, self.first)[0].size else 0
            self.heads.demand_no_witness()
            before = len(self.report.violations)
            size = self.heads.begin(own, heads, [*self._of(known), *cosigned], held)
            if len(self.report.violations) > before:
                # What it hides is its own fault alone: nobody else is measured by what is left.
                self.log.damage.hidden = True
        part = self._part(own, heads, size, old=True)
        part.held = held
        return part

    def _named(self, following: EvidenceSource) -> Succession | None:
        """What the next log says of this one; None if it names no head, which is a violation."""
        try:
            said = named_head(following, self.log.name)
            note = open_checkpoint(said.note, self.rules.log)[1]
        except (EncodingError, NoteInvalidError, ValueError) as error:
            why = error.rule if isinstance(error, ProxidError) else "it is malformed"
            self.report.once(HEADS, self.log.name, f"a successor log names no head of the log before it: {why}")
            return None
        self.report.counts["events.newer"] += says_more(note, self.witness)
        return said

    def base_of(self, generation: int) -> int:
        """Entries before a log that was shown in this audit."""
        return next((part.base for part in self.parts if part.generation == generation), self.base)
