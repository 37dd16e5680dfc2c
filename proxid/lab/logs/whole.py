"""Files that are whole or absent: written under a temporary name beside the target, renamed when complete."""

import errno
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from proxid.errors import OutputError


@contextmanager
def write_errors() -> Iterator[None]:
    """Turn the system's refusal to write into an OutputError that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OutputError("the output could not be written: no space left on the device") from None
        raise OutputError(f"the output could not be written: {error.strerror or 'input/output error'}") from None


class WholeFile:
    """A binary file that takes its name at `commit` and vanishes at `abandon`; mode 0600 until it has its name."""

    def __init__(self, path: Path, *, compressed: bool = False) -> None:
        if os.path.lexists(path) and not path.is_file():
            # Renaming over a device, a pipe or a folder would destroy it.
            raise OutputError("the output exists and is not an ordinary file")
        self.path = path
        self._packer = zlib.compressobj(4, zlib.DEFLATED, 16 + zlib.MAX_WBITS) if compressed else None
        with write_errors():
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent or Path())
        self.part = Path(name)
        self.file: BinaryIO = os.fdopen(handle, "wb", buffering=0)

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes (packed by gzip when `compressed`). Raises OutputError."""
        self._put(data if self._packer is None else self._packer.compress(data))

    def _put(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        with write_errors():
            while view:
                view = view[self.file.write(view) :]

    def commit(self, mode: int | None = None) -> None:
        """Put the file on disk and give it its name (replacing an older file). Raises OutputError."""
        if self._packer is not None:
            self._put(self._packer.flush())
        with write_errors():
            os.fsync(self.file.fileno())
            self.file.close()
            umask = os.umask(0)
            os.umask(umask)
            self.part.chmod(0o666 & ~umask if mode is None else mode)
            self.part.replace(self.path)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Remove what was written if the block fails."""
        try:
            yield
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Remove what was written."""
        self.file.close()
        self.part.unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path, mode: int | None = None) -> Iterator[WholeFile]:
    """A file that appears under its name only when the block ends well. Raises OutputError."""
    target = WholeFile(path)
    with target.kept():
        yield target
        target.commit(mode)
