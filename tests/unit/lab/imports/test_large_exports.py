"""A gigabyte of an export is read in little memory, whatever it is made of."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

GIGABYTE = 1_000_000_000
MEBIBYTES = 300
MEASURED = """
import resource, sys
from proxid.cli.main import main
status = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
sys.exit(status)
"""
ANSWER, SCREEN = "x" * 450, "x" * 180


def moment(number: int) -> str:
    hour, minute, second = number % 24, number // 24 % 60, number // 1440 % 60
    return f"20{10 + number % 14}-01-01T{hour:02}:{minute:02}:{second:02}.{number % 1000:03}Z"


def google(number: int) -> str:
    """A record as it comes, with an answer; the export is one JSON list."""
    record = f'{{"products":["Assistant"],"title":"Said number {number}","time":"{moment(number)}","html":"{ANSWER}"}}'
    return f",\n{record}" if number else f"[\n{record}"


def alexa(number: int) -> str:
    """A row as it comes, of which little is read: the more utterances there are."""
    head = "" if number else "\ufeffScreen Contents,Contact Name,Utterance text,Utterance Creation Date\r\n"
    return f"{head}{SCREEN},Not Available,number {number},{moment(number)}\r\n"


def chunks(record: Callable[[int], str], end: str, told: list[int]) -> Iterator[bytes]:
    """Until a gigabyte is told; how many records that were goes into `told`."""
    size = number = 0
    while size < GIGABYTE:
        chunk = "".join(record(number + i) for i in range(10_000)).encode()
        number, size = number + 10_000, size + len(chunk)
        yield chunk
    told.append(number)
    yield end.encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "record", "end"),
    [("takeout", "MyActivity.json", google, "]"), ("alexa", "Intent-1-1.csv", alexa, "")],
    ids=["takeout", "alexa"],
)
def test_a_gigabyte_is_read_in_little_memory(
    tmp_path: Path, kind: str, name: str, record: Callable[[int], str], end: str
) -> None:
    """It is made while it is read; memory is that of a process of its own."""
    file, told = tmp_path / name, list[int]()
    os.mkfifo(file)

    def write() -> None:
        with suppress(BrokenPipeError), file.open("wb") as out:
            for chunk in chunks(record, end, told):
                out.write(chunk)

    threading.Thread(target=write, daemon=True).start()
    command = ["import", kind, str(file), "-u", "ann", "-o", str(tmp_path / "me.jsonl")]
    done = subprocess.run([sys.executable, "-c", MEASURED, *command], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{told[0]:,} utterances" in done.stdout
    assert int(done.stdout.split()[-1]) <= MEBIBYTES
