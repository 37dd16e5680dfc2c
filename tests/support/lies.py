"""What a lying service does: its recorder, its reader, its stores and its rules changed while it runs.

Each lie is (name, number of the check that must catch it, what to do); the doing gets a `Liar`.
"""

import asyncio
import dataclasses
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Verdict
from proxid.clients.household.shown_time import STEP
from proxid.crypto.sansig import Message, sign
from proxid.evidence.checkpoint import Checkpoint, origin
from proxid.evidence.events import EventType
from proxid.evidence.leaf import Leaf
from proxid.protocol import record
from proxid.protocol.record import Filling
from proxid.runtime.evidence_log import writer as writing
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.evidence_log.held import HeldHeads
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.evidence_log.servicer import EvidenceService
from proxid.runtime.evidence_log.writer import EvidenceWriter
from proxid.runtime.store import connect
from tests.support.trial import Trial

GATEWAY, MAIN = "gateway", "main-service"
PREFIX = {GATEWAY: "{gw}", MAIN: "{ms}"}

Transform = Callable[[list[PlainEvent]], list[PlainEvent]]
Lie = Callable[["Liar"], Awaitable[None]]


class Liar:
    """A trial, and the means to make its services lie."""

    def __init__(self, trial: Trial, patch: pytest.MonkeyPatch) -> None:
        self.trial = trial
        self.patch = patch
        self.options: dict[str, Any] = {}
        # Who lies does not hold what it shows against its own head first.
        patch.setattr(LogReader, "_own", lambda _: nullcontext())
        patch.setattr(LogReader, "_verify_tree", lambda *_: None)
        patch.setattr(LogReader, "_is_cosigned", lambda *_: True)
        self.hides = False
        """Whether the lie is told by keeping something back: then it cannot be proven, but is not clean either."""
        self.accused: set[str] = set()
        """Whose logs hold a violation, by the audit that has caught the lie."""

    def records(self, role: str, transform: Transform) -> None:
        """From now on a service's recorder logs what `transform` makes of its events, numbered without a gap."""
        honest = EvidenceWriter.write_batch
        prefix = PREFIX[role]

        async def write_batch(self: EvidenceWriter) -> int:
            if self._prefix != prefix:
                return await honest(self)
            at = getattr(self, "_lying_at", self.log.size + 1)
            rows: Any = await self._client.xrange(self._stream, min=f"{at}-0", count=512)
            if not rows:
                return 0
            events = [writing._plain(entry, fields, self._base) for entry, fields in rows]
            self._lying_at = events[-1].number + 1  # type: ignore[attr-defined]
            changed = transform(events)
            start = self.log.size + 1
            numbered = [dataclasses.replace(e, number=start + i) for i, e in enumerate(changed)]
            if numbered:
                await self._log_events(numbered)
            await self._client.xtrim(self._stream, minid=f"{self._lying_at}-0", approximate=False)  # type: ignore[attr-defined]
            return len(rows)

        self.patch.setattr(EvidenceWriter, "write_batch", write_batch)
        self.patch.setattr(EvidenceService, "_wait", _wait_empty)

    def drops(self, role: str, *kinds: EventType, times: int | None = None) -> None:
        """The recorder forgets events of some types, all or the first few."""
        left = [times if times is not None else 1 << 30]

        def transform(events: list[PlainEvent]) -> list[PlainEvent]:
            kept = []
            for event in events:
                if event.type in kinds and left[0] > 0:
                    left[0] -= 1
                else:
                    kept.append(event)
            return kept

        self.records(role, transform)

    def changes(self, role: str, kind: EventType, change: Callable[[PlainEvent], PlainEvent], times: int = 1) -> None:
        """The recorder changes the first events of a type."""
        left = [times]

        def transform(events: list[PlainEvent]) -> list[PlainEvent]:
            out = []
            for event in events:
                if event.type is kind and left[0] > 0:
                    left[0] -= 1
                    out.append(change(event))
                else:
                    out.append(event)
            return out

        self.records(role, transform)

    def payloads(self, role: str, kind: EventType, change: Callable[[bytes], bytes], times: int = 1) -> None:
        """The recorder changes the first payloads of a type."""
        self.changes(role, kind, lambda e: dataclasses.replace(e, payload=change(e.payload)), times)

    def shows(self, role: str, change: Callable[[list[Leaf]], Sequence[Leaf]]) -> None:
        """The service's reader shows other leaves than the log's; it lies all at once, from the first leaf."""
        honest, name = LogReader.leaves, origin("main-service", role)

        def leaves(self: LogReader, first: int, limit: int = 0) -> Any:
            if self._log.name != name:
                return honest(self, first, limit)
            shown = list(change(list(honest(self, 1))))[first - 1 :]
            return iter(shown[:limit] if limit else shown)

        self.patch.setattr(LogReader, "leaves", leaves)

    def heads(self, role: str, change: Callable[[Checkpoint], Checkpoint], key: Any) -> None:
        """The service signs another head than its log's."""
        honest, name = LogReader.checkpoint, origin("main-service", role)

        def checkpoint(self: LogReader) -> bytes:
            data = honest(self)
            if self._log.name != name:
                return data
            text = data.decode().split("\n\n")[0] + "\n"
            return change(Checkpoint.parse(text)).sign(key).encode()

        self.patch.setattr(LogReader, "checkpoint", checkpoint)

    async def caught(self) -> set[int]:
        """The checks that an audit reports as violated, or as not to be made if the lie `hides`."""
        # A device shows a time of up to half its step later: until then a request may be under way, or a party at work.
        report = await self.trial.audit(**{"later": STEP / 2} | self.options)
        self.accused = {violation.log for violation in report.violations}
        if self.hides:
            assert report.verdict is Verdict.UNCHECKED
            return {reason.rule for reason in report.reasons}
        return {violation.rule for violation in report.violations}


