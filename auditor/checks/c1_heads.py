"""Signed heads (check 1 of DESIGN 10.4): one history, the same for every auditor and witness.

The auditor hashes every new leaf itself, from the right edge it kept of the last audit: the signed head must be
what its own tree comes to. Heads that others have seen (a witness's, another auditor's) must be beginnings of it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from auditor.findings import HEADS, Report, Unchecked
from auditor.reading.belongs import shown_head
from auditor.reading.source import EvidenceSource, Heads
from proxid.errors import EvidenceForeignError, EvidenceUnreadableError, ProxidError
from proxid.evidence.checkpoint import Checkpoint, open_checkpoint, verify_cosignature
from proxid.evidence.leaf import Leaf
from proxid.evidence.merkle import HASH_SIZE, Frontier, verify_consistency, verify_inclusion
from proxid.evidence.note import Note, Verifier

LOCATED: Final = 20_000
"""Leaves among which a changed one is looked for by its inclusion proof."""


@dataclass(frozen=True, slots=True)
class HeadRules:
    """Whom a log's heads must be signed by.

    Attributes:
        log: the service's verifier. witness: whose cosignature must be there, or None.
        lag: seconds that the newest cosignature may be old.
    """

    log: Verifier
    witness: Verifier | None = None
    lag: float = 120.0


def says_more(note: Note, witness: Verifier | None) -> bool:
    """Whether under a head of the log's more stands than its own signature, and a cosignature that holds."""
    cosigned = False
    with suppress(ProxidError):
        cosigned = witness is not None and verify_cosignature(note, witness) > 0
    return len(note.signatures) > 1 + cosigned


@dataclass(slots=True)
class Expected:
    """Heads that the tree must have had at their sizes, each with what to say otherwise."""

    heads: dict[int, list[tuple[bytes, str]]] = field(default_factory=dict)

    def add(self, head: Checkpoint, text: str) -> None:
        """One more."""
        self.heads.setdefault(head.size, []).append((head.root, text))


