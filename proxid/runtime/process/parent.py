"""Children that do not outlive their parent."""

import multiprocessing
import os
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


def end_with_parent() -> None:
    """End this process of `multiprocessing`'s when the one that started it ends, even killed.

    One of a pool would otherwise wait for work for good: it holds both ends of the queue.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()
