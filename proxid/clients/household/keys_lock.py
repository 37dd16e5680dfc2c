"""A household's keys are open in one process at a time (DESIGN 5.6): two would link, consent and count past each other.

The lock is the kernel's, on a file in the household's folder: it ends with its process, however that ended.
"""

import os
from pathlib import Path

from proxid.errors import HouseholdBusyError, OutputError
from proxid.runtime.folder import take_lock


class KeysLock:
    """The lock, held until it is released.

    Args:
        folder: `data_dir`.

    Raises:
        HouseholdBusyError: another process holds it. OutputError: the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = take_lock(folder / "keys.lock")
        except OSError:
            raise OutputError("the household's data folder cannot be written") from None
        if self._descriptor is None:
            raise HouseholdBusyError(
                "this household's keys are in use by another proxid process: wait until it ends, or if it is "
                "proxid agent, stop it first"
            )

    def release(self) -> None:
        """Let others open the keys."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
