"""What devices and parties present, kept durably for every audit to come (DESIGN 10.5).

    data_dir/presented/ROLE/NAME/receipts.jsonl     one line an item, as `--receipts` reads them, with when it came

Only what the services (or the party itself) signed is kept, once, whoever brings it: so it is evidence, not opinion.
What one peer may fill is bounded, by its name and not by its certificate, so that a renewed one brings no new room.
It names people, so it goes when its time is over: by then every audit since has compared it.
"""

import base64
import fcntl
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple, Self

from auditor.checks.c9_receipts import ACKNOWLEDGEMENT, OF_DEVICES, PROMISE, acknowledged, read_receipts
from auditor.trust import Trust
from proxid.errors import (
    MALFORMED,
    InputError,
    MessageInvalidError,
    OutputError,
    OversizedError,
    PeerRefusedError,
    RateLimitError,
)
from proxid.runtime.entry_file import EntryFile, read_entries
from proxid.runtime.transport.peers import Peer

MOST: Final = 256
"""Items of one call."""
FOLDER, FILE = "presented", "receipts.jsonl"
_OVERHEAD: Final = 256
"""Bytes of a line beside the message."""


class Item(NamedTuple):
    """One item as it is presented: kind, session (request hash), the signed message."""

    kind: str
    session: bytes
    message: bytes

    @property
    def name(self) -> bytes:
        """What it is known by, 32 bytes: kind and message; the session is its holder's word."""
        return hashlib.sha256(self.kind.encode() + b"\0" + self.message).digest()


def _name(row: dict[str, Any]) -> bytes:
    return Item(row["kind"], b"", base64.b64decode(row["message"])).name


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """For one process at a time; raises OutputError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "lock").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError:
        raise OutputError(f"{folder}: another service keeps what is presented there") from None
    except OSError:
        raise OutputError(f"{folder}: cannot be written") from None


class PresentedStore:
    """The folder, open for writing, and an index of what is in it.

    Args:
        room: bytes of one peer. keep: seconds after which an item goes. clock: Unix seconds.
    """

    def __init__(
        self, folder: Path, trust: Trust, room: int, keep: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder, self._trust, self._room, self._keep, self._clock = folder, trust, room, keep, clock
        self._stack, self._lock = ExitStack(), Lock()
        self._known: set[bytes] = set()
        self._files: dict[Peer, EntryFile] = {}
        self._used: dict[Peer, int] = {}

    def __enter__(self) -> Self:
        """Read what is there; a line that a crash cut off is cut away.

        Raises:
            InputError: a file is damaged. OutputError: it cannot be written, or another service writes it.
        """
        self._stack.enter_context(_alone(self._folder))
        for path in sorted(self._folder.glob(f"*/*/{FILE}")):
            self._open(Peer(path.parent.parent.name, path.parent.name))
            self._known |= {Item(item.kind, item.session, item.message).name for item in read_receipts(path)}
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self, peer: Peer) -> EntryFile:
        peer = Peer(peer.role, peer.name)
        if peer not in self._files:
            path = self._folder / peer.role / peer.name / FILE
            self._files[peer] = self._stack.enter_context(EntryFile(path))
            self._used[peer] = path.stat().st_size
        return self._files[peer]

    def keep(self, peer: Peer, items: Sequence[Item]) -> tuple[int, int]:
        """Keep what is new; how many were, and how many were known. All of a call are kept, or none.

        Raises:
            PeerRefusedError: a role presents what it cannot hold. OversizedError: too many items.
            MessageInvalidError: a kind that nobody knows. RateLimitError: no room is left for this peer.
            ProxidError: an item is no message that these services or this party signed. OutputError.
        """
        if len(items) > MOST:
            raise OversizedError(f"more than {MOST} items in one call")
        with self._lock:
            fresh = {item.name: item for item in items if item.name not in self._known}
            for item in fresh.values():
                self._verify(peer, item)
            file, rows = self._open(peer), [self._row(item) for item in fresh.values()]
            size = sum(len(row["message"]) + _OVERHEAD for row in rows)
            peer = Peer(peer.role, peer.name)
            if self._used[peer] + size > self._room:
                raise RateLimitError("what this peer has presented fills its room")
            if rows:
                file.extend(rows)
            self._used[peer] += size
            self._known |= set(fresh)
        return len(fresh), len(items) - len(fresh)

    def expire(self) -> None:
        """Drop what was presented too long ago; raises OutputError, InputError, and then the file is as it was."""
        least = int((self._clock() - self._keep) * 1000)
        with self._lock:
            for peer, file in self._files.items():
                path = self._folder / peer.role / peer.name / FILE
                try:
                    rows = {_name(row): row for _, row in read_entries(path)}
                    kept = {name: row for name, row in rows.items() if row["time_ms"] >= least}
                except MALFORMED:
                    raise InputError(f"{path}: a line is nothing that was presented; take it out") from None
                if len(kept) < len(rows):
                    file.rewrite(kept.values())
                    self._used[peer] = path.stat().st_size
                    self._known -= rows.keys() - kept.keys()

    def _verify(self, peer: Peer, item: Item) -> None:
        if peer.role == "device":
            genuine = OF_DEVICES.get(item.kind)
            if genuine is None:
                raise MessageInvalidError("kind is none that a device holds")
            genuine(item.message, self._trust)
            return
        if item.kind == PROMISE:
            OF_DEVICES[PROMISE](item.message, self._trust)
            return
        if item.kind != ACKNOWLEDGEMENT:
            raise MessageInvalidError("kind is none that a party holds")
        if acknowledged(item.message, self._trust).party != peer.name:
            raise PeerRefusedError("acknowledgement is another party's")

    def _row(self, item: Item) -> dict[str, Any]:
        message = base64.b64encode(item.message).decode("ascii")
        at = int(self._clock() * 1000)
        return {"kind": item.kind, "session": item.session.hex(), "message": message, "time_ms": at}
