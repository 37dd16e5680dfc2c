"""A command of proxid as a child process: started, waited for, stopped gently, or killed to see what survives."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from proxid.errors import ChildError
from proxid.runtime.process.parent import die_with_parent

READY_SECONDS: Final = 60.0
STOP_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.02


class Child:
    """One `proxid …` process in a session of its own, so that Ctrl-C in a terminal reaches its parent alone.

    It ends with its parent, even a killed one (see `die_with_parent`).

    Args:
        name: for messages and file names. arguments: of `proxid`. folder: takes NAME.out and NAME.err.
        environment: added to this process's.
    """

    def __init__(
        self, name: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self._arguments = list(arguments)
        self.environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.output = folder / f"{name}.out"
        self.errors = folder / f"{name}.err"

    @property
    def pid(self) -> int:
        """Process id; raises ChildError if it was not started."""
        if self._process is None:
            raise ChildError(f"{self.name} was not started")
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, or start it again after it ended; output is appended."""
        command = [*die_with_parent(), sys.executable, "-P", "-m", "proxid.cli.main", *self._arguments]
        self.output.write_bytes(b"")
        with self.output.open("ab") as output, self.errors.open("ab") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=self.environment,
                start_new_session=True,
            )  # fmt: skip

    def wait_ready(self, seconds: float = READY_SECONDS) -> str:
        """The first line that it prints; raises ChildError if it ends before, or takes longer."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            text = self.output.read_text(encoding="utf-8")
            if "\n" in text:
                return text.partition("\n")[0]
            if not self.running:
                raise ChildError(f"{self.name} ended while it was starting")
            time.sleep(_POLL_SECONDS)
        raise ChildError(f"{self.name} did not start in time")

    def kill(self) -> None:
        """SIGKILL, without warning."""
        os.kill(self.pid, signal.SIGKILL)
        assert self._process is not None
        self._process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end and wait; kill it if it does not. Its exit status."""
        process = self._process
        if process is None:
            return 0
        if process.poll() is None:
            process.send_signal(number)
        try:
            return process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def finish(self, seconds: float) -> int:
        """Wait until it ends by itself; its exit status. Raises ChildError if it takes longer."""
        assert self._process is not None
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.stop()
            raise ChildError(f"{self.name} did not end in time") from None
