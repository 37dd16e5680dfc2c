"""What runs on this machine under a folder: to see that nothing is left."""

import time
from pathlib import Path


def processes_under(folder: Path) -> list[str]:
    """Command lines of living processes that name a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if str(folder) in line and state != "Z":
            found.append(line)
    return found


def wait_until_gone(folder: Path, seconds: float = 30.0) -> list[str]:
    """The same, once it is empty or the time is over."""
    deadline = time.monotonic() + seconds
    while (left := processes_under(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
