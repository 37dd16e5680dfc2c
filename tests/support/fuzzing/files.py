"""Seeded changes of whole files: bytes, lines, words and values of texts, what is packed, and files of other kinds."""

import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.support.fuzzing.changes import BYTES

_WORD: Final = re.compile(rb"[A-Za-z0-9_./+=-]+")
_QUOTED: Final = re.compile(rb'"[^"\n]*"')
_VALUE: Final = re.compile(rb"(?m)= *(.+)$")
TOKENS: Final = (
    b"[" * 20_000, b'{"a":' * 20_000, b"\xff\xfe", b"\0", b"1e999", b"-1", b"9" * 5_000, b"null", b"true", b'""', b"[]",
    b"{}", b"NaN", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\t\t\t", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"inf", b"'''",
    b"2026-13-45T99:99:99Z", b"\\ud800", b"=", b"# ", b"1979-05-27", b"\xef\xbb\xbf", b"91,181", b"a.b" * 90, b"~x/y",
    b"1" * 30, b"0", b"2" * 4_300, b'"', b"\n",
)  # fmt: skip
VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 2**63, 2**64, 10**30, 1e300, float("inf"), float("nan"), "", "x", "é" * 300, "\ud800",
    "\0", "9" * 5_000, "2026-02-30", [], {}, [[]], [0], {"": 0}, ["x", "y", "z"], "AAAA", "AAA", "zz",
)  # fmt: skip
"""What no honest file holds at most places, and JSON can say."""
_PACKED: Final = {b"\x1f\x8b": "gzip", b"PK": "zip"}


_LINES: Final = (b"5\n", b"[]\n", b'"x"\n', b"null\n", b"{}\n", b"a\tb\n", b"\t\t\t\t\t\n", b"\n")


def _token(source: Random, data: bytes) -> bytes:
    at = source.randrange(len(data) + 1)
    return data[:at] + source.choice(TOKENS) + data[at:]


def _twice(source: Random, data: bytes) -> bytes:
    at = source.randrange(len(data) + 1)
    end = at + source.randrange(1, 200)
    return data[:end] + data[at:end] + data[end:]


def _lines(source: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    at, kind = source.randrange(max(1, len(lines))), source.randrange(4)
    if kind == 0:
        source.shuffle(lines)
    elif kind == 1:
        lines[at:at] = lines[at : at + 1] * source.choice((1, 3))
    elif kind == 2:
        lines[at : at + 1] = []
    else:
        lines[at:at] = [
            source.choice((b"5\n", b"[]\n", b'"x"\n', b"null\n", b"{}\n", b"a\tb\n", b"\t\t\t\t\t\n", b"\n"))
        ]
    return b"".join(lines)


def _found(pattern: re.Pattern[bytes]) -> Callable[[Random, bytes], bytes]:
    """Something else in the place of a match of a pattern."""

    def change(source: Random, data: bytes) -> bytes:
        matches = list(pattern.finditer(data))
        if not matches:
            return _token(source, data)
        match = source.choice(matches)
        group = match.re.groups
        new = source.choice((*TOKENS[2:], *(json.dumps(value).encode() for value in VALUES)))
        return data[: match.start(group)] + new + data[match.end(group) :]

    return change


def _value(source: Random, data: bytes) -> bytes:
    """A value of a JSON text, or of a line of it, of another kind, gone, or moved."""
    lines = [data] if _json(data) is not None else data.splitlines()
    at = source.randrange(max(1, len(lines)))
    found = _json(lines[at]) if lines else None
    if found is None:
        return _found(_QUOTED)(source, data)
    lines[at] = json.dumps(_changed(source, found)).encode()
    return b"\n".join(lines) + (b"\n" if data.endswith(b"\n") else b"")


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _changed(source: Random, value: Any) -> Any:
    """The value with one change somewhere within."""
    if isinstance(value, dict) and value and source.random() < 0.85:
        name = source.choice(list(value))
        if source.random() < 0.15:
            return {key: one for key, one in value.items() if key != name}
        return {**value, name: _changed(source, value[name])}
    if isinstance(value, list) and value and source.random() < 0.85:
        at = source.randrange(len(value))
        if source.random() < 0.2:
            return value[:at] + value[at + 1 :] if source.random() < 0.5 else [*value, value[at]]
        return [*value[:at], _changed(source, value[at]), *value[at + 1 :]]
    return source.choice(VALUES)


def _unpacked(source: Random, data: bytes) -> bytes:
    """What is within a packed file changed, and packed again."""
    kind = _PACKED.get(data[:2])
    if kind == "gzip":
        return gzip.compress(change(source, gzip.decompress(data))[0], mtime=0)
    if kind != "zip":
        return change(source, data)[0]
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as after:
        names = before.namelist()
        chosen = source.choice(names)
        for name in names:
            inner = before.read(name)
            after.writestr(name, change(source, inner)[0] if name == chosen else inner)
    return sink.getvalue()


_OTHERS: Final = (
    b"", b"\0" * 4096, b"\x89PNG\r\n\x1a\n", b"PAR1", b"PK\x03\x04", gzip.compress(b"x", mtime=0), zlib.compress(b"x"),
    b"SQLite format 3\0", b"[" * 100_000, b"5", b"{}", b"[]", b"null", b'"x"', b"a = 1\n",
    b"-----BEGIN CERTIFICATE-----\n",
)  # fmt: skip
CHANGES: Final[dict[str, Callable[[Random, bytes], bytes]]] = {
    **{f"bytes: {name}": made for name, made in BYTES.items()},
    "a token": _token,
    "a part twice": _twice,
    "lines": _lines,
    "a word": _found(_WORD),
    "a quoted text": _found(_QUOTED),
    "a value of TOML": _found(_VALUE),
    "a value of JSON": _value,
    "JSON again": _value,
    "a file of another kind": lambda source, _: source.choice(_OTHERS),
}


def change(source: Random, data: bytes) -> tuple[bytes, str]:
    """A file with one to three changes, and what they were."""
    if data[:2] in _PACKED and source.random() < 0.6:
        return _unpacked(source, data), "within what is packed"
    said = []
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        name = source.choice(list(CHANGES)) if data else "a token"
        said.append(name)
        data = CHANGES[name](source, data)
    return data, ", ".join(said)
