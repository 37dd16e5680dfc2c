"""A command that is ended by a signal leaves nothing half-written, and has the status of other tools."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proxid.cli.main import main

SECONDS = 120.0


def writing(folder: Path) -> bool:
    return any(path.name.endswith(".part") for path in folder.iterdir())


OTHERS = [pytest.param(number, marks=pytest.mark.slow) for number in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize("number", [signal.SIGHUP, *OTHERS])
def test_a_release_that_is_ended_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    log = tmp_path / "log.tsv"
    # Few texts, which are soon filed, in many rows: it is the writing that is to be ended.
    log.write_text("".join(f"u{row % 97}\twhat is the answer to question {row % 300}\n" for row in range(300_000)))
    words = ["release", str(log), "-o", str(tmp_path / "out.tsv"), "--truth", str(tmp_path / "truth.tsv")]
    with subprocess.Popen(
        [sys.executable, "-m", "proxid.cli.main", *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        deadline = time.monotonic() + SECONDS
        while not writing(tmp_path) and child.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert child.poll() is None, "the release was over before it could be ended: give it more rows"
        child.send_signal(number)
        assert child.wait(SECONDS) == 128 + number
        assert child.stderr is not None and b"Traceback" not in child.stderr.read()
    assert [path.name for path in tmp_path.iterdir()] == ["log.tsv"]


def test_a_terminal_that_goes_ends_nothing_that_was_told_not_to_hear_of_it() -> None:
    heard = subprocess.run(
        [sys.executable, "-c", _UNDER_NOHUP], capture_output=True, text=True, timeout=SECONDS, check=True
    )
    assert heard.stdout.split() == ["True", "False"]


_UNDER_NOHUP = """
import signal
from proxid.runtime.process.ended import ending_signals
print(signal.SIGHUP in ending_signals())
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
print(signal.SIGHUP in ending_signals())
"""


def test_a_command_called_in_process_leaves_the_handlers_as_they_were() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    assert main(["release", "nowhere.tsv", "-o", "out.tsv"]) == 2
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
