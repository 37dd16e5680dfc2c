"""Structured logs: one JSON object a line on stderr, of listed events and fields only.

Everything that would otherwise print on its own is led through the same filter: the standard library's logging (gRPC
and asyncio use it), uncaught exceptions in any thread, exceptions that nobody awaited. Of an exception the type and
the place in the source are kept; its text and its variables may hold data and are dropped.
"""

import logging
import os
import sys
import threading
import traceback
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

from proxid.runtime.observability.events import keep_listed

_MAX_FRAMES: Final = 4
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure_logging(service: str, level: str = "info", stream: TextIO | None = None) -> None:
    """Route every log line of this process through the filter.

    Args:
        service: role that stands in every line. level: `debug`, `info`, `warning` or `error`. stream: stderr if None.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _describe_exception,
            _Filter(service),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lambda *_: _Printer(stream),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers[:] = [_Handler()]
    root.setLevel(logging.WARNING)
    sys.excepthook = _uncaught
    threading.excepthook = lambda args: _uncaught(args.exc_type, args.exc_value, args.exc_traceback)
    sys.unraisablehook = lambda args: _uncaught(args.exc_type, args.exc_value, args.exc_traceback)


class _Printer:
    """Writes a line; a log that nobody can read any more is no reason to stop serving."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def msg(self, line: str) -> None:
        """One line, at once."""
        with suppress(OSError, ValueError):
            stream = self._stream or sys.stderr
            stream.write(line + "\n")
            stream.flush()

    debug = info = warning = error = critical = exception = log = msg


class _Filter:
    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        return {**keep_listed(dict(event)), "service": self._service}


class _Handler(logging.Handler):
    """Keeps of a library's record its logger, its level and an exception's type and place."""

    def emit(self, record: logging.LogRecord) -> None:
        logger = structlog.get_logger()
        level = record.levelname.lower() if record.levelname.lower() in _LEVELS else "error"
        error = record.exc_info[1] if record.exc_info else None
        getattr(logger, level)("library message", library=record.name, **described(error))


def _describe_exception(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    info = event.pop("exc_info", None)
    error = sys.exc_info()[1] if info is True else info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        event.update(described(error))
    return event


def described(error: BaseException | None) -> dict[str, Any]:
    """Fields of a log line that say of an error what it is and where, and nothing of what it was about."""
    if error is None:
        return {}
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    where = " < ".join(f"{_file(frame)}:{frame.lineno}" for frame in reversed(frames))
    return {"error_type": type(error).__name__, "where": where}


def _file(frame: traceback.FrameSummary) -> str:
    return os.path.basename(frame.filename).replace(" ", "_")


def _uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    structlog.get_logger().error("uncaught", **(described(error) or {"error_type": kind.__name__}))
