"""Looks in the background at what a start does not look at: older segments, and what rots while the service runs.

A damaged leaf is named in the service's log and counted in a metric, so that its operator puts it back before an audit
finds it. What is derived (index, tree, the head's file) is made anew.
"""

import asyncio
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import structlog

from proxid.errors import LogDamagedError
from proxid.runtime.evidence_log.files import AppendFile
from proxid.runtime.evidence_log.log import SEGMENTS, LeafLog
from proxid.runtime.evidence_log.places import INDEX, LEAVES, PARTS, locate
from proxid.runtime.evidence_log.segments import rebuild_index, segment_folder, segment_names
from proxid.runtime.observability.metrics import set_damaged

_log = structlog.get_logger(__name__)

PAUSE: Final = 3600.0
"""Seconds between two looks at everything."""
_BREATH: Final = 1.0
"""Seconds between two segments, at least."""
_REST: Final = 50.0
"""Times as long as a segment took, until the next: a log of years takes days, and a fiftieth of the interpreter."""
_OF_BREATH: Final = 0.002
"""Of it between a few subtrees: a million leaves take ten seconds, in which the service answers."""


@dataclass(frozen=True, slots=True)
class Found:
    """A damaged leaf: its number, and which of its files."""

    leaf: int
    file: str


def damaged(folder: Path, first: int, last: int, written_to: bool = False) -> list[Found]:
    """Damaged leaves of a segment up to a number that a signed head covers; its index is made anew if it is wrong.

    Args:
        written_to: it is the last segment, whose payloads cannot have expired and whose index grows.
    """
    places = locate(folder, first)
    is_good = places.is_kept if written_to else places.is_whole
    if not written_to:
        index = AppendFile(folder / INDEX)
        try:
            rebuild_index(index, folder, places, last)
        finally:
            index.close()
    return [
        Found(number, PARTS if number in places.leaves else LEAVES)
        for number in range(first, last + 1)
        if not is_good(number)
    ]


class Scrubber:
    """Worker 0's job beside the writer.

    Args:
        log: the writer's.
    """

    def __init__(self, log: LeafLog) -> None:
        self._log = log
        self._named: set[Found] = set()

    async def run(self) -> None:
        """Look at everything from time to time, until cancelled."""
        while True:
            try:
                await self.step(_BREATH)
            except OSError:  # what is derived cannot be made anew now
                _log.warning("evidence was not looked at")
            await asyncio.sleep(PAUSE)

    async def step(self, breath: float = 0.0) -> set[Found]:
        """Look at everything once; what is damaged. The tree comes first: without it nothing can be proven."""
        await self._look_at_tree(breath)
        found: set[Found] = set()
        size, folder = self._log.size, self._log.folder / SEGMENTS
        # Leaves that come meanwhile are left to the next look.
        for first, following in pairwise([*segment_names(folder), size + 1]):
            begun = time.monotonic()
            if following > first:
                found.update(await asyncio.to_thread(self._segment, folder, first, following - 1))
            self._name(found)
            await asyncio.sleep(breath * max(1.0, _REST * (time.monotonic() - begun)))
        self._named = found
        set_damaged(len({item.leaf for item in found}))
        return found

    async def _look_at_tree(self, breath: float) -> None:
        is_good = True
        for is_good in self._log.look_at_tree():
            if not is_good:
                break
            await asyncio.sleep(breath * _OF_BREATH)
        try:
            await asyncio.to_thread(self._log.renew_derived, is_good)
        except LogDamagedError:
            _log.error("evidence is damaged", kind="tree")

    def _name(self, found: set[Found]) -> None:
        for item in sorted(found - self._named, key=lambda item: item.leaf):
            _log.error("evidence is damaged", leaf=item.leaf, kind=item.file)
        self._named = self._named | found
        set_damaged(len({item.leaf for item in self._named}))

    def _segment(self, folder: Path, first: int, last: int) -> list[Found]:
        return damaged(segment_folder(folder, first), first, last, written_to=first == self._log.last_segment)
