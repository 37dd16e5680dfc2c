"""What a log is known by: the digest of its file's bytes, and the digest of its records (DESIGN 13).

Two files with the same records have the same record digest, whatever the order of their rows, their format, line ends,
header, compression or further columns. It recognises a log; it is no proof against somebody who makes up another one.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from proxid.errors import InputError
from proxid.lab.logs.base import LogReader
from proxid.lab.logs.batch import LogBatch
from proxid.lab.logs.files import open_log
from proxid.lab.logs.jit import Bytes, Codes, Hashes, Longs, Scalar, compiled, step
from proxid.lab.logs.strings import StringTable, hash_bytes, mixed
from proxid.regular import open_stream

_LANES: Final = 2
_SEEDS: Final = np.array([0x243F6A8885A308D3, 0x13198A2E03707344], np.uint64)
_LABEL: Final = b"proxid/v1/records"
_NO_TIME: Final = np.iinfo(np.int64).min
_MOST_STRINGS: Final = 1 << 20
"""Strings kept while a log is read; only those of the batch at hand are looked at."""


def digest_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal. Raises InputError."""
    try:
        with open_stream(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path.name}: the log cannot be opened: {error.strerror}") from None


def digest_of_records(path: Path, progress: Callable[[int, int], None] | None = None) -> str:
    """The digest of a log's readable records: user, query, time, rank and URL of each. Raises InputError.

    A sum over the records of hashes of 128 bits, so that order does not matter and the log need not fit into memory.
    """
    sums, count = np.zeros(_LANES, np.uint64), 0
    with open_log(path) as log:
        for batch in log:
            add_records(sums, batch, log)
            count += len(batch)
            _forget(log)
            if progress:
                progress(log.position, log.size)
    return hashlib.sha256(_LABEL + count.to_bytes(8, "big") + sums.astype(">u8").tobytes()).hexdigest()


def add_records(sums: Hashes, batch: LogBatch, log: LogReader) -> None:
    """Add a batch's hashes, modulo 2^64 in each lane."""
    known = log.dictionaries
    moments = np.where(np.isnan(batch.time), 0.0, np.round(batch.time * 1e6)).astype(np.int64)
    moments[np.isnan(batch.time)] = _NO_TIME
    numbers = (moments, batch.rank.astype(np.int64))
    texts = [(table.arena, table.bounds) for table in (known.user, known.query, known.url)]
    _add(sums, _SEEDS, texts[0], texts[1], texts[2], (batch.user, batch.query, batch.url), numbers)


def _forget(log: LogReader) -> None:
    known = log.dictionaries
    for name in ("user", "query", "url"):
        if len(getattr(known, name)) > _MOST_STRINGS:
            setattr(known, name, StringTable())


@step
def _with_text(state: Scalar, arena: Bytes, bounds: Longs, code: Scalar) -> Scalar:
    """A hash that goes on over a text; a missing one is like an empty one."""
    if code < 0:
        return hash_bytes(arena, 0, 0, state)
    return hash_bytes(arena, bounds[code], bounds[code + 1], state)


@compiled
def _add(
    sums: Hashes, seeds: Hashes, users: Scalar, queries: Scalar, urls: Scalar, codes: tuple[Codes, Codes, Codes],
    numbers: tuple[Longs, Longs],
) -> None:  # fmt: skip
    for lane in range(len(sums)):
        for i in range(len(codes[0])):
            state = mixed(mixed(seeds[lane], np.uint64(numbers[0][i])), np.uint64(numbers[1][i]))
            state = _with_text(state, users[0], users[1], codes[0][i])
            state = _with_text(state, queries[0], queries[1], codes[1][i])
            sums[lane] += _with_text(state, urls[0], urls[1], codes[2][i])
