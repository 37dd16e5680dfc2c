"""Presents what was added to a file of receipts since the last time, whenever there is an auditor (DESIGN 10.5).

`FILE.presented` remembers how far, and to whom. It may be lost: what an auditor holds already is kept once.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Final

from proxid.clients.auditing.client import AuditorClient, open_auditor
from proxid.clients.auditing.config import PresentingConfig
from proxid.errors import MALFORMED, Code, InputError, RefusedError
from proxid.jsontext import load_json
from proxid.regular import open_regular, regular_bytes
from proxid.runtime.provision.public import write_public

BATCH: Final = 128
Item = tuple[str, bytes, bytes]


@dataclass(slots=True)
class Presented:
    """How many items were new to the auditor, and how many it would not take."""

    new: int = 0
    refused: int = 0


async def present(config: PresentingConfig, file: Path) -> Presented:
    """Present what was added to a file of receipts; nothing without an auditor's address.

    Raises:
        UpstreamError: the auditor is away; the next time presents it. RefusedError: it takes nothing more of this one.
        ConfigError: no auditor's certificate is accepted.
    """
    done, mark = Presented(), file.with_name(f"{file.name}.presented")
    at = None if config.auditor is None else _from(file, mark, config.auditor)
    if at is None or config.auditor is None:
        return done
    async with open_auditor(config, config.auditor, config.auditor_name) as auditor:
        for items, end in _batches(file, at):
            await _present(auditor, items, done)
            write_public(mark, json.dumps({"auditor": config.auditor, "offset": end}))
    return done


async def _present(auditor: AuditorClient, items: list[Item], done: Presented) -> None:
    """All at once; if one of them is refused, one by one: what is none of these services keeps nothing else back."""
    try:
        done.new += await auditor.present(items)
    except RefusedError as error:
        if error.remote in {Code.RATE_LIMITED, Code.PEER_REFUSED}:
            raise
        if len(items) == 1:
            done.refused += 1
            return
        for item in items:
            await _present(auditor, [item], done)


def _from(file: Path, mark: Path, auditor: str) -> int | None:
    """Where to go on in a file; None if nothing was added to it."""
    size = file.stat().st_size if file.exists() else 0
    at = _offset(mark, auditor, size)
    return None if at == size else at


def _offset(mark: Path, auditor: str, size: int) -> int:
    try:
        said = load_json(regular_bytes(mark))
        at = int(said["offset"]) if said["auditor"] == auditor else 0
    except (OSError, *MALFORMED):
        return 0
    return at if 0 <= at <= size else 0


def _opened(file: Path) -> BufferedReader:
    try:
        return open_regular(file)
    except OSError:
        raise InputError(f"{file.name}: receipts cannot be read").at(str(file)) from None


def _batches(file: Path, at: int) -> Iterator[tuple[list[Item], int]]:
    """Items of whole lines from an offset on, and the offset behind them; what is no item is passed over."""
    items: list[Item] = []
    with _opened(file) as lines:
        lines.seek(at)
        for line in lines:
            if not line.endswith(b"\n"):
                break  # under way, or cut off by a crash
            at += len(line)
            try:
                data = load_json(line)
                message = base64.b64decode(data["message"], validate=True)
                items.append((str(data["kind"]), bytes.fromhex(data.get("session", "")), message))
            except MALFORMED:
                continue
            if len(items) == BATCH:
                yield items, at
                items = []
    if items:
        yield items, at
