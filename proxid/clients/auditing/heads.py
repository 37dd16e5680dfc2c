"""What a device or party keeps of the services' logs: promises, and of each the newest head that it was shown (10.6).

    data_dir/heads/NAME.head    as `proxid audit --compare` takes it

A head that does not extend the one that is held is refused: somebody is shown another history.
"""

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

from proxid.errors import (
    HistoryForkedError,
    InputError,
    NoteInvalidError,
    OutputError,
    ProxidError,
    RefusedError,
    ResponseMismatchError,
    TreeProofError,
    UpstreamError,
)
from proxid.evidence.checkpoint import Checkpoint, generation_of, origin
from proxid.evidence.events import EventType
from proxid.evidence.merkle import verify_consistency
from proxid.evidence.note import Verifier
from proxid.evidence.promise import Promise, opened
from proxid.regular import regular_bytes
from proxid.runtime.provision.public import write_public

FOLDER: Final = "heads"
_NAME: Final = 32
_OFTEN: Final = 60.0
Prove = Callable[[int, int, int, bool], Awaitable[Sequence[bytes]]]
"""Asks the gateway for a consistency proof: old size, new size, which of its logs, or (True) of the main service's."""


class SeenHeads:
    """The heads of both services' logs.

    Args:
        folder: the party's data folder. service: the main service's id. keys: pk_IS, pk_MS.
    """

    def __init__(self, folder: Path, service: str, keys: tuple[bytes, bytes], prove: Prove) -> None:
        self._folder = folder / FOLDER
        names = ("gateway", "main-service")
        self._firsts = [Verifier(origin(service, name), key) for name, key in zip(names, keys, strict=True)]
        self._prove = prove
        self._looked = 0.0

    def promised(self, data: bytes, kind: EventType, asked: bytes) -> bytes:
        """The head that a promise of something that was asked holds: to be taken once the promise is kept.

        Raises:
            ResponseMismatchError: it promises something else.
            EncodingError, SignatureInvalidError, NoteInvalidError: it is none.
        """
        promise = Promise.decode(data)
        promise.verify(self._firsts[self._which(promise.log)])
        if (promise.type, promise.asked) != (kind.value, asked):
            raise ResponseMismatchError("something else was promised than what was asked")
        return promise.head

    async def glance(self, note: bytes) -> None:
        """Take a head of the many that come with answers, once a minute. Raises as `take`."""
        now = time.monotonic()
        if not self._looked or now - self._looked > _OFTEN:
            self._looked = now
            await self.take(note)

    async def take(self, note: bytes) -> None:
        """Keep a head if it is newer than the one that is held; one that cannot be compared now is compared later.

        Raises:
            HistoryForkedError: neither is a beginning of the other. NoteInvalidError: it is no head of these logs.
            OutputError, InputError: the folder.
        """
        which = self._which(note.partition(b"\n")[0].decode("utf-8", "replace"))
        head, generation = opened(note, self._firsts[which])
        path = self._folder / f"{hashlib.sha256(head.origin.encode()).hexdigest()[:_NAME]}.head"
        held = self._held(path, self._firsts[which])
        if held is not None:
            old, new = sorted((held, head), key=lambda one: one.size)
            try:
                proof = await self._prove(old.size, new.size, generation, which == 1) if 0 < old.size < new.size else ()
            except (UpstreamError, RefusedError):
                return
            try:
                verify_consistency(old.size, old.root, new.size, new.root, list(proof))
            except TreeProofError:
                raise HistoryForkedError("a service's log does not extend the head that was shown before") from None
        if held is None or head.size > held.size:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_public(path, note.decode())
            except OSError:
                raise OutputError(f"{path}: cannot be written") from None

    def _which(self, name: str) -> int:
        for at, first in enumerate(self._firsts):
            if generation_of(name, first.name):
                return at
        raise NoteInvalidError("head is of another log")

    def _held(self, path: Path, first: Verifier) -> Checkpoint | None:
        try:
            return opened(regular_bytes(path), first)[0]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, ProxidError):
            raise InputError(f"{path}: is no head of a service's log; take it away") from None
