"""The files of an export: a file, a folder or zips of it, each as a stream of bytes.

An archive comes from elsewhere. Nothing of it is written to disk, so a name that leads out of it could do no harm;
such an archive was made to do some, and is refused whole, as is one that swells to more than any export.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final
from unicodedata import normalize

from proxid.errors import InputError
from proxid.regular import open_regular, open_stream

LARGEST: Final = 2 << 30
"""Bytes of one file in a zip."""
RATIO: Final = 200
"""Bytes that one packed byte may become; the fullest of exports, JSON that repeats its keys, stays under 40."""
_SMALL: Final = 1 << 20
"""Bytes of a file that no ratio is asked of."""

_DAMAGED: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, struct.error, ValueError, IndexError, KeyError, OverflowError,
)  # fmt: skip
"""What the library raises for a zip that is none: it believes its fields."""

Wanted = Callable[[PurePosixPath], bool]


class _Limited(io.RawIOBase):
    """A file of a zip that ends in an error once it is larger than its packed bytes may become."""

    def __init__(self, inner: BinaryIO, most: int, where: str) -> None:
        self._inner, self._left, self._where = inner, most, where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        with _readable(self._where):
            data = self._inner.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise InputError(f"{self._where} is packed too tightly to be an export: nothing was imported")
        buffer[: len(data)] = data
        return len(data)


def files_of(source: Path, wanted: Wanted) -> Iterator[tuple[str, BinaryIO]]:
    """(name, stream) of the wanted files of an export, in order of their names.

    Args:
        source: one of the files, a zip, or a folder that holds them or zips, as multipart exports come.
        wanted: whether a path, its names in NFC, is one of the files.

    Raises:
        InputError: a zip is damaged, encrypted, of an unknown packing, or made to do harm; a file cannot be read.
    """
    if not source.is_dir():
        yield from _one(source, wanted, asked_for=True)
        return
    for path in sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink()):
        yield from _one(path, wanted, asked_for=False)


def _one(path: Path, wanted: Wanted, *, asked_for: bool) -> Iterator[tuple[str, BinaryIO]]:
    if path.suffix.lower() == ".zip":
        yield from _members(path, wanted)
    elif asked_for or wanted(_nfc(path.as_posix())):
        with _readable(path.name):
            stream = open_stream(path)
        with stream:
            yield path.name, stream


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """What goes wrong with a zip or a file, told by its name."""
    try:
        yield
    except (*_DAMAGED, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{name} cannot be read from its zip ({_why(error)}): download it again") from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or 'cannot be read'}") from None


def _members(path: Path, wanted: Wanted) -> Iterator[tuple[str, BinaryIO]]:
    with ExitStack() as stack:
        with _readable(path.name):
            file = stack.enter_context(open_regular(path))
            archive, packed = stack.enter_context(zipfile.ZipFile(file)), file.seek(0, io.SEEK_END)
        infos = sorted(archive.infolist(), key=lambda info: info.filename)
        for info in infos:
            name = _nfc(info.filename.replace("\\", "/"))
            if name.is_absolute() or ".." in name.parts:
                raise InputError(f"{path.name} holds a name that leads out of it: nothing was imported")
        for info in infos:
            name = _nfc(info.filename.replace("\\", "/"))
            if not info.filename or info.is_dir() or not wanted(name):  # the library takes a name to be one
                continue
            where = f"{path.name}: {name.name}"
            most = min(LARGEST, max(_SMALL, RATIO * min(info.compress_size, packed)))
            if info.file_size > most:
                raise InputError(f"{where} is packed too tightly to be an export: nothing was imported")
            with _readable(where):
                inner = archive.open(info)
            with inner:
                # What the directory of a zip says of a size is a claim: the bytes are counted as well.
                yield where, io.BufferedReader(_Limited(inner, most, where), 1 << 16)  # type: ignore[arg-type]


def _nfc(name: str) -> PurePosixPath:
    return PurePosixPath(normalize("NFC", name))


def _why(error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return "packed in an unknown way"
    return "encrypted" if isinstance(error, RuntimeError) else "damaged"
