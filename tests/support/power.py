"""A power cut: what a store's program wrote and never synced is gone (`power.c` is preloaded into it)."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from proxid.runtime.store.embedded import EmbeddedStore

SOURCE = Path(__file__).with_name("power.c")


class Power:
    """Of every store that is started from now on.

    Args:
        folder: for what is built and written down.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        compiler = shutil.which("gcc")
        if compiler is None:
            pytest.skip("no gcc")
        self._log, self._hold, library = folder / "synced", folder / "hold", folder / "power.so"
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
        for name, path in {"LD_PRELOAD": library, "POWER_LOG": self._log, "POWER_HOLD": self._hold}.items():
            monkeypatch.setenv(name, str(path))

    def hold(self) -> None:
        """From here on nothing gets from a store's file onto its disk."""
        self._hold.touch()

    def release(self) -> None:
        """It goes on."""
        self._hold.unlink(missing_ok=True)

    def cut(self, store: EmbeddedStore, folder: Path) -> None:
        """Kill a store, and take from the files of its folder what was not synced."""
        assert store.pid is not None
        os.kill(store.pid, signal.SIGKILL)
        store.stop()
        synced = self._synced()
        for path in (folder / "appendonlydir").iterdir():
            found = path.stat()
            os.truncate(path, min(found.st_size, synced.get(found.st_ino, 0)))

    def _synced(self) -> Mapping[int, int]:
        rows = [line.split() for line in self._log.read_text().splitlines()]
        return {int(inode): int(size) for inode, size in rows}
