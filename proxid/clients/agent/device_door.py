"""The door for the household's own commands: gRPC on a Unix socket that its user alone may open (DESIGN 5.6).

Whoever may open the socket may read the keys beside it: there is no other password. What fails is told as it failed
here, code and rule, so that a command says the same whether or not there is an agent.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, Final

import grpc

from proxid.clients.household.home import Home
from proxid.clients.household.remote_home import OPTIONS, REFUSED_KEY, target
from proxid.errors import ConfigError, InputError, ProxidError, RefusedError, told
from proxid.protocol.rights import Right
from proxid.runtime.folder import make_private
from proxid.runtime.transport.methods import note
from proxid.runtime.transport.parsing import Unparsed
from proxid.runtime.transport.status import CODE_KEY
from proxid.wire.v1 import device_pb2 as wire
from proxid.wire.v1.device_pb2_grpc import DeviceServicer, add_DeviceServicer_to_server

_OWNERS: Final = 0o177
"""Taken from what a new socket allows: what is left is its owner's."""
Method = Callable[[Any, Any, Any], Awaitable[Any]]


def _told(method: Method) -> Method:
    """A method whose failures are told with their code and rule."""

    @wraps(method)
    async def framed(self: Any, request: Any, context: Any) -> Any:
        try:
            return await method(self, request.parsed(), context)
        except ProxidError as error:
            refused = isinstance(error, RefusedError)
            code = error.remote if isinstance(error, RefusedError) else note(error, method.__name__)
            marks = ((CODE_KEY, code.value), *(((REFUSED_KEY, "1"),) if refused else ()))
            rule = told(error)
        except Exception as error:
            marks, rule = ((CODE_KEY, note(error, method.__name__).value),), "the agent has failed"
        return await context.abort(grpc.StatusCode.ABORTED, rule, marks)

    return framed


class _Door(DeviceServicer):
    def __init__(self, home: Home) -> None:
        self._home = home

    @_told
    async def Ask(self, request: Any, _context: Any) -> Any:
        answer = await self._home.ask(request.user, request.text, request.location)
        return wire.DeviceAskReply(text=answer.text, session=answer.session, retries=answer.retries)

    @_told
    async def Consent(self, request: Any, _context: Any) -> Any:
        found = await self._home.consent(request.user, request.bundle, request.until_withdrawn)
        reply = wire.DeviceConsentReply(
            bundle=found.bundle, version=found.version, until=found.until, lasting=found.lasting,
            policy=found.policy.text, pending=found.pending,
        )  # fmt: skip
        for row in found.sent:
            reply.sent.add(**row._asdict())
        return reply

    @_told
    async def Rights(self, request: Any, _context: Any) -> Any:
        if request.right not in list(Right):
            raise InputError("there is no such right")
        return wire.DeviceRightReply(document=await self._home.right(request.user, Right(request.right)))

    @_told
    async def Status(self, _request: Any, _context: Any) -> Any:
        reply = wire.DeviceStatusReply()
        for member in await self._home.members():
            reply.members.add(user=member.user, erased=member.erased, lasting=member.lasting)
        return reply


@asynccontextmanager
async def listening(home: Home, socket: Path, folder: Path) -> AsyncIterator[None]:
    """Serve within the block; the socket is gone after it.

    Args:
        folder: the household's; a socket elsewhere gets a private folder of its own.

    Raises:
        ConfigError: it cannot listen there.
    """
    server = grpc.aio.server(options=OPTIONS, interceptors=[Unparsed()])
    add_DeviceServicer_to_server(_Door(home), server)
    _bind(server, socket, folder)
    await server.start()
    try:
        yield
    finally:
        await asyncio.shield(server.stop(1.0))
        with suppress(OSError):
            os.unlink(socket)


def _bind(server: grpc.aio.Server, socket: Path, folder: Path) -> None:
    if socket.parent != folder.absolute():
        make_private(socket.parent)
    before = os.umask(_OWNERS)
    try:
        server.add_insecure_port(target(socket))
        socket.chmod(0o600)
    except (RuntimeError, OSError):
        raise ConfigError("data_dir: the agent's socket cannot be made there") from None
    finally:
        os.umask(before)
