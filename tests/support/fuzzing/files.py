"""Seeded changes of whole files: bytes, lines, words and values of texts, what is packed, and files of other kinds."""

import gzip
import io
import json
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.support.fuzzing.changes import BIG, BYTES

_WORD: Final = re.compile(rb"[A-Za-z0-9_./+=-]+")
_QUOTED: Final = re.compile(rb'"[^"\n]*"')
_VALUE: Final = re.compile(rb"(?m)= *(.+)$")
_KEY_OF_JSON: Final = re.compile(rb'"[^"\n\\]*": ?')
_KEY_OF_TOML: Final = re.compile(rb"(?m)^[\w-]+ *= *")
TOKENS: Final = (
    b"[" * 20_000, b'{"a":' * 20_000, b"\xff\xfe", b"\0", b"1e999", b"-1", b"9" * 5_000, b"null", b"true", b'""', b"[]",
    b"{}", b"NaN", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\t\t\t", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"inf", b"'''",
    b"2026-13-45T99:99:99Z", b"\\ud800", b"=", b"# ", b"1979-05-27", b"\xef\xbb\xbf", b"91,181", b"a.b" * 90, b"~x/y",
    b"1" * 30, b"0", b"2" * 4_300, b'"', b"\n",
)  # fmt: skip
VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 2**63, 2**64, 10**30, 10**4_000, 1e300, float("inf"), float("nan"), "", "x", "é" * 300,
    "\ud800", "\0", "9" * 5_000, "2026-02-30", [], {}, [[]], [0], {"": 0}, ["x", "y", "z"], "AAAA", "AAA", "zz", "../x",
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


def _elsewhere(source: Random, data: bytes) -> bytes:
    """A text as another program saves it: another encoding, a mark before it, other line ends."""
    text = data.decode("utf-8", "replace")
    encoding = source.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "utf-7", "cp037", "utf-8"))
    end = source.choice(("\n", "\r\n", "\r", "\u2028"))
    return text.replace("\n", end).encode(encoding, "replace")


def _key_twice(source: Random, data: bytes) -> bytes:
    """A key of an object or a table once more, with another value, before or behind its own."""
    pattern = source.choice((_KEY_OF_JSON, _KEY_OF_TOML))
    matches = list(pattern.finditer(data)) or list(_KEY_OF_JSON.finditer(data))
    if not matches:
        return _twice(source, data)
    match, value = source.choice(matches), json.dumps(source.choice(VALUES)).encode()
    end = b", " if match.re is _KEY_OF_JSON else b"\n"
    return data[: match.start()] + match[0] + value + end + data[match.start() :]


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
        inner = _BOMB if source.random() < 0.05 else change(source, gzip.decompress(data))[0]
        return gzip.compress(inner, mtime=0)
    if kind != "zip":
        return change(source, data)[0]
    return source.choice((_repacked, _repacked, _told_otherwise, _ill_meant))(source, data)


def _repacked(source: Random, data: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as after:
        names = before.namelist()
        chosen = source.choice(names)
        for name in names:
            inner = before.read(name)
            after.writestr(name, change(source, inner)[0] if name == chosen else inner)
    return sink.getvalue()


def _told_otherwise(source: Random, data: bytes) -> bytes:
    """What a zip says of its files is not so: sizes, packing, flags, names; at their heads or in its directory."""
    starts = [at for mark in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06") for at in _places(data, mark)]
    found, at = bytearray(data), source.choice(starts)
    for _ in range(source.choice((1, 1, 2))):
        field, size = at + source.randrange(4, 44, 2), source.choice((2, 4))
        found[field : field + size] = (source.choice(BIG) % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(found)


def _places(data: bytes, mark: bytes) -> list[int]:
    return [match.start() for match in re.finditer(re.escape(mark), data)]


def _ill_meant(source: Random, data: bytes) -> bytes:
    """A zip that was made to do harm: names that lead out of it, a bomb, a link, its own name twice, far too many."""
    sink, kind = io.BytesIO(), source.randrange(5)
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as after:
        first = before.infolist()[0].filename
        for name in before.namelist():
            after.writestr(name, before.read(name))
        if kind == 0:
            after.writestr(source.choice(("../" * 9 + "x", "/x", f"../{first}", "C:\\x", "a/../../x")), b"x")
        elif kind == 1:
            after.writestr(f"more/{first}", _BOMB)
        elif kind == 2:
            link = zipfile.ZipInfo(f"link/{first}")
            link.external_attr = 0o120777 << 16
            after.writestr(link, "/etc/passwd")
        elif kind == 3:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                after.writestr(first, source.choice((b"", b"[]", b"x")))
        else:
            for at in range(2_000):
                after.writestr(f"{at}/{first}", b"")
    return sink.getvalue()


_BOMB: Final = b" " * 40_000_000
_OTHERS: Final = (
    b"", b"\0" * 4096, b"\x89PNG\r\n\x1a\n", b"PAR1", b"PK\x03\x04", gzip.compress(b"x", mtime=0), zlib.compress(b"x"),
    b"SQLite format 3\0", b"[" * 100_000, b"5", b"{}", b"[]", b"null", b'"x"', b"a = 1\n",
    b"-----BEGIN CERTIFICATE-----\n",
)  # fmt: skip
CHANGES: Final[dict[str, Callable[[Random, bytes], bytes]]] = {
    **{f"bytes: {name}": made for name, made in BYTES.items()},
    "a token": _token,
    "a part twice": _twice,
    "saved elsewhere": _elsewhere,
    "a key twice": _key_twice,
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
