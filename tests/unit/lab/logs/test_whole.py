"""What is written by renaming must not take the place of something that is no ordinary file."""

import os
from pathlib import Path

import pytest

from proxid.errors import OutputError
from proxid.lab.logs.whole import whole_file


def test_a_pipe_or_folder_is_not_replaced(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for target in (pipe, folder):
        with pytest.raises(OutputError, match="not an ordinary file"), whole_file(target) as file:
            file.write(b"x")
    assert pipe.is_fifo()
    assert folder.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]
