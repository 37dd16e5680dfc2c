"""Erasures as durable jobs (DESIGN 10.3): accepted at once, carried out by worker 0 from wherever a crash left them.

    (1) tombstone and job, one step, by whoever takes the request: nothing of the user is taken or delivered any more
    (2) groups with the user that wait in feeds are dropped; what was sent is not sent again
    (3) MS forgets the newest PROX_ID, if that may be live; events that wait are encrypted
    (4) ERASED, and everything in the user's index deleted with it
    (5) both stores' files rewritten, what revokes a key of the user taken out; then there is a receipt

Each step costs what is the person's own, and may be repeated. MS is told one PROX_ID of a person and never a second,
but for a lost key's of the same epoch: just after an epoch's start the older one's leftovers go with the closing of its
epoch, and nothing is delivered (1).
"""

import asyncio
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Final

import structlog

from gateway.identity import Screener
from gateway.notices import Notices
from gateway.store.library import GatewayStore
from gateway.store.rights import ErasureJob, RightsStore, Subject
from gateway.store.steps import PREFIX
from gateway.upstream import MainServiceClient
from proxid.crypto.hpke import SealingKey
from proxid.errors import ProxidError
from proxid.evidence.events import encode_header
from proxid.evidence.ratchet import owner_salt
from proxid.protocol.rights import LIVE_SECONDS, ErasedDisclosure, RightsReceipt, RightsRequest, erased_info
from proxid.runtime.evidence_log.stream import wait_logged
from proxid.runtime.provision.revocations import forget_revocations
from proxid.runtime.store.durable import rewrite_aof

_log = structlog.get_logger(__name__)
OPEN_SECONDS: Final = 30.0
_POLL: Final = 0.05
_IDLE: Final = 0.5


class Erasures:
    """Worker 0's job.

    Args:
        auditor: whom ERASED discloses the signed request to. data_dir: of this gateway, if keys are revoked there.
    """

    def __init__(
        self, screener: Screener, store: GatewayStore, upstream: MainServiceClient, auditor: SealingKey,
        notices: Notices, data_dir: Path | None = None,
    ) -> None:  # fmt: skip
        self._data_dir = data_dir
        self._screener = screener
        self._store = store
        self._rights = RightsStore(store)
        self._upstream = upstream
        self._auditor = auditor
        self._notices = notices
        self.wake = asyncio.Event()
        """Set by whoever leaves a job in this process."""

    async def run(self) -> None:
        """Carry out what there is, until cancelled."""
        while True:
            self.wake.clear()
            try:
                await self.step()
            except ProxidError as error:
                _log.info("erasures wait", code=error.code.value)
            try:
                await asyncio.wait_for(self.wake.wait(), _IDLE)
            except TimeoutError:
                continue

    async def step(self) -> int:
        """Carry out what is under way, together; how many were finished. Raises StoreError."""
        tags, client = await self._rights.erasures(), self._store.client
        if not tags:
            return 0
        waiting = set(await self._store.open_sessions())
        settled = await asyncio.gather(*(self._attempt(self._settle(tag)) for tag in tags))
        await self._answered(waiting)
        told = await asyncio.gather(*(self._tell(tag) for tag, good in zip(tags, settled, strict=True) if good))
        ready = [tag for tag in told if tag]
        await wait_logged(client, PREFIX)
        for tag in ready:
            await self._finish(tag)
        await wait_logged(client, PREFIX)
        await rewrite_aof(client)
        if self._data_dir is not None and ready:
            forget_revocations(self._data_dir, lambda user_id: self._screener.user_tag(user_id) in ready)
        for tag in ready:
            await self._rights.end_erasure(tag)
        return len(ready)

    async def _attempt(self, work: Awaitable[None]) -> bool:
        """Whether a part of one erasure was done; what one lacks does not hold up the others."""
        try:
            await work
        except ProxidError as error:
            _log.warning("an erasure waits", code=error.code.value)
            return False
        return True

    async def _settle(self, user_tag: str) -> None:
        await self._rights.settle(user_tag, "erased")

    async def _answered(self, waiting: set[bytes]) -> None:
        """Wait until what was on its way to MS before is answered or given up."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + OPEN_SECONDS
        while waiting & set(await self._store.open_sessions()) and loop.time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_POLL)

    async def _tell(self, user_tag: str) -> str:
        """Have MS forget; the tag if that is done."""
        job = await self._rights.erasure(user_tag)
        for subject in () if job.logged else newest(self._screener, job.subjects, _asked_at(job)):
            if not await self._attempt(self._upstream.erase(subject.prox_id, bytes.fromhex(subject.tag))):
                return ""
        return user_tag

    async def _finish(self, user_tag: str) -> None:
        job = await self._rights.erasure(user_tag)
        if job.logged:
            return
        screener, request = self._screener, RightsRequest.decode(job.request)
        receipt = RightsReceipt(request.digest, request.right, int(screener.clock() * 1000)).sign(screener.key)
        notices = self._notices.make("erase", request.user_id, job.recipients)
        parties = sorted(screener.party_keys)
        told = newest(screener, job.subjects, _asked_at(job))
        tags, payload = await self._disclosed(job)
        header = encode_header(
            v=2, tombstone=user_tag, request=request.digest.hex(), tags=tags,
            forgotten=[subject.tag for subject in told], notices=[f"{n.party}:{n.digest.hex()}" for n in notices],
            untold=sorted({r.party for r in job.recipients} - {n.party for n in notices}),
            dropped=[], removed=[], feeds=[], last="",
        )  # fmt: skip
        await self._rights.finish_erasure(
            user_tag, receipt.encode(), (header, payload), parties, job.subjects, notices, left_out(screener, told),
            request.digest,
        )  # fmt: skip

    async def _disclosed(self, job: ErasureJob) -> tuple[list[str], bytes]:
        """Subject tags that the erasure covers, and for the auditor who asked, and that these are that user's."""
        tags = [bytes.fromhex(subject.tag) for subject in job.subjects]
        seeds = await self._store.evidence_keys(tags)
        owner_salts = tuple((tag, owner_salt(seed)) for tag, seed in zip(tags, seeds, strict=True) if seed)
        disclosure = ErasedDisclosure(job.request, job.enrolment, owner_salts)
        sealed = self._auditor.seal(disclosure.encode(), erased_info(self._screener.service))
        return [tag.hex() for tag, _ in owner_salts], sealed


def newest(screener: Screener, subjects: Sequence[Subject], at: float) -> tuple[Subject, ...]:
    """The one person-epoch that MS is told of: the newest, if something could lie under it at a time (Unix seconds).

    If a key was lost in that epoch, they are two, as MS was told when one took its place; the live one is first.
    """
    last = max((subject.epoch for subject in subjects), default=None)
    if last is None or at >= screener.epochs.end(last) + LIVE_SECONDS:
        return ()
    return tuple(sorted((s for s in subjects if s.epoch == last), key=lambda s: s.over))


def left_out(screener: Screener, told: Sequence[Subject]) -> int | None:
    """Once MS has confirmed: the epoch whose contents it forms without the person, as it was told before it ends it."""
    return told[0].epoch if told and screener.is_open(told[0].epoch) else None


def _asked_at(job: ErasureJob) -> float:
    """When it was asked for: whenever the job is taken up again, MS is told the same."""
    return RightsRequest.decode(job.request).time_ms / 1000
