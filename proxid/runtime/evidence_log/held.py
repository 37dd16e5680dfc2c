"""Signed heads that others hold of this service's log, and what this one holds of the other's (DESIGN 10.2).

    DATA/heads/own.head      the newest head of the own log that anybody has shown
    DATA/heads/other.head    the newest head of the other service's log
    DATA/heads/other-N.head  the newest head of its log number N, once it has shown one of a successor

A head is signed over leaves that are on disk, so a log that is shorter than a head of it was put back or lost.
What a successor hides is told by the head of the log before it, so that one is kept and shown beside the successor's.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from proxid.errors import LogDamagedError, ProxidError
from proxid.evidence.checkpoint import Checkpoint, generation_of, open_checkpoint
from proxid.evidence.merkle import EMPTY_ROOT
from proxid.evidence.note import Verifier
from proxid.regular import regular_bytes
from proxid.runtime.evidence_log.generations import HEADS, OWN, SUCCESSOR
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.whole import replace_whole

_OTHER: Final = "other.head"
_BEFORE: Final = "other-{}.head"
Head = tuple[int, Checkpoint, bytes]
"""Generation of the log, head, signed note."""


class HeldHeads:
    """See the module.

    Args:
        data_dir: the service's. own, other: verifiers of the first logs of both services.
        reader: of the log that is written to. generation: its number. before: the head that it names, if any.
    """

    def __init__(
        self, data_dir: Path, own: Verifier, other: Verifier, reader: LogReader, generation: int,
        before: Checkpoint | None,
    ) -> None:  # fmt: skip
        self._folder = data_dir / HEADS
        self._own, self._other = own, other
        self._reader = reader
        self._generation = generation
        self._before = before

    def verify(self) -> None:
        """That the log holds what was shown of it before; raises LogDamagedError."""
        known = self._kept(OWN, self._own)
        if known is not None:
            self._compare(known)

    def take(self, notes: Sequence[bytes]) -> None:
        """Heads that somebody shows: those of the other log are kept, the own log is held against the rest.

        Notes that neither service signed are nothing.

        Raises:
            LogDamagedError: the own log is shorter than one of them, or another one.
        """
        for note in notes:
            own, other = _opened(note, self._own), _opened(note, self._other)
            if other is not None:
                self._keep(_OTHER, self._other, other)
            if own is not None:
                self._keep(OWN, self._own, own)
                self._compare(own)

    def shown(self) -> list[bytes]:
        """Its newest head, and the newest that it holds of the other's log and of the one that this follows."""
        own = [self._reader.checkpoint()] if self._reader.begun else []
        kept = self._kept(_OTHER, self._other)
        before = None if kept is None else self._kept(_BEFORE.format(kept[0] - 1), self._other)
        return [*own, *(head[2] for head in (kept, before) if head is not None)]

    def _kept(self, name: str, log: Verifier) -> Head | None:
        try:
            return _opened(regular_bytes(self._folder / name), log)
        except OSError:
            return None

    def _keep(self, name: str, log: Verifier, head: Head) -> None:
        kept = self._kept(name, log)
        if kept is None or (kept[0], kept[1].size) < (head[0], head[1].size):
            with suppress(OSError):  # without room the older one stays; it is shown again
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if kept is not None and kept[0] < head[0] and name == _OTHER:
                    replace_whole(self._folder / _BEFORE.format(kept[0]), kept[2])
                replace_whole(self._folder / name, head[2])

    def _compare(self, shown: Head) -> None:
        generation, head, _ = shown
        if generation == self._generation - 1 and self._before is not None and self._before.size < head.size:
            raise LogDamagedError(
                f"this log follows {head.origin} with {self._before.size} entries, and a signed head of it has "
                f"{head.size}: {self._back()}"
            )
        try:
            own = self._reader.head() if self._reader.begun else Checkpoint(self._own.name, 0, EMPTY_ROOT)
            root = self._reader.root(head.size) if generation == self._generation and head.size <= own.size else b""
        except LogDamagedError:
            return  # what is derived has rotted, and is made anew: it says nothing about the leaves
        if generation > self._generation or (generation == self._generation and head.size > own.size):
            raise LogDamagedError(
                f"the log {own.origin} has {own.size} entries, and a signed head of {head.origin} that the other "
                f"service or a witness holds has {head.size}: {self._back()}"
            )
        if root and root != head.root:
            raise LogDamagedError(
                f"the log {own.origin} is another one than a signed head of {head.size} entries that the other "
                f"service or a witness holds: {self._back()}"
            )

    def _back(self) -> str:
        return (
            f"an older copy was put back, or the folder was lost; nothing was changed. Put back the newest copy "
            f"(docs/operations.md, Backup and disaster); if there is none: {SUCCESSOR} --head {self._folder / OWN}"
        )


def _opened(note: bytes, first: Verifier) -> Head | None:
    """A head of one of a service's logs; None if it is none."""
    name = note.partition(b"\n")[0].decode("utf-8", "replace")
    generation = generation_of(name, first.name)
    try:
        return (generation, open_checkpoint(note, Verifier(name, first.key))[0], note) if generation else None
    except (ProxidError, ValueError):
        return None
