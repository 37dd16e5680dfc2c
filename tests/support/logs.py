"""Logging is global: whoever configures it in a test puts it back."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


@contextmanager
def logging_restored() -> Iterator[None]:
    """Within the block, logging may be configured at will."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    try:
        yield
    finally:
        structlog.reset_defaults()
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
