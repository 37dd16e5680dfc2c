"""Children that do not outlive their parent."""

import threading
from shutil import which


def die_with_parent() -> list[str]:
    """A prefix to a command that lets the kernel send it SIGTERM when the thread that starts it ends.

    Only the main thread ends with its process, so only there it is wanted; and only where `setpriv` (util-linux) is
    installed. Elsewhere a child of a killed parent lives on until it is stopped.
    """
    setpriv = which("setpriv")
    if setpriv is None or threading.current_thread() is not threading.main_thread():
        return []
    return [setpriv, "--pdeathsig", "TERM"]
