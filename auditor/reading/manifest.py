"""What an exported folder held when it was written: size and SHA-256 of every file, in `manifest.json`, written last.

It tells damage and mistakes of whoever keeps the folder from what a service did. It is not signed: it shows nothing
about an exporter who lies. Who exports is the auditor, or somebody the auditor trusts.
"""

import hashlib
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from auditor.findings import GATEWAY, MAIN_SERVICE
from proxid.errors import MALFORMED, EvidenceUnreadableError, OutputError
from proxid.jsontext import load_json
from proxid.regular import open_regular, regular_text

MANIFEST: Final = "manifest.json"

FILES: Final = tuple(
    sorted(
        [
            "keys.json",
            *(f"{log}/{name}" for log in (GATEWAY, MAIN_SERVICE) for name in ("heads.json", "leaves", "hashes")),
        ]
    )
)
"""Every file of an export but the manifest, relative to its folder; an older log has a folder of its own."""
_OLDER: Final = re.compile(rf"({GATEWAY}|{MAIN_SERVICE})/[1-9][0-9]{{0,7}}/(heads\.json|leaves|hashes)")

_PARTIAL: Final = f"{MANIFEST}.part"
_VERSION: Final = 2
_BUFFER: Final = 1 << 20


def begin_manifest(folder: Path) -> None:
    """Before an export is written: an older one's manifest goes; raises OutputError if other files lie there."""
    others = sorted(name for name in _names(folder) - {*FILES, MANIFEST, _PARTIAL} if not _OLDER.fullmatch(name))
    if others:
        raise OutputError(f"{folder / others[0]}: is no file of an export; export into a new folder")
    (folder / MANIFEST).unlink(missing_ok=True)


def write_manifest(folder: Path) -> None:
    """Write the manifest of the files that lie in an exported folder now; raises OSError."""
    files = {}
    for name in sorted({*FILES, *filter(_OLDER.fullmatch, _names(folder))}):
        size, digest = _measure(folder / name)
        files[name] = {"bytes": size, "sha256": digest}
    text = json.dumps({"version": _VERSION, "files": files}, indent=1)
    # In one step: an export that was broken off has no manifest, never half of one.
    partial = folder / _PARTIAL
    partial.write_text(text, encoding="ascii")
    partial.replace(folder / MANIFEST)


def verify_manifest(folder: Path) -> None:
    """Check that a folder holds what was exported, all of it and nothing else, before anything of it is judged.

    Raises:
        EvidenceUnreadableError: it does not; names the first file that is wrong.
    """
    expected = _read(folder / MANIFEST)
    present = _names(folder) - {MANIFEST}
    for name in sorted(expected):
        if name not in present:
            raise EvidenceUnreadableError(f"{folder / name}: is missing from the export")
    for name in sorted(present.difference(expected)):
        raise EvidenceUnreadableError(f"{folder / name}: was not exported; take it out of the folder")
    for name in sorted(expected):
        try:
            found = _measure(folder / name)
        except OSError:
            raise EvidenceUnreadableError(f"{folder / name}: cannot be read") from None
        if found != expected[name]:
            text = f"{folder / name}: is not the file that was exported: {_differs(found, expected[name])}"
            raise EvidenceUnreadableError(f"{text}; export again")


def _differs(found: tuple[int, str], expected: tuple[int, str]) -> str:
    if found[0] != expected[0]:
        return f"its size is {found[0]} bytes, and {expected[0]} were exported"
    return f"its SHA-256 is not that of {MANIFEST}"


def _read(path: Path) -> dict[str, tuple[int, str]]:
    """Size and SHA-256 (hex) of every file."""
    try:
        text = regular_text(path, "ascii")
    except FileNotFoundError:
        raise EvidenceUnreadableError(
            f"{path}: is missing: no export, or one that was broken off; export again"
        ) from None
    except (OSError, ValueError):
        raise EvidenceUnreadableError(f"{path}: cannot be read; export again") from None
    try:
        data = load_json(text)
        files = {str(name): (int(entry["bytes"]), str(entry["sha256"])) for name, entry in data["files"].items()}
        version = data["version"]
    except MALFORMED:
        raise EvidenceUnreadableError(f"{path}: is damaged; export again") from None
    if version != _VERSION or not _is_export(files):
        raise EvidenceUnreadableError(f"{path}: is not the list of an export's files; export again")
    return files


def _is_export(names: Collection[str]) -> bool:
    return set(FILES) <= set(names) and all(_OLDER.fullmatch(name) for name in set(names).difference(FILES))


def _names(folder: Path) -> set[str]:
    """Everything in a folder but the folders in it."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def _measure(path: Path) -> tuple[int, str]:
    """Size in bytes and SHA-256 (hex), read in pieces."""
    size, digest = 0, hashlib.sha256()
    with open_regular(path) as file:
        while data := file.read(_BUFFER):
            size += len(data)
            digest.update(data)
    return size, digest.hexdigest()
