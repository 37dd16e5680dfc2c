"""Both services keep each other's newest signed head and show it on connecting (DESIGN 10.2, 17.3).

The gateway calls: before it serves, whenever the line is made anew, and from time to time. The main service lets its
first caller wait until it was asked. A peer that is away delays a start by PEER_SECONDS, once, and is counted.
"""

import asyncio
from typing import Final

import grpc
import structlog
from redis.asyncio import Redis

from proxid.errors import LogDamagedError, StoreError
from proxid.runtime.evidence_log.held import HeldHeads
from proxid.runtime.observability.metrics import set_unheard
from proxid.runtime.store.connection import store_errors
from proxid.wire.v1 import common_pb2 as wire
from proxid.wire.v1.common_pb2_grpc import EvidenceStub

_log = structlog.get_logger(__name__)

PEER_SECONDS: Final = 5.0
"""How long a start waits for the other service."""
_AGAIN: Final = 5.0
_POLL: Final = 0.1
_KNOWN: Final = 60
"""Seconds for which one worker's word counts with the others."""


class Heard:
    """Whether the other service has compared heads with this one since it started.

    Args:
        held: heads. client, prefix: the store, by which workers tell each other. worker: 0 begins anew.
    """

    def __init__(self, held: HeldHeads, client: Redis, prefix: str, worker: int) -> None:
        self.held = held
        self._client, self._key, self.first = client, f"{prefix}:compared", worker == 0
        self._deadline = asyncio.get_running_loop().time() + PEER_SECONDS
        self._open = asyncio.Event()
        self._behind: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def begun(self) -> "Heard":
        """Itself, at the start: what was heard before counts no more. Raises LogDamagedError, StoreError."""
        if self.first:
            await asyncio.to_thread(self.held.verify)
            with store_errors():
                await self._client.delete(self._key)
        return self

    async def take(self, notes: list[bytes]) -> None:
        """Somebody shows heads.

        Raises:
            LogDamagedError: the own log is behind one of them; the service stops.
        """
        try:
            await asyncio.to_thread(self.held.take, notes)
        except LogDamagedError as error:
            if not self._behind.done():
                self._behind.set_exception(error)
                self._behind.exception()  # a start that ends by it never comes to `watch`
            raise

    async def heard(self) -> None:
        """The other service has shown what it holds."""
        self._open.set()
        set_unheard(False)
        with store_errors():
            await self._client.set(self._key, 1, ex=_KNOWN)

    async def wait(self) -> None:
        """Before the first answer: until the other service was heard, or did not come in time."""
        while not self._open.is_set():
            left = self._deadline - asyncio.get_running_loop().time()
            if left <= 0:
                set_unheard(True)
                _log.warning("the other service was not heard")
                self._open.set()
            elif not self.first and await self._is_known():
                self._open.set()
            else:
                try:
                    await asyncio.wait_for(self._open.wait(), min(_POLL, left))
                except TimeoutError:
                    continue

    async def _is_known(self) -> bool:
        try:
            with store_errors():
                return bool(await self._client.exists(self._key))
        except StoreError:
            return False

    async def watch(self) -> None:
        """Until cancelled; raises LogDamagedError once somebody has shown that the log is behind."""
        await self._behind


class PeerHeads:
    """The gateway's end: asks the main service.

    Args:
        channel: to it. heard: this side's.
    """

    def __init__(self, channel: grpc.aio.Channel, heard: Heard) -> None:
        self._channel = channel
        self._stub = EvidenceStub(channel)
        self.heard = heard
        self.renewed = asyncio.Event()
        """Set when the line was made anew and heads were shown; whoever waits for that clears it."""

    async def show(self, seconds: float) -> bool:
        """Show each other's heads once; whether it was possible. Raises LogDamagedError."""
        shown = await asyncio.to_thread(self.heard.held.shown)
        try:
            reply = await self._stub.ShowHeads(wire.HeadsRequest(heads=shown), timeout=seconds)
        except grpc.aio.AioRpcError:
            return False
        await self.heard.take(list(reply.heads))
        await self.heard.heard()
        return True

    async def begin(self) -> None:
        """Before serving: ask until it was possible once, at most PEER_SECONDS. Raises LogDamagedError."""
        deadline = asyncio.get_running_loop().time() + PEER_SECONDS
        while (left := deadline - asyncio.get_running_loop().time()) > 0:
            if await self.show(left):
                return
            await asyncio.sleep(min(_POLL, max(left, 0)))
        await self.heard.wait()

    async def run(self) -> None:
        """Show them whenever the line is made anew, and from time to time, until cancelled."""
        before = None
        while True:
            state = self._channel.get_state(try_to_connect=True)
            if state is grpc.ChannelConnectivity.READY:
                try:
                    await self.show(PEER_SECONDS)
                except StoreError:
                    _log.info("heads wait for the store")
                if before is not state:
                    self.renewed.set()
            before = state
            try:
                await asyncio.wait_for(self._channel.wait_for_state_change(state), _AGAIN)
            except TimeoutError:
                continue


async def meet(channel: grpc.aio.Channel, heard: Heard) -> PeerHeads:
    """The gateway's start: compare heads with the main service before anything is served.

    Raises:
        LogDamagedError: the own log is behind. StoreError.
    """
    heads = PeerHeads(channel, heard)
    await heard.begun()
    if heard.first:
        await heads.begin()
    return heads
