"""Records of a log's files are read whole, however much of them the first read brings."""

import os
from pathlib import Path

import pytest

from proxid.errors import LogDamagedError
from proxid.runtime.evidence_log.files import FRAME, MAX_RECORD, frame, read_record


@pytest.mark.parametrize("size", [0, 1, 4087, 4088, 4089, 9000])
def test_a_record_of_any_size_is_read_whole_or_refused(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    path = tmp_path / "records"
    path.write_bytes(frame(data) + frame(b"the next"))
    with path.open("rb") as file:
        assert read_record(file.fileno(), 0) == data
        assert read_record(file.fileno(), FRAME.size + size) == b"the next"
    path.write_bytes(frame(data)[:-1])
    with path.open("rb") as file, pytest.raises(LogDamagedError):
        read_record(file.fileno(), 0)


def test_a_length_that_no_record_has_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_bytes(FRAME.pack(MAX_RECORD + 1, 0) + bytes(5000))
    with path.open("rb") as file, pytest.raises(LogDamagedError):
        read_record(file.fileno(), 0)
