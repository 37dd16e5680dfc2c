"""Runs a household's doors (DESIGN 5.6)."""

import asyncio
import errno
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from typing import Any, Final

from proxid.clients.agent import device_door
from proxid.clients.agent.asking import Asking, Recogniser
from proxid.clients.agent.page.deeds import Deeds
from proxid.clients.agent.people import Tokens
from proxid.clients.agent.upkeep import keep_up
from proxid.clients.agent.visitors import Visitors
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.home import OwnHome
from proxid.clients.household.household import Household
from proxid.clients.household.remote_home import agent_socket
from proxid.errors import ConfigError
from proxid.runtime.addresses import unusable
from proxid.runtime.observability.endpoint import Facts, metrics_endpoint
from proxid.runtime.observability.metrics import set_ready
from proxid.runtime.transport.runner import prepare_interpreter

NEEDED: Final = "needs the agent's packages: make agent"


def recogniser_of(config: DeviceConfig) -> Recogniser | None:
    """What tells home commands; None where they are shared. Raises ConfigError."""
    if config.agent.commands == "share":
        return None
    from proxid.classify import load_default

    return load_default(patterns=config.classify.patterns)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if host.startswith("[") else socket.AF_INET


def _reason(group: "ExceptionGroup[OSError]") -> str:
    """Why a door cannot listen; the address is the operator's to look up."""
    first = group.exceptions[0]
    return (first.strerror if isinstance(first, OSError) else None) or "its address cannot be used"


def _listener(address: str) -> tuple[socket.socket, str, int]:
    """What listens at HOST:PORT, with host and port; raises OSError."""
    host, _, port = address.rpartition(":")
    listener = socket.create_server((host.strip("[]"), int(port)), family=_family(host))
    # asyncio does so for sockets that it makes; an answer's body would wait 40 ms for its head to be acknowledged.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener, host, int(listener.getsockname()[1])


def page_listeners(address: str) -> list[socket.socket]:
    """What listens for the page: its port at both addresses that `localhost` means, or somebody else could at one.

    Raises:
        ConfigError: one is in use.
    """
    listeners: list[socket.socket] = []
    port = int(address.rpartition(":")[2])
    try:
        for host in ("127.0.0.1", "[::1]"):
            listener, _, port = _listener(f"{host}:{port}")
            listeners.append(listener)
    except OSError as error:
        if not listeners or error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):  # no IPv6 here, for nobody
            for listener in listeners:
                listener.close()
            raise unusable("agent.page", f"{host}:{port}", error) from None
    return listeners


async def _serve_http(application: Any, visitors: Visitors, *listeners: socket.socket) -> None:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Counted(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            visitors.came(transport, lambda: self.cycle is not None and not self.cycle.response_complete)

        def connection_lost(self, exc: Exception | None) -> None:
            visitors.went(self.transport)
            super().connection_lost(exc)

    # No access log: it would say who asked when. Nor a warning for each who sends what is no HTTP.
    settings = uvicorn.Config(
        application, http=Counted, log_config=None, log_level="error", access_log=False, lifespan="off"
    )
    await uvicorn.Server(settings).serve(sockets=[*listeners])


async def serve(config: DeviceConfig, ready: Callable[[str], None] | None = None) -> None:
    """Run until cancelled.

    Args:
        ready: called with the addresses of the doors, one a line, and of the page, once they listen.

    Raises:
        ConfigError: its packages are missing, a door is for nobody, or cannot listen. HouseholdBusyError.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None or find_spec("wyoming") is None:
        raise ConfigError(NEEDED)
    household = Household.open(config)
    home = OwnHome(config, household)
    deeds, stack = Deeds(config, household, home), ExitStack()
    try:
        for door in config.agent.wyoming:
            if door.user not in household.users:
                raise ConfigError("agent.wyoming: a door is for somebody who is not enrolled in this household")
        # Before the socket, by which `proxid agent page` knows that whoever has the port is this.
        page = [] if config.agent.page is None else page_listeners(config.agent.page)
        for listener in page:
            stack.callback(listener.close)
        asking = Asking(household, recogniser_of(config))
        stack.enter_context(metrics_endpoint(config.agent.metrics_listen, Facts.of(config)))
        async with (
            device_door.listening(home, agent_socket(config.data_dir), config.data_dir),
            asyncio.TaskGroup() as tasks,
        ):
            tasks.create_task(keep_up(config, household))
            names = _open_doors(tasks, config, asking, deeds, page)
            prepare_interpreter()
            set_ready(True)
            if ready is not None:
                ready("\n".join(names))
    except ExceptionGroup as group:
        refused = group.subgroup(OSError)
        if refused is None:
            raise
        raise ConfigError(f"agent: a door cannot listen ({_reason(refused)})") from None
    finally:
        stack.close()
        with suppress(Exception):
            await deeds.close()
            await home.close()
            await household.close()


def _open_doors(
    tasks: asyncio.TaskGroup, config: DeviceConfig, asking: Asking, deeds: Deeds, page: Sequence[socket.socket]
) -> list[str]:  # fmt: skip
    """Start the doors, and the page on its listeners; their addresses. Raises OSError."""
    from proxid.clients.agent import openai_door, wyoming_door
    from proxid.clients.agent.page.app import application
    from proxid.clients.agent.page.codes import Codes

    settings, users, visitors = config.agent, deeds.users, Visitors()
    names = [door.uri for door in settings.wyoming]
    for door in settings.wyoming:
        tasks.create_task(wyoming_door.serve(door, asking, [config.locale.partition("-")[0]], visitors))
    if page:
        port = int(page[0].getsockname()[1])
        codes = Codes(config.data_dir, users)
        codes.forget()
        tasks.create_task(_serve_http(application(deeds, codes, port), visitors, *page))
        names.append(f"http://localhost:{port}/")
    if settings.openai is not None:
        listener, host, port = _listener(settings.openai)
        door_of_tokens = openai_door.application(asking, Tokens(config.data_dir, users))
        tasks.create_task(_serve_http(door_of_tokens, visitors, listener))
        names.append(f"http://{host}:{port}/v1")
    return names
