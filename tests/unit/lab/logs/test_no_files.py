"""A device is no log: it would be read without end. A pipe is as good as a file."""

import gzip
import os
import threading
from pathlib import Path

import pytest

from device_sim.corpus import read_events
from proxid.errors import InputError
from proxid.lab.imports.archive import files_of
from proxid.lab.logs.digest import digest_of
from proxid.lab.logs.files import open_log, read_log
from proxid.lab.utility.counted.counts import is_counted


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["log.tsv", "log.jsonl", "log.tsv.gz", "log.jsonl.gz", "log.parquet"])
def test_a_device_is_no_log(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match=name):
        open_log(path)
    with pytest.raises(InputError, match=name):
        digest_of(path)
    assert not is_counted(path)


@pytest.mark.timeout(20)
def test_nor_is_it_an_export_or_what_somebody_says(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match=path.name):
        next(read_events(path))
    with pytest.raises(InputError, match=path.name):
        next(files_of(path, lambda _: True))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz"])
def test_a_pipe_is_a_log(tmp_path: Path, name: str) -> None:
    path, text = tmp_path / name, b"AnonID\tQuery\tQueryTime\nann\tweather\t2006-03-01 00:00:00\n"
    os.mkfifo(path)
    writing = threading.Thread(target=path.write_bytes, args=(gzip.compress(text) if name.endswith("gz") else text,))
    writing.start()
    batch, _ = read_log(path)
    writing.join()
    assert len(batch) == 1
