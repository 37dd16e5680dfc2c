"""Where the logs of a service lie: `evidence`, and its successors `evidence-2`, `evidence-3`, … beside it.

    version       2: what is in the folder. A log without it is of version 1, and is not written to any more
    predecessor   of a successor: the last signed head of the log before it

A successor's folder appears in one step; the log before it is left as it is.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from proxid.errors import InputError, LogDamagedError, NoteInvalidError
from proxid.evidence.checkpoint import Checkpoint, open_checkpoint
from proxid.evidence.note import Note, Verifier
from proxid.regular import regular_bytes
from proxid.runtime.evidence_log.files import lock_folder
from proxid.runtime.whole import replace_whole, sync_folder

FOLDER: Final = "evidence"
SUCCESSOR: Final = "proxid mend successor --config FILE"
PREDECESSOR: Final = "predecessor"
CHECKPOINT: Final = "checkpoint"
COSIGNED: Final = "cosigned"
HEADS: Final = "heads"
OWN: Final = "own.head"
_VERSION_FILE: Final = "version"
_VERSION: Final = b"2\n"
_NEW: Final = ".successor"


def folder_of(data_dir: Path, generation: int) -> Path:
    """Where a log lies."""
    return data_dir / (FOLDER if generation == 1 else f"{FOLDER}-{generation}")


def newest(data_dir: Path) -> int:
    """The generation that is written to."""
    generation = 1
    while folder_of(data_dir, generation + 1).exists():
        generation += 1
    return generation


def mark_version(folder: Path) -> None:
    """Mark a new log's folder; raises LogDamagedError if it holds a log of another version."""
    path = folder / _VERSION_FILE
    if path.exists():
        try:
            found = regular_bytes(path)
        except OSError:
            raise LogDamagedError(f"{path}: cannot be read; nothing was changed") from None
        if found != _VERSION:
            raise LogDamagedError(f"{path}: the log is of a later version of proxid; nothing was changed")
        return
    segments = folder / "segments"
    if (folder / CHECKPOINT).exists() or (segments.exists() and any(segments.iterdir())):
        raise LogDamagedError(
            f"{folder}: the log is of version 1 and is not written to any more; nothing was changed. Begin a "
            f"successor: {SUCCESSOR}"
        )
    replace_whole(path, _VERSION)


def begin_successor(data_dir: Path, old: Verifier, given: Iterable[Path] = ()) -> tuple[Path, Checkpoint]:
    """Make the folder of a successor; the folder, and the head of the old log that it names.

    Args:
        old: the newest log's verifier. given: files with heads of it that others hold; the longest head counts.

    Raises:
        InputError: no signed head of the log is there, or a given one is none. LogDamagedError: the service is running.
    """
    generation = newest(data_dir)
    folder, following = folder_of(data_dir, generation), folder_of(data_dir, generation + 1)
    if (folder / PREDECESSOR).exists() and not (folder / CHECKPOINT).exists():
        raise InputError(f"{folder}: a successor was begun already; start the service, or remove this folder")
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = lock_folder(folder, seconds=1.0) if folder.exists() else None
    try:
        head, note = _longest(folder, old, given)
        prepared = data_dir / _NEW
        shutil.rmtree(prepared, ignore_errors=True)
        prepared.mkdir(mode=0o700)
        replace_whole(prepared / PREDECESSOR, note)
        replace_whole(prepared / _VERSION_FILE, _VERSION)
        prepared.rename(following)
        sync_folder(data_dir)
    finally:
        if lock is not None:
            os.close(lock)
    return following, head


def _longest(folder: Path, old: Verifier, given: Iterable[Path]) -> tuple[Checkpoint, bytes]:
    found: list[tuple[Checkpoint, bytes]] = []
    # Without the newest head of its own a log cannot tell how old others at hand are: they are named on purpose.
    here = [folder / CHECKPOINT, folder.parent / HEADS / OWN, *sorted((folder / COSIGNED).glob("*.note"))]
    for path in here if _head(folder / CHECKPOINT, old) is not None else []:
        head = _head(path, old)
        found += [] if head is None else [head]
    for path in given:
        head = _head(path, old)
        if head is None:
            raise InputError(f"{path}: is no head that this service signed for {old.name}")
        found.append(head)
    if not found:
        raise InputError(
            f"{folder}: holds no head that is surely the newest; give the longest that anybody has of {old.name} with "
            f"--head, as often as needed, or else it hides what they have seen: the other "
            f"service keeps it in data/heads/other.head, a witness in data/heads"
        )
    return max(found, key=lambda pair: pair[0].size)


def _head(path: Path, log: Verifier) -> tuple[Checkpoint, bytes] | None:
    try:
        head, note = open_checkpoint(regular_bytes(path), log)
        return head, Note(note.text, (note.by(log),)).encode()  # what else stands under it would stay for ever
    except (OSError, ValueError, NoteInvalidError):
        return None


def predecessor(folder: Path, old: Verifier) -> tuple[Checkpoint, bytes]:
    """The head that a successor was begun with, and its signed note; raises LogDamagedError."""
    found = _head(folder / PREDECESSOR, old)
    if found is None:
        raise LogDamagedError(f"{folder / PREDECESSOR}: is no head of {old.name}; put the file back from a copy")
    return found
