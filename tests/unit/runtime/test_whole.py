"""A line is written whole or not at all, however little the kernel takes at a time, and when nothing more fits."""

import errno
import json
import os
from pathlib import Path

import pytest

from proxid.clients.household.receipts import ReceiptBook
from proxid.errors import OutputError
from proxid.runtime.entry_file import EntryFile, read_entries
from proxid.runtime.evidence_log.files import AppendFile
from proxid.runtime.whole import replace_whole

ENTRIES = [{"number": number, "text": "x" * 40} for number in range(3)]


class Kernel:
    """Takes seven bytes at a time, and `room` in all."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int = 1 << 20) -> None:
        self._write, self.room = os.write, room
        monkeypatch.setattr(os, "write", self)

    def __call__(self, descriptor: int, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "full")
        taken = self._write(descriptor, bytes(data[: min(7, self.room)]))
        self.room -= taken
        return taken


def test_every_line_is_whole_in_small_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Kernel(monkeypatch)
    with EntryFile(tmp_path / "feed.jsonl") as lines:
        for entry in ENTRIES:
            lines.append(entry)
    assert [entry for _, entry in read_entries(tmp_path / "feed.jsonl")] == ENTRIES
    log = AppendFile(tmp_path / "segment")
    log.append(b"l" * 100)
    log.close()
    assert (tmp_path / "segment").read_bytes() == b"l" * 100
    replace_whole(tmp_path / "head", b"h" * 100)
    assert (tmp_path / "head").read_bytes() == b"h" * 100


def test_what_does_not_fit_leaves_nothing_and_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "feed.jsonl"
    with EntryFile(path) as lines:
        lines.append(ENTRIES[0])
        kernel = Kernel(monkeypatch, room=20)
        with pytest.raises(OutputError, match=r"feed\.jsonl"):
            lines.append(ENTRIES[1])
        kernel.room = 1 << 20
        lines.append(ENTRIES[2])
    assert [json.loads(line) for line in path.read_text().splitlines()] == [ENTRIES[0], ENTRIES[2]]


def test_receipts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, kernel = ReceiptBook(tmp_path / "receipts.jsonl"), Kernel(monkeypatch, room=20)
    with pytest.raises(OutputError):
        file.add_bytes("right", b"s", b"m" * 100)
    kernel.room = 1 << 20
    file.add_bytes("right", b"s", b"m" * 100)
    assert len([json.loads(line) for line in (tmp_path / "receipts.jsonl").read_text().splitlines()]) == 1
