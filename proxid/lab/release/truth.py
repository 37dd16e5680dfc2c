"""The secret sidecar of a release, for evaluation: which input record each released record is (DESIGN 14).

A line a released record: its row in the release, its row in the input, the input row whose arrival released it, its
group (-1: none); tabs between, all counted from 0. Whoever has it undoes the release: mode 0600, never published.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from proxid.lab.columns.released import Released
from proxid.lab.logs.cells import write_digits
from proxid.lab.logs.jit import Bytes, Longs, Scalar, compiled
from proxid.lab.logs.whole import WholeFile, whole_file

_LINE = 84


@compiled
def _write_lines(columns: Longs, out: Bytes) -> Scalar:
    at = 0
    for i in range(columns.shape[1]):
        for j in range(len(columns)):
            if columns[j, i] < 0:
                out[at] = 45
                at += 1
            at = write_digits(out, at, abs(columns[j, i]), 1)
            out[at] = 10 if j == len(columns) - 1 else 9
            at += 1
    return at


class Truth:
    """Writes the sidecar, or nothing when there is none."""

    def __init__(self, file: WholeFile | None) -> None:
        self._file, self._rows = file, 0

    def write(self, released: Released) -> None:
        """Append the lines of released records."""
        if self._file is None:
            return
        number = np.arange(self._rows, self._rows + len(released), dtype=np.int64)
        self._rows += len(released)
        columns = np.stack([number, released.row, released.at, released.group.astype(np.int64)])
        out: Bytes = np.empty(len(released) * _LINE, np.uint8)
        self._file.write(out[: _write_lines(columns, out)].data)


@contextmanager
def open_truth(path: Path | None) -> Iterator[Truth]:
    """A sidecar that appears only when the block ends well. Raises OutputError."""
    if path is None:
        yield Truth(None)
        return
    with whole_file(path, 0o600) as file:
        yield Truth(file)
