"""A bit flipped in any kind of byte that both services wrote: no byte of whole acknowledged leaves is removed."""

import asyncio
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxid.errors import LogDamagedError
from proxid.evidence.checkpoint import origin
from proxid.evidence.leaf import Leaf
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.places import locate
from proxid.runtime.evidence_log.scrub import damaged
from proxid.runtime.evidence_log.stream import wait_logged
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.store import connect
from tests.support.trial import Trial, running

ROLES = ("gateway", "main-service")
SAMPLED = 4
"""Bytes of each file's ends, and as many in between, in the ordinary run."""


def opened(folder: Path, role: str) -> LeafLog:
    return LeafLog(folder, origin("main-service", role), load_signing_key(folder.parent / "signing.key"))


def rotate(trial: Trial, role: str) -> None:
    """What a day's end does."""
    folder = trial.folder / role / "data/evidence"
    log = LeafLog(folder, origin("main-service", role), load_signing_key(trial.folder / role / "signing.key"))
    log._segments.rotate()
    log.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of both services after three days, each of a segment; stopped."""
    folder, copies = tmp_path_factory.mktemp("trial"), tmp_path_factory.mktemp("kept")
    asyncio.run(three_days(folder))
    for role in ROLES:
        shutil.copytree(folder / role / "data/evidence", copies / role / "log")
        shutil.copy(folder / role / "signing.key", copies / role / "signing.key")
        assert len(list((copies / role / "log/segments").iterdir())) == 3
    return copies


async def written_down(trial: Trial) -> None:
    """A service that is halted writes nothing any more of what waits for the log."""
    for role, prefix in zip(ROLES, ("{gw}", "{ms}"), strict=True):
        client = connect(trial.url(role))
        try:
            await wait_logged(client, prefix)
        finally:
            await client.aclose()


async def three_days(folder: Path) -> None:
    async with running(folder) as trial:
        for day in range(3):
            await trial.busy(1) if day == 0 else await trial.ask(f"node{day} question")
            await trial.settle()
            await written_down(trial)
            for role in ROLES if day < 2 else ():
                await trial.halt(role)
                rotate(trial, role)
            for role in reversed(ROLES) if day < 2 else ():
                await trial.serve(role)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.glob("segments/*/*"))}


def kinds(folder: Path) -> Iterator[Path]:
    """Leaves and parts of the first, the middle and the last segment, index, tree, head."""
    yield from (path for path in sorted(folder.glob("segments/*/*")) if path.stat().st_size)
    yield from (path for path in sorted(folder.glob("tree/*")) if path.stat().st_size)
    yield folder / "checkpoint"


def places(path: Path, count: int, source: random.Random) -> list[int]:
    """Bytes of lengths, sums and data of the first and last records, and some in between; all if they are few."""
    size = path.stat().st_size
    edge = [at for at in (*range(9), *range(size - 5, size)) if 0 <= at < size]
    return sorted({*source.sample(edge, min(count, len(edge))), *(source.randrange(size) for _ in range(count))})


def flip(path: Path, at: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ (1 << bit)]))


def kept(before: dict[str, bytes], after: dict[str, bytes], flipped: str) -> bool:
    """Nothing that was there is gone or changed; the index is derived, and a file may have grown."""
    return all(
        name.endswith("/index") or name == flipped or after[name].startswith(data) for name, data in before.items()
    ) and (flipped not in before or flipped.endswith("/index") or len(after[flipped]) >= len(before[flipped]))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("count", "seed"), [(SAMPLED, 1), *(pytest.param(100, seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_stopped_or_running_nothing_acknowledged_goes(
    written: Path, tmp_path: Path, role: str, count: int, seed: int
) -> None:
    source, refused, served = random.Random(seed), 0, 0
    for path in list(kinds(written / role / "log")):
        name = str(path.relative_to(written / role / "log"))
        for at in places(path, count, source):
            bit, here = source.randrange(8), tmp_path / f"{served + refused}" / "log"
            shutil.copytree(written / role, here.parent)
            before = bytes_of(here)
            flip(here / name, at, bit)
            try:
                log = opened(here, role)
            except LogDamagedError as error:
                refused += 1
                assert kept(before, bytes_of(here), name), (name, at, bit)
                assert str(here) in error.rule, error.rule
                flip(here / name, at, bit)  # put back, nothing is lost
                log = opened(here, role)
                assert bytes_of(here) == before
            else:
                served += 1
            head = log.head
            log.append([Leaf(bytes(16), _following(here, log.size + 1))])
            assert log.head.size == head.size + 1
            log.close()
            assert kept(before, bytes_of(here), name), (name, at, bit)
            shutil.rmtree(here.parent)
    assert refused and served


def _following(folder: Path, number: int) -> bytes:
    from proxid.evidence.events import EventType
    from proxid.evidence.leaf import LeafHeader

    return LeafHeader(number, EventType.EXPIRED, b"{}").encode()


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ["leaves", "parts"])
def test_running_it_goes_on_and_names_the_leaf(written: Path, tmp_path: Path, role: str, name: str) -> None:
    shutil.copytree(written / role, tmp_path / role)
    folder = tmp_path / role / "log"
    log = opened(folder, role)
    for segment in sorted((folder / "segments").iterdir()):
        first, before = int(segment.name), bytes_of(folder)
        found = locate(segment, first)
        records = found.leaves if name == "leaves" else found.parts
        number = sorted(records)[len(records) // 2]
        flip(segment / name, records[number].begin + 9, 3)
        log.append([Leaf(bytes(16), _following(folder, log.size + 1))])
        assert kept(before, bytes_of(folder), f"segments/{segment.name}/{name}")
        last = max(found.leaves)
        assert [item.leaf for item in damaged(segment, first, last, segment.name == f"{log.last_segment:012d}")] == [
            number
        ]
    log.close()
