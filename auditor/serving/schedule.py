"""Audits on a schedule, each a process of its own: `proxid audit`, as anybody could run it by hand (DESIGN 10.5).

So a service holds nothing that a file-based audit would not, an audit keeps nobody waiting, and its memory goes with
it. It goes on from the state in data_dir; a service that was killed goes on with the next audit.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from proxid.runtime.observability.metrics import set_audited
from proxid.runtime.process.parent import die_with_parent

_log = structlog.get_logger(__name__)


class Schedule:
    """Audits now, and again and again.

    Args:
        config: the auditor's TOML. reports: the series' folder. every: seconds between the starts of two audits.
        gather: called before each audit; the further options of `proxid audit`.
    """

    def __init__(
        self, config: Path, reports: Path, every: float, gather: Callable[[], Awaitable[Sequence[str]]]
    ) -> None:
        self._config, self._reports, self._every, self._gather = config, reports, every, gather

    async def run(self) -> None:
        """Until cancelled; an audit under way ends with it."""
        loop = asyncio.get_running_loop()
        while True:
            begun = loop.time()
            status = await self.audit()
            set_audited(status, time.time())
            _log.info("audited", status=status)
            await asyncio.sleep(max(0.0, begun + self._every - loop.time()))

    async def audit(self) -> int:
        """One audit; its exit status."""
        more = await self._gather()
        command = [
            *die_with_parent(), sys.executable, "-P", "-m", "proxid.cli.main", "audit",
            "--config", str(self._config), "--out", str(self._reports), "--json", *more,
        ]  # fmt: skip
        none = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*command, stdin=none, stdout=none, stderr=none)
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
