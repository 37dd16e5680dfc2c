"""Heads that other auditors and witnesses were shown (DESIGN 10.5): kept for every audit, and shown to whoever asks.

    data_dir/heads/NAME.head       NAME begins the SHA-256 of who brought it, origin, size and root

Only heads that a service signed are kept. Two of one log that contradict each other are both kept: together they prove
that it showed two histories, to anybody.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from auditor.findings import GATEWAY, MAIN_SERVICE
from auditor.report.series import newest
from auditor.trust import Trust
from proxid.errors import NoteInvalidError, OutputError, OversizedError
from proxid.evidence.checkpoint import Checkpoint, generation_of, open_checkpoint, origin
from proxid.evidence.note import Verifier
from proxid.regular import regular_bytes
from proxid.runtime.provision.public import write_public

MOST: Final = 64
"""Heads of one call."""
KEPT: Final = 8
"""Heads of one log that are kept of one peer: the longest ones."""
FOLDER: Final = "heads"
_NAME: Final = 16


class Exchange:
    """Takes and shows heads.

    Args:
        folder: of the heads, made if absent. reports: the auditor's own series, whose newest heads are shown too.
    """

    def __init__(self, folder: Path, reports: Path, trust: Trust) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder, self._reports, self._trust = folder, reports, trust

    def take(self, peer: str, notes: Sequence[bytes]) -> None:
        """Keep heads that a peer was shown.

        Args:
            peer: role and name.

        Raises:
            OversizedError: too many. NoteInvalidError: one is of no log that is audited here; then none is kept.
            OutputError: the folder cannot be written.
        """
        if len(notes) > MOST:
            raise OversizedError(f"more than {MOST} heads in one call")
        whose = hashlib.sha256(peer.encode()).hexdigest()[:_NAME]
        for note, head in [(note, self._verified(note)) for note in notes]:
            log = hashlib.sha256(head.origin.encode()).hexdigest()[:_NAME]
            root = head.root.hex()[:_NAME]
            path = self._folder / f"{whose}-{log}-{head.size:020}-{root}.head"
            if not path.exists():
                write_public(path, note.decode("utf-8"))
            for old in sorted(self._folder.glob(f"{whose}-{log}-*.head"))[:-KEPT]:
                try:
                    old.unlink()
                except OSError:
                    raise OutputError(f"{old.name}: the file cannot be deleted").at(str(old)) from None

    def _verified(self, note: bytes) -> Checkpoint:
        named = note.partition(b"\n")[0].decode("utf-8", "replace")
        for name, key in ((GATEWAY, self._trust.screener), (MAIN_SERVICE, self._trust.service_key)):
            if generation_of(named, origin(self._trust.service, name)):
                return open_checkpoint(note, Verifier(named, key))[0]
        raise NoteInvalidError("head is of no log that is audited here")

    def shown(self) -> list[bytes]:
        """The newest heads that the last audit read, and what others brought: at most MOST."""
        last = newest(self._reports)
        own = [] if last is None else sorted(last.glob("*.head"))
        notes = []
        for path in [*own, *sorted(self._folder.glob("*.head"))][:MOST]:
            with suppress(OSError):  # an older one just went
                notes.append(regular_bytes(path))
        return notes

    @property
    def compared(self) -> list[Path]:
        """What an audit is given to compare."""
        return [self._folder] if any(self._folder.glob("*.head")) else []
