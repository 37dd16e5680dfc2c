"""Python runs this first in each service of a chaos test: its wall clock is off by what a file says.

The file holds eight bytes, the seconds as a double; `tests.support.chaos_house` writes it. Nothing else of the process
is changed, and its store goes by the machine's clock. PROXID_PLANTED, if there is such, is a defect: a program that is
run next, to see that it is found.
"""

import mmap
import os
import struct
import time


def _move(path: str) -> None:
    right = time.time
    with open(path, "rb") as file:
        moved = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
    time.time = lambda: right() + struct.unpack("d", moved)[0]


if "PROXID_MOVED_CLOCK" in os.environ:
    _move(os.environ["PROXID_MOVED_CLOCK"])
    exec(os.environ.get("PROXID_PLANTED", ""))
