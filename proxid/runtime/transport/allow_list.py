"""Whose certificates a running service admits (DESIGN 16): the list on disk, read again whenever it changes.

Every worker watches for itself. Only the list of `[[peers]]` is taken over; keys are believed as they were at start.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import structlog

from proxid.errors import Code, ProxidError
from proxid.runtime.config.base import PartyBase
from proxid.runtime.config.loading import load, read_toml
from proxid.runtime.observability.logging import described
from proxid.runtime.transport.peers import PeerRegistry

POLL: Final = 0.5
"""Seconds. A file counts once it is the same in two looks, so that none is read half written."""

_Stamp = tuple[tuple[int, int, int] | None, ...]

_log = structlog.get_logger(__name__)


class AllowListWatch:
    """Takes changes of a configuration's allow-list over.

    A file that does not validate, or cannot be read, changes nothing: a slip while editing must not cut everybody
    off. The list in force stays, and each such file is logged as an error.

    Args:
        path: the service's TOML. model: its class. peers: gets the list.
    """

    def __init__(self, path: Path, model: type[PartyBase], peers: PeerRegistry) -> None:
        self._path = path
        self._model = model
        self._peers = peers
        self._files = _files(path)
        self._seen: _Stamp | None = None
        self._taken: _Stamp | None = None

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(POLL)

    async def look(self) -> None:
        """Look once."""
        stamp = tuple(_stamp(file) for file in self._files)
        if stamp not in (self._seen, self._taken):
            self._seen = stamp
            return
        if stamp != self._taken:
            self._taken = stamp
            # Ten thousand parties' keys take a while to check, during which calls are answered.
            allowed = await asyncio.to_thread(self._read)
            # Running calls are ended by it, which is for the thread that serves them.
            if allowed is not None and self._peers.replace(allowed):
                _log.info("allow-list changed", peers=len(allowed))

    def _read(self) -> Mapping[str, str] | None:
        """The list, fingerprint → `ROLE/NAME`; None if the one in force stays."""
        try:
            allowed = load(self._model, self._path).trust.allow_list()
            self._files = _files(self._path)
        except Exception as error:
            # Whatever a file holds, it must not end the service: an error that nobody foresaw is the worst slip of all.
            code = error.code if isinstance(error, ProxidError) else Code.INTERNAL
            _log.error("allow-list kept", code=code.value, **described(error))
            return None
        return allowed


def _files(path: Path) -> list[Path]:
    """The configuration, and the file of its trust where that is one of its own."""
    trust = read_toml(path).get("trust")
    return [path, path.parent / Path(trust).expanduser()] if isinstance(trust, str) else [path]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
