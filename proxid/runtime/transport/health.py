"""Health and reflection for peers on the list, whatever their role: gRPC's own servicers ask nobody who they are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final

from grpc_health.v1 import health_pb2
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha._async import ReflectionServicer

from proxid.errors import ProxidError, RateLimitError
from proxid.runtime.transport.methods import Revoked, fail, require
from proxid.runtime.transport.peers import PeerRegistry

ROLES: Final = ("gateway", "main-service", "device", "party", "auditor", "witness")
WATCHES: Final = 64
"""Calls of Watch at once: each stays open for as long as its caller likes."""


class Health(HealthServicer):
    """`grpc.health.v1.Health`."""

    def __init__(self, peers: PeerRegistry) -> None:
        super().__init__()
        self.peers = peers
        self._watches = 0

    async def Check(self, request: Any, context: Any) -> Any:
        """The status of a service, or of all; also for `proxid doctor` beside it, which has no other certificate."""
        try:
            if not self.peers.is_own(context):
                require(self, context, ROLES)
            request = request.parsed()
        except ProxidError as error:
            await fail(context, error, "Check")
        return await super().Check(request, context)

    async def List(self, request: Any, context: Any) -> Any:
        """The status of all services, by name."""
        try:
            require(self, context, ROLES)
            request.parsed()
        except ProxidError as error:
            await fail(context, error, "List")
        # The stubs are older than the method, and the base class does not have it.
        return health_pb2.HealthListResponse(  # type: ignore[attr-defined]
            statuses={
                name: health_pb2.HealthCheckResponse(status=status)
                for name, status in self._server_status.items()  # type: ignore[attr-defined]
            }
        )

    async def Watch(self, request: Any, context: Any) -> None:
        """The status whenever it changes."""
        watched = Revoked(self, context, ROLES)
        self._watches += 1
        try:
            peer = require(self, context, ROLES)
            if self._watches > WATCHES:
                raise RateLimitError("too many watch already")
            request = request.parsed()
            with watched.watching(peer):
                await super().Watch(request, context)
        except asyncio.CancelledError:
            if watched.error is None:
                raise
            await fail(context, watched.error, "Watch")
        except ProxidError as error:
            await fail(context, error, "Watch")
        finally:
            self._watches -= 1


class Reflection(ReflectionServicer):
    """`grpc.reflection.v1alpha.ServerReflection`."""

    def __init__(self, peers: PeerRegistry, services: tuple[str, ...]) -> None:
        super().__init__(services)
        self.peers = peers

    async def ServerReflectionInfo(  # type: ignore[override]  # its stubs take a generator for a coroutine
        self, request_iterator: Any, context: Any
    ) -> AsyncIterator[Any]:
        """What methods there are, and of which messages."""
        talk = Revoked(self, context, ROLES, endless=True)
        try:
            peer = require(self, context, ROLES)
            replies: Any = super().ServerReflectionInfo(_parsed(request_iterator), context)
            with talk.watching(peer), self.peers.budget.stream(peer):
                async with aclosing(replies):
                    async for reply in replies:
                        talk.sending = True
                        yield reply
                        talk.check()
        except asyncio.CancelledError:
            if talk.error is None:
                raise
            await fail(context, talk.error, "ServerReflectionInfo")
        except ProxidError as error:
            await fail(context, error, "ServerReflectionInfo")


async def _parsed(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield request.parsed()