class HeadCheck:
    """Check 1 for one log.

    Args:
        name: of the log. frontier: of the leaves that earlier audits read; it goes on here.
    """

    def __init__(
        self, name: str, rules: HeadRules, frontier: Frontier, report: Report, clock: Callable[[], float]
    ) -> None:
        self._name = name
        self._rules = rules
        self.frontier = frontier
        self._report = report
        self.clock = clock
        self.uncovered = 0
        """Size of the log when no recent head was cosigned: the witness has to cosign as much of it later."""
        self.exported: float | None = None
        """Unix time of the exported folder that was read last, if it was one."""
        self.missing: list[Unchecked] = []
        """What could not be checked when the heads were looked at last."""
        self._expected = Expected()
        self._hashes = bytearray()
        self.start = frontier.size
        """Leaves that were read before this audit."""
        self._answered: Iterator[tuple[int, bytes]] = iter(())
        self._answer: tuple[int, bytes] | None = None
        self._answered_text = ""

    @property
    def origin(self) -> str:
        """The log's name in its heads."""
        return self._rules.log.name

    def demand_no_witness(self) -> None:
        """The log is not written to any more: nobody cosigns it anew."""
        self._rules = HeadRules(self._rules.log)

    def begin(
        self, source: EvidenceSource, heads: Heads, known: Sequence[bytes] = (), held: int = 0
    ) -> int | None:  # fmt: skip
        """Check the heads that are shown; the size to read up to, or None if there is no head to go by.

        Args:
            known: heads of this log that somebody else was shown. held: entries that the log had, which was lost with
                what lies behind its head.

        Raises:
            EvidenceForeignError: the folder was exported before the one that was audited last.
            EvidenceUnreadableError: what is shown is no head.
        """
        shown_head(heads.latest, self.origin)
        self.missing = []
        self.start, self._hashes = self.frontier.size, bytearray()
        self._expected = Expected()
        try:
            latest, _ = open_checkpoint(heads.latest, self._rules.log)
        except ProxidError as error:
            self._violation(f"newest head: {error.rule}")
            return None
        self._report.checked[HEADS] += 1
        self._verify_export(latest, heads)
        if latest.size < self.frontier.size <= held:
            self._unchecked(f"what an earlier audit read behind entry {latest.size} was lost, as the service admits")
            for data in known:
                self._shown_to_others(source, latest, data, reads=False)
            return latest.size
        if latest.size < self.frontier.size:
            self._violation("log is shorter than at an earlier audit")
            return None
        self._expected.add(latest, "leaves do not lead to the signed head: one was changed, or the history is forked")
        self._witnessed(source, latest, heads)
        for data in known:
            self._shown_to_others(source, latest, data)
        self._verify_now()
        return latest.size

    def _verify_export(self, latest: Checkpoint, heads: Heads) -> None:
        before, self.exported = self.exported, heads.time
        if heads.time is None or before is None or latest.size >= self.frontier.size:
            return
        if heads.time < before:
            raise EvidenceForeignError("the folder was exported before the one that was audited last (see --no-state)")

    def _witnessed(self, source: EvidenceSource, latest: Checkpoint, heads: Heads) -> None:
        witness = self._rules.witness
        if witness is None:
            return
        now = self.clock() if heads.time is None else heads.time
        # A log that stands still is cosigned again too: whoever shows yesterday's shows yesterday's cosignature.
        recent, found, ahead = -1, False, False
        for data in heads.cosigned:
            seconds = self._cosignature(data, witness)
            if seconds is None:
                continue
            found = True
            head = self._known(source, latest, data, "the head that the witness cosigned")
            # One of tomorrow would be recent until then, whatever is kept back meanwhile.
            ahead |= seconds - now > self._rules.lag
            if head is not None and abs(now - seconds) <= self._rules.lag:
                recent = max(recent, head.size)
        if recent < 0:
            # A witness that was away and a service that hides a cosignature look alike: neither is clean.
            text = "the witness has cosigned no recent head" if found else "no head is cosigned by the witness"
            if ahead:
                text = (
                    "the witness has cosigned a head at a time that has not come: its clock or the auditor's is wrong"
                )
            self._unchecked(f"{text}; audit again when it has")
            self.uncovered = max(self.uncovered, latest.size)
        elif recent < self.uncovered:
            self._unchecked(
                f"the witness has not yet cosigned what an earlier audit read, up to entry {self.uncovered}"
            )
        else:
            self.uncovered = 0

    def _cosignature(self, data: bytes, witness: Verifier) -> int | None:
        """When the witness cosigned a head; None if it did not, which is a violation if that is claimed."""
        try:
            note = Note.decode(data)
            if all((s.name, s.key_id) != (witness.name, witness.id) for s in note.signatures):
                return None  # another witness's
            return verify_cosignature(note, witness)
        except ProxidError as error:
            self._violation(f"a head that is shown as cosigned: {error.rule}")
            return None

    def compare(self, source: EvidenceSource, end: Checkpoint, known: Sequence[bytes]) -> None:
        """Heads that others were shown of a log of which nothing is read now.

        Args:
            end: what the log is held to: its last head, or the empty log's if it is never shown.
        """
        for data in known:
            self._shown_to_others(source, end, data, reads=False)

    def _shown_to_others(self, source: EvidenceSource, latest: Checkpoint, data: bytes, reads: bool = True) -> None:
        what = "a head that somebody else was shown"
        try:
            head, _ = open_checkpoint(data, self._rules.log)
        except ProxidError as error:
            # Whoever makes a head up accuses nobody.
            self._unchecked(f"{what} shows nothing: {error.rule}")
            return
        if reads and self.exported is not None and head.size > latest.size:
            self._unchecked(f"{what} is younger than the exported folder; export again")
            return
        self._known(source, latest, data, what, reads)

    def _known(
        self, source: EvidenceSource, latest: Checkpoint, data: bytes, what: str, reads: bool = True
    ) -> Checkpoint | None:
        """A head that others have: it must be a beginning of the newest. None if it is none, or cannot be compared."""
        self._report.checked[HEADS] += 1
        try:
            head, _ = open_checkpoint(data, self._rules.log)
        except ProxidError as error:
            self._violation(f"{what}: {error.rule}")
            return None
        text = f"{what} is not a beginning of this history: it is forked"
        if head.size > latest.size:
            self._violation(f"{what} is of a longer history than this one")
        elif reads and head.size >= self.frontier.size:
            self._expected.add(head, text)
        elif not self._is_proven(source, head, latest, what, text):
            return None
        return head

    def _is_proven(self, source: EvidenceSource, head: Checkpoint, latest: Checkpoint, what: str, text: str) -> bool:
        """A head older than what this audit reads: the service proves it, against the newest head."""
        try:
            proof = source.consistency(head.size, latest.size) if 0 < head.size < latest.size else []
            verify_consistency(head.size, head.root, latest.size, latest.root, proof)
        except EvidenceUnreadableError as error:
            self._unchecked(f"{what} could not be compared: {error.rule}")
            return False
        except ProxidError:
            self._violation(text)
            return False
        return True

    def leaf(self, leaf: Leaf) -> None:
        """The next leaf, as it was read."""
        found = leaf.hash
        if len(self._hashes) < LOCATED * HASH_SIZE:
            self._hashes += found
        self.frontier.append(found)
        self._verify_now()

    def expect(self, heads: Iterator[tuple[int, bytes]], text: str) -> None:
        """Sizes, rising, and roots that the tree must have had, besides; and what to say otherwise."""
        self._answered, self._answered_text = heads, text
        self._answer = next(heads, None)

    def _verify_now(self) -> None:
        while self._answer is not None and self._answer[0] <= self.frontier.size:
            if self._answer != (self.frontier.size, self.frontier.root):
                self._violation(self._answered_text)
            self._answer = next(self._answered, None)
        for root, text in self._expected.heads.pop(self.frontier.size, []):
            if root != self.frontier.root:
                self._violation(text)

    def end(self, source: EvidenceSource, size: int, root_note: bytes) -> None:
        """After the last leaf: what was not reached is missing; a leaf that does not belong is looked for."""
        if self.frontier.size < size:
            self._violation(f"log ends after leaf {self.frontier.size}, and its signed head covers more")
        head, _ = open_checkpoint(root_note, self._rules.log)
        if (head.size, head.root) != (self.frontier.size, self.frontier.root):
            self._locate(source, head)

    def _locate(self, source: EvidenceSource, head: Checkpoint) -> None:
        """Name the first leaf that does not belong, if proofs tell it from the others."""
        for at in range(len(self._hashes) // HASH_SIZE):
            if not self._is_included(source, head, at):
                # Where no leaf can be proven, the proofs are no good, or all of the leaves are.
                if at or len(self._hashes) == HASH_SIZE or self._is_included(source, head, 1):
                    text = "leaf hash is not the one that the signed head covers: salt or header was changed"
                    self._report.add(HEADS, self._name, self.start + at + 1, text)
                return

    def _is_included(self, source: EvidenceSource, head: Checkpoint, at: int) -> bool:
        number, leaf = self.start + at + 1, bytes(self._hashes[at * HASH_SIZE : (at + 1) * HASH_SIZE])
        try:
            verify_inclusion(leaf, number - 1, head.size, source.inclusion(number, head.size), head.root)
        except ProxidError:
            return False
        return True

    def _violation(self, text: str) -> None:
        self._report.once(HEADS, self._name, text)

    def _unchecked(self, text: str) -> None:
        self.missing.append(Unchecked(HEADS, self._name, text))
