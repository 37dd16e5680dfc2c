"""What a device or party keeps of the gateway's logs: promises, and of each the newest head that it was shown (10.4).

    data_dir/heads/NAME.head    as `proxid audit --compare` takes it

A head that does not extend the one that is held is refused: somebody is shown another history.
"""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

from proxid.errors import (
    HistoryForkedError,
    InputError,
    OutputError,
    ProxidError,
    RefusedError,
    ResponseMismatchError,
    TreeProofError,
    UpstreamError,
)
from proxid.evidence.checkpoint import Checkpoint, origin
from proxid.evidence.events import EventType
from proxid.evidence.merkle import verify_consistency
from proxid.evidence.note import Verifier
from proxid.evidence.promise import Promise, opened
from proxid.runtime.provision.public import write_public

FOLDER: Final = "heads"
_NAME: Final = 32
Prove = Callable[[int, int, int], Awaitable[Sequence[bytes]]]
"""Asks the gateway for a consistency proof of its log: old size, new size, which of its logs."""


class GatewayHeads:
    """The heads of the gateway's logs.

    Args:
        folder: the party's data folder. service: the main service's id. key: pk_IS.
    """

    def __init__(self, folder: Path, service: str, key: bytes, prove: Prove) -> None:
        self._folder = folder / FOLDER
        self._first = Verifier(origin(service, "gateway"), key)
        self._prove = prove

    def promised(self, data: bytes, kind: EventType, asked: bytes) -> bytes:
        """The head that a promise of something that was asked holds: to be taken once the promise is kept.

        Raises:
            ResponseMismatchError: it promises something else.
            EncodingError, SignatureInvalidError, NoteInvalidError: it is none.
        """
        promise = Promise.decode(data)
        promise.verify(self._first)
        if (promise.type, promise.asked) != (kind.value, asked):
            raise ResponseMismatchError("something else was promised than what was asked")
        return promise.head

    async def take(self, note: bytes) -> None:
        """Keep a head if it is newer than the one that is held; one that cannot be compared now is compared later.

        Raises:
            HistoryForkedError: neither is a beginning of the other. NoteInvalidError: it is no head of this log.
            OutputError, InputError: the folder.
        """
        head, generation = opened(note, self._first)
        path = self._folder / f"{hashlib.sha256(head.origin.encode()).hexdigest()[:_NAME]}.head"
        held = self._held(path)
        if held is not None:
            old, new = sorted((held, head), key=lambda one: one.size)
            try:
                proof = await self._prove(old.size, new.size, generation) if 0 < old.size < new.size else ()
            except (UpstreamError, RefusedError):
                return
            try:
                verify_consistency(old.size, old.root, new.size, new.root, list(proof))
            except TreeProofError:
                raise HistoryForkedError("the gateway's log does not extend the head that it showed before") from None
        if held is None or head.size > held.size:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_public(path, note.decode())
            except OSError:
                raise OutputError(f"{path}: cannot be written") from None

    def _held(self, path: Path) -> Checkpoint | None:
        try:
            return opened(path.read_bytes(), self._first)[0]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, ProxidError):
            raise InputError(f"{path}: is no head of the gateway's log; take it away") from None
