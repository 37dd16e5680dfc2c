"""What an operator does on purpose to the files of a stopped service: admit damage, cut the store's torn end off."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from proxid.errors import ConfigError, InputError
from proxid.evidence.checkpoint import Checkpoint
from proxid.evidence.note import Note
from proxid.regular import regular_bytes
from proxid.runtime.config.base import ServiceConfig
from proxid.runtime.evidence_log.admitted import Admitted, Damage
from proxid.runtime.evidence_log.files import lock_folder, usable
from proxid.runtime.evidence_log.generations import CHECKPOINT
from proxid.runtime.evidence_log.log import SEGMENTS
from proxid.runtime.evidence_log.places import Places, locate
from proxid.runtime.evidence_log.segments import segment_folder, segment_names
from proxid.runtime.folder import make_private, take_lock
from proxid.runtime.store.appendfile import cut_torn_end


def admit(folder: Path, ranges: Iterable[Damage]) -> None:
    """Keep that leaves of a stopped service's log are damaged.

    Raises:
        InputError: one of them is whole, or not covered by the signed head. LogDamagedError: the service is running.
    """
    with usable(folder):
        lock = lock_folder(folder, seconds=1.0)
    try:
        size = _size(folder)
        places = {first: locate(segment_folder(folder / SEGMENTS, first), first) for first in _names(folder)}
        wanted = list(ranges)
        for item in wanted:
            for number in range(item.first, item.last + 1):
                _verify_damaged(places, number, size)
        Admitted.read(folder).with_more(wanted).write(folder)
    finally:
        os.close(lock)


def _names(folder: Path) -> list[int]:
    return segment_names(folder / SEGMENTS)


def _size(folder: Path) -> int:
    try:
        return Checkpoint.parse(Note.decode(regular_bytes(folder / CHECKPOINT)).text).size
    except (OSError, ValueError):
        raise InputError(f"{folder / CHECKPOINT}: there is no signed head, so no entry can be admitted") from None


def _verify_damaged(places: dict[int, Places], number: int, size: int) -> None:
    if not 0 < number <= size:
        raise InputError(f"--leaves: entry {number} is not covered by the signed head ({size} entries)")
    first = max((first for first in places if first <= number), default=0)
    if first in places and places[first].is_whole(number):
        raise InputError(f"--leaves: entry {number} is whole; only what is damaged can be admitted")


def store_files(config: ServiceConfig) -> Iterator[tuple[str, int]]:
    """Cut torn ends off the own store of a stopped service: name of each file, and bytes cut off.

    Raises:
        ConfigError: the store is another one's, or in use. StoreError: it is damaged otherwise.
    """
    if config.store_url is not None:
        raise ConfigError(
            "store_url: is set: mend that server's files with its own valkey-check-aof or redis-check-aof"
        )
    folder = (config.data_dir / "store").absolute()
    make_private(folder)
    locks = [take_lock(folder / name) for name in ("owner.lock", "server.lock")]
    try:
        if None in locks:
            raise ConfigError("data_dir: in use by another process; stop the service first")
        yield cut_torn_end(folder)
    finally:
        for lock in locks:
            if lock is not None:
                os.close(lock)
