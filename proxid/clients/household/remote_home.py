"""A household whose keys its agent holds: what the agent's socket offers (DESIGN 5.6), and which of both to use."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

import grpc

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import SentBefore
from proxid.clients.household.home import Choice, Home, Member, own_home
from proxid.clients.household.household import Answer
from proxid.errors import Code, EncodingError, HouseholdBusyError, ProxidError, RefusedError, refusal_of
from proxid.protocol.policy import PolicyDocument
from proxid.protocol.rights import Right
from proxid.runtime.folder import socket_path, verify_own
from proxid.runtime.transport.channel import MAX_MESSAGE
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import device_pb2 as wire
from proxid.wire.v1.device_pb2_grpc import DeviceStub

REFUSED_KEY: Final = "proxid-refused"
"""Metadata of a failed call: the code is another service's, which refused the agent."""
SOCKET: Final = "agent.sock"
OPTIONS: Final = [
    ("grpc.max_receive_message_length", 16 * MAX_MESSAGE), ("grpc.max_send_message_length", 16 * MAX_MESSAGE),
]  # fmt: skip
"""A document of a person's rights may be larger than any message between services."""

_NO_AGENT: Final = "this household's keys are in use by another proxid process that is no agent: wait until it ends"
T = TypeVar("T")


def agent_socket(folder: Path) -> Path:
    """Where the agent of a household's `data_dir` listens."""
    return socket_path(folder.absolute(), SOCKET)


def target(socket: Path) -> str:
    """A Unix socket as gRPC names it."""
    return f"unix:{quote(str(socket))}"


class RemoteHome:
    """See the module.

    Args:
        channel: closed by whoever opened it.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = DeviceStub(channel)

    async def ask(self, user: str, text: str, location: str = "") -> Answer:
        """See `Home`."""
        reply = await _heard(self._stub.Ask(_message(wire.DeviceAskRequest, user=user, text=text, location=location)))
        return Answer(reply.text, bytes(reply.session), reply.retries)

    async def consent(self, user: str, bundle: str = "", until_withdrawn: bool = False) -> Choice:
        """See `Home`."""
        request = _message(wire.DeviceConsentRequest, user=user, bundle=bundle, until_withdrawn=until_withdrawn)
        reply = await _heard(self._stub.Consent(request))
        sent = tuple(SentBefore(row.party, row.records, row.unacknowledged, row.contents) for row in reply.sent)
        policy = PolicyDocument.decode(reply.policy)
        return Choice(reply.bundle, reply.version, reply.until, reply.lasting, policy, sent, reply.pending)

    async def right(self, user: str, right: Right) -> str:
        """See `Home`."""
        reply = await _heard(self._stub.Rights(_message(wire.DeviceRightRequest, user=user, right=right.value)))
        return str(reply.document)

    async def members(self) -> list[Member]:
        """See `Home`."""
        reply = await _heard(self._stub.Status(wire.DeviceStatusRequest()))
        return [Member(row.user, row.erased, row.lasting) for row in reply.members]


def _message(kind: Callable[..., T], **fields: str | bool) -> T:
    """A message of what somebody typed; raises EncodingError for bytes that are no text."""
    try:
        return kind(**fields)
    except ValueError:
        raise EncodingError("text is not UTF-8") from None


async def _heard(call: Awaitable[T]) -> T:
    """The reply; a failure is the one that the agent had, or that there is no agent there."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        code = code_of(error)
        if code is None:
            raise HouseholdBusyError(_NO_AGENT) from None
        raise _failure(code, error) from None


def _failure(code: Code, error: Any) -> ProxidError:
    rule = error.details() or ""
    if any(key == REFUSED_KEY for key, _ in error.trailing_metadata() or ()):
        return RefusedError(code, rule)
    return type(refusal_of(code))(rule)


@asynccontextmanager
async def agent_home(config: DeviceConfig) -> AsyncIterator[RemoteHome]:
    """The household of its agent.

    Raises:
        HouseholdBusyError: none is there, or answers a call. ConfigError: it is in a folder of somebody else, who
            would be told whatever is asked.
    """
    socket = agent_socket(config.data_dir)
    if not socket.exists():
        raise HouseholdBusyError(_NO_AGENT)
    if socket.parent != config.data_dir.absolute():
        verify_own(socket.parent)
    async with grpc.aio.insecure_channel(target(socket), options=OPTIONS) as channel:
        yield RemoteHome(channel)


@asynccontextmanager
async def open_home(config: DeviceConfig) -> AsyncIterator[Home]:
    """The household: of this process, or of the agent that has its keys open. Raises as `own_home`, `agent_home`."""
    try:
        own = own_home(config)
        home: Home = await own.__aenter__()
    except HouseholdBusyError:
        async with agent_home(config) as away:
            yield away
        return
    try:
        yield home
    finally:
        await own.__aexit__(None, None, None)
