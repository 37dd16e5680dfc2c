"""Runs a household's doors (DESIGN 5.6)."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Final

from proxid.clients.agent.asking import Asking, Recogniser
from proxid.clients.agent.people import Tokens
from proxid.clients.agent.upkeep import keep_up
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.home import OwnHome
from proxid.clients.household.household import Household
from proxid.clients.household.remote_home import agent_socket
from proxid.errors import ConfigError

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


async def serve(config: DeviceConfig, ready: Callable[[str], None] | None = None) -> None:
    """Run until cancelled.

    Args:
        ready: called with the addresses of the doors, one a line, once they listen.

    Raises:
        ConfigError: its packages are missing, a door is for nobody, or cannot listen.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None or find_spec("wyoming") is None:
        raise ConfigError(NEEDED)
    import uvicorn

    from proxid.clients.agent import device_door, openai_door, wyoming_door

    settings, household = config.agent, Household.open(config)
    home = OwnHome(config, household)
    try:
        for door in settings.wyoming:
            if door.user not in household.users:
                raise ConfigError("agent.wyoming: a door is for somebody who is not enrolled in this household")
        asking = Asking(household, recogniser_of(config))
        socket_file = agent_socket(config.data_dir)
        async with device_door.listening(home, socket_file, config.data_dir), asyncio.TaskGroup() as tasks:
            tasks.create_task(keep_up(config, household))
            names = [door.uri for door in settings.wyoming]
            for door in settings.wyoming:
                tasks.create_task(wyoming_door.serve(door, asking, [config.locale.partition("-")[0]]))
            if settings.openai is not None:
                host, _, port = settings.openai.rpartition(":")
                listener = socket.create_server((host.strip("[]"), int(port)), family=_family(host))
                application = openai_door.application(asking, Tokens(config.data_dir, household.users))
                # No access log: it would say who asked when.
                server = uvicorn.Server(uvicorn.Config(application, log_config=None, access_log=False, lifespan="off"))
                tasks.create_task(server.serve(sockets=[listener]))
                names.append(f"http://{host}:{listener.getsockname()[1]}/v1")
            if ready is not None:
                ready("\n".join(names))
    except ExceptionGroup as group:
        refused = group.subgroup(OSError)
        if refused is None:
            raise
        raise ConfigError(f"agent: a door cannot listen ({_reason(refused)})") from None
    finally:
        with suppress(Exception):
            await home.close()
            await household.close()
