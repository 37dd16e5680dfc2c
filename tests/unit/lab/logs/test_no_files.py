"""A log that is none of the disk's files: a device is read without end, a pipe waited for without end."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from device_sim.corpus import read_events
from proxid.errors import InputError
from proxid.lab.imports.archive import files_of
from proxid.lab.logs.digest import digest_of
from proxid.lab.logs.files import open_log
from proxid.lab.utility.counted.counts import is_counted

MAKE: dict[str, Callable[[Path], None]] = {
    "device": lambda path: path.symlink_to("/dev/zero"),
    "pipe": os.mkfifo,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("name", ["log.tsv", "log.jsonl", "log.tsv.gz", "log.jsonl.gz", "log.parquet"])
def test_what_is_no_file_is_no_log(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / name
    MAKE[kind](path)
    with pytest.raises(InputError, match=name):
        open_log(path)
    with pytest.raises(InputError, match=name):
        digest_of(path)
    assert not is_counted(path)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", MAKE)
def test_nor_an_export_nor_what_somebody_says(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "said.jsonl"
    MAKE[kind](path)
    with pytest.raises(InputError, match=path.name):
        next(read_events(path))
    with pytest.raises(InputError, match=path.name):
        next(files_of(path, lambda _: True))
