"""How a command ends on SIGTERM, Ctrl-C or when its terminal goes: what it was writing goes first, then it has the
status of other tools.

A service sets handlers of its own and stops gracefully, with status 0.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def ending_signals() -> tuple[signal.Signals, ...]:
    """The signals on which a process ends in order: SIGHUP, too, unless it is ignored, as under `nohup`."""
    hang_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGTERM, signal.SIGINT, *hang_up)


class EndedError(SystemExit):
    """A signal ended the command; its status is 128 and the signal's number: 143 for SIGTERM, 130 for Ctrl-C."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number
        super().__init__(self.status)


class Ending:
    """The signal that came, 0 while there is none."""

    number = 0

    def __call__(self, number: int, _frame: FrameType | None = None) -> None:
        """Leave the command by an exception, so that its `with` blocks remove what is half-written.

        A second SIGTERM does not disturb that; a second Ctrl-C does, for whoever does not want to wait.
        """
        first, self.number = not self.number, number
        if first or number == signal.SIGINT:
            raise EndedError(number)


@contextmanager
def ended_by_signals() -> Iterator[Ending]:
    """Within the block signals end the command; whoever calls commands from another thread keeps theirs."""
    ending = Ending()
    if not _in_main_thread():
        yield ending
        return
    before = {number: signal.signal(number, ending) for number in ending_signals()}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_async(main: Coroutine[Any, Any, T], runner: Callable[[Coroutine[Any, Any, T]], T] = asyncio.run) -> T:
    """Run a coroutine; a signal cancels it, and ends the command when it has cleaned up: EndedError.

    runner: `asyncio.run`, or `uvloop.run`, which an exception out of a signal's handler does not become.
    """
    came: list[int] = []

    async def cancelled_by_signals() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def cancel(number: int) -> None:
            came.append(number)
            task.cancel()

        for number in ending_signals() if _in_main_thread() else ():
            loop.add_signal_handler(number, cancel, number)
        return await main

    try:
        return runner(cancelled_by_signals())
    except BaseException:
        if came:
            raise EndedError(came[0]) from None
        raise


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
