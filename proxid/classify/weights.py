"""How trained rows are stored: few levels a number, a scale a row, a key instead of a name; and how they are read."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proxid.errors import ConfigError
from proxid.regular import regular_bytes

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Keys = NDArray[np.uint32]
GRID: Final = 2.0**-11
"""What weights and activations are multiples of."""


class Packed(NamedTuple):
    """Rows by their keys, and one more row that is nothing. `rows`: 16-bit, in units of GRID."""

    keys: Keys
    rows: NDArray[np.int16]

    def places(self, keys: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where the rows of keys are, and which are known."""
        wanted = np.array(keys, np.uint32)
        found = self.keys.searchsorted(wanted)
        return found, self.keys.take(found, mode="clip") == wanted

    @classmethod
    def of(cls, arrays: Any) -> "Packed":
        """Read what `pack` wrote."""
        keys = np.cumsum(arrays["keys"], dtype=np.uint32)
        rows = np.empty((len(keys) + 1, arrays["rows"].shape[1]), np.int16)
        np.multiply(arrays["rows"], arrays["scale"].astype(np.int16)[:, None], out=rows[:-1])
        rows[-1] = 0
        return cls(keys, rows)


def pack(keys: Sequence[int], rows: Floats, levels: int) -> dict[str, NDArray[Any]]:
    """Arrays that hold rows with `levels` steps to each side of zero.

    Each row's step is a multiple of GRID, so that every number is one. Of two features with one key the first stays.
    """
    ordered, first = np.unique(np.array(keys, np.uint32), return_index=True)
    chosen = rows[first]
    scale = np.clip(np.rint(np.abs(chosen).max(axis=1) / (levels * GRID)), 1, 2**15 // (levels + 2)).astype(np.uint16)
    steps = np.rint(chosen / (scale * GRID)[:, None])
    return {
        "keys": np.diff(ordered, prepend=np.uint32(0)).astype(np.uint32),
        "rows": np.clip(steps, -levels - 1, levels + 1).astype(np.int8),
        "scale": scale,
    }


def text_array(lines: Sequence[str]) -> NDArray[np.uint8]:
    """Lines as bytes."""
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def to_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays as a compressed npz without time stamps, so that the same arrays are the same bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)
    return written.getvalue()


def from_bytes(data: bytes) -> dict[str, NDArray[Any]]:
    """What `to_bytes` wrote; raises ConfigError for anything else."""
    try:
        with np.load(io.BytesIO(data)) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except Exception as error:  # zip, npy and Python literals in it have errors of their own each
        raise ConfigError("the classifier's weights are damaged: install them again") from error


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file; raises ConfigError."""
    try:
        data = regular_bytes(path)
    except OSError:
        raise ConfigError("the classifier's weights cannot be read: install them again").at(str(path)) from None
    return from_bytes(data)
