"""A file of JSON lines, its owner's alone, that grows or is replaced: a line is there whole, or not at all."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from proxid.errors import InputError, OutputError
from proxid.jsontext import load_json
from proxid.regular import open_regular, regular_bytes
from proxid.runtime.whole import append_whole


class EntryFile:
    """An open file. A line torn by a crash is cut off when it is opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def __enter__(self) -> Self:
        """Raises OutputError if it cannot be written."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
            end = regular_bytes(self._path).rfind(b"\n") + 1
            os.ftruncate(self._file, end)
        except OSError:
            self.__exit__()
            raise OutputError(f"{self._path.name}: the file cannot be opened").at(str(self._path)) from None
        os.lseek(self._file, end, os.SEEK_SET)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def append(self, entry: dict[str, Any]) -> None:
        """Keep one more entry durably; raises OutputError."""
        self.extend([entry])

    def extend(self, entries: Iterable[dict[str, Any]]) -> None:
        """Keep several durably, all or none of them; raises OutputError."""
        assert self._file is not None
        try:
            append_whole(self._file, b"".join(json.dumps(entry).encode("utf-8") + b"\n" for entry in entries))
            os.fsync(self._file)
        except OSError:
            raise OutputError(f"{self._path.name}: the file cannot be written") from None

    def rewrite(self, entries: Iterable[dict[str, Any]]) -> None:
        """Put these entries in the place of all; raises OutputError, and then the file is as it was."""
        self.__exit__()
        fresh = self._path.with_suffix(".next")
        try:
            fresh.unlink(missing_ok=True)
            with open(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.writelines(json.dumps(entry).encode("utf-8") + b"\n" for entry in entries)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
        except OSError:
            raise OutputError(f"{self._path.name}: the file cannot be written") from None
        finally:
            self.__enter__()


def read_entries(path: Path) -> Iterator[tuple[int, Any]]:
    """Number and value of each line; raises InputError naming the file, and the line that is no JSON."""
    try:
        file = open_regular(path)
    except OSError as error:
        raise InputError(f"{path.name}: the file cannot be read: {error.strerror}") from None
    with file:
        for number, line in enumerate(file, 1):
            try:
                value = load_json(line)
            except ValueError:
                raise InputError(f"{path.name}: line {number} is damaged") from None
            yield number, value