async def _wait_empty(self: EvidenceService) -> None:
    stream = f"{self._prefix}:events"
    while await self._client.xlen(stream):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)


async def store_of(liar: Liar, role: str) -> Any:
    return connect(liar.trial.url(role))


@asynccontextmanager
async def keys_kept_live(liar: Liar) -> AsyncIterator[None]:
    """Epoch keys that end meanwhile are afterwards taken by the gateway as they were before."""
    store = await store_of(liar, GATEWAY)
    live = {name: await store.get(name) async for name in store.scan_iter(match="{gw}:u:*")}
    yield
    for name, tag in live.items():
        await store.set(name, tag)
    await store.aclose()


def flip(data: bytes, at: int = -1) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def filled(change: Callable[..., Filling]) -> Callable[..., Any]:
    """In the place of `record.make`: what a record is filled with is what `change` makes of it.

    `change` gets the body, the PROX_ID, a function that fills it with another salt, and what it must be filled with.
    """
    honest = record.make

    def make(body: Any, prox_id: str, place: Any, to: Any, issuer: Any, seed: bytes, *rest: Any) -> Any:
        signed, _ = honest(body, prox_id, place, to, issuer, seed, *rest)
        where, blocks = place.encode(), list(signed.message.blocks)

        def salted(salt: bytes) -> Filling:
            padded = body.encode(salt)
            digest, info = record.body_hash(padded), record.seal_info(issuer.service, body.epoch, to.party, where)
            nonce = record.nonce_of(to.party, where, digest)
            return Filling(padded, to.key.encrypt(padded, digest, info), digest, nonce)

        due = Filling.of(body, where, to.party, issuer.service, seed)
        made = change(body, prox_id, salted, due)
        blocks[record.SEALED], blocks[record.BODY_HASH] = made.encrypted, made.digest
        message = Message(dataclasses.replace(signed.header, nonce=made.nonce), tuple(blocks))
        return sign(message, issuer.key), made.padded

    return make


def signed_twice(honest: Callable[..., Any]) -> Callable[..., Any]:
    """A release of the main service whose records are filled and signed once for the log and once for the parties."""

    def release(*given: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(record, "make", filled(lambda body, prox_id, salted, due: salted(os.urandom(32))))
            sent = honest(*given)
        return dataclasses.replace(sent, payload=honest(*given).payload)

    return release


LIES: list[Any] = []
"""Every lie as a pytest parameter: (check, what to do)."""


HOUSES: dict[Lie, dict[str, Any]] = {}
"""In what house a lie is told, as `trial.running` has it, if it must be another one."""


def lie(check: int, quick: bool = False, **house: Any) -> Callable[..., Any]:
    """Register a lie, the check that must catch it, whether it runs with every test, and the house (`HOUSES`)."""

    def register(tell: Callable[[Liar], Awaitable[None]]) -> Callable[[Liar], Awaitable[None]]:
        HOUSES[tell] = house
        marks = () if quick else (pytest.mark.slow,)
        LIES.append(pytest.param(check, tell, marks=marks, id=tell.__name__))
        return tell

    return register


UNSEEN: list[Any] = []
"""Every lie that no audit can see, as a pytest parameter: (row under "believed", what to do)."""


def unseen(row: str, **house: Any) -> Callable[..., Any]:
    """Register a lie that leaves an audit clean, the row of the report that names what it is told in, and the house."""

    def register(tell: Callable[[Liar], Awaitable[None]]) -> Callable[[Liar], Awaitable[None]]:
        HOUSES[tell] = house
        UNSEEN.append(pytest.param(row, tell, marks=(pytest.mark.slow,), id=tell.__name__))
        return tell

    return register


def segment(liar: Liar, role: str, name: str) -> Path:
    """A file of the first segment of a service's log."""
    return liar.trial.folder / role / "data/evidence/segments/000000000001" / name


async def no_wait(self: Any) -> None:
    """In the place of waiting until the log has caught up."""


def knows_only(trial: Trial, role: str, head: bytes, patch: pytest.MonkeyPatch) -> None:
    """A stopped service's folder holds no newer head of its log than this one, and the service heeds none it is shown.

    What the other service has shown lies in that folder too: with it at hand `proxid mend successor` tells no lie.
    """
    data = trial.folder / role / "data"
    (data / "evidence/checkpoint").write_bytes(head)
    (data / "heads/own.head").unlink(missing_ok=True)
    shutil.rmtree(data / "evidence/cosigned", ignore_errors=True)
    patch.setattr(HeldHeads, "_compare", lambda *_: None)
