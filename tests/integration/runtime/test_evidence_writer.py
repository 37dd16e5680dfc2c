# ruff: noqa: ASYNC110, ASYNC220
"""The writer on a real store: nothing is lost, doubled or forked, whenever it is killed; nothing plain is left."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from proxid.crypto.hpke import OpeningKey
from proxid.errors import LogDamagedError
from proxid.evidence.checkpoint import open_checkpoint
from proxid.evidence.events import AliasedPayload
from proxid.evidence.leaf import Leaf, LeafHeader, Part, part_context
from proxid.evidence.merkle import verify_consistency
from proxid.evidence.note import Verifier
from proxid.evidence.ratchet import ChainReader, open_seal
from proxid.runtime.evidence_log.encryptor import Encryptor
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.evidence_log.segments import read_leaves
from proxid.runtime.evidence_log.stream import counted
from proxid.runtime.evidence_log.writer import EvidenceWriter, evidence_key_name
from proxid.runtime.store.durable import rewrite_aof
from tests.support.evidence_process import AUDITOR, KEY, ORIGIN, PREFIX

LOG = Verifier(ORIGIN, KEY.public)


async def produce(client: Redis, count: int, step: str | None = None) -> None:
    pipe = client.pipeline(transaction=True)
    start = int(await client.get(f"{PREFIX}:events:n") or 0)
    for number in range(start + 1, start + count + 1):
        fields = {"t": "UNREACHED", "s": number.to_bytes(16, "big"), "h": b'{"session":"%04x"}' % number, "p": b""}
        fields |= {} if step is None else {"u": step}
        pipe.incr(f"{PREFIX}:events:n")
        pipe.xadd(f"{PREFIX}:events", fields, id=f"{number}-0")
    await pipe.execute()


def writer(client: Redis, folder: Path) -> EvidenceWriter:
    log = LeafLog(folder, ORIGIN, KEY)
    return EvidenceWriter(client, PREFIX, log, Encryptor("gateway", ORIGIN, AUDITOR.public), linger=0.001)


def leaves(folder: Path, size: int) -> list[Leaf]:
    return list(read_leaves(folder / "segments", 1, size + 1))


async def test_events_leave_the_store_once_they_are_signed_for(client: Redis, tmp_path: Path) -> None:
    await produce(client, 700)
    found = writer(client, tmp_path / "log")
    assert await found.settle() == 700
    assert await client.xlen(f"{PREFIX}:events") == 0
    numbers = [LeafHeader.decode(leaf.header).number for leaf in leaves(tmp_path / "log", 700)]
    assert numbers == list(range(1, 701))
    await produce(client, 1)
    assert await found.settle() == 701


async def test_what_was_signed_for_before_a_kill_leaves_the_store_at_the_next_start(
    client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two, and nothing more to log: plain events would stay, and look as if they waited."""

    async def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    await produce(client, 3)
    found = writer(client, tmp_path / "log")
    with monkeypatch.context() as patch:
        patch.setattr(Redis, "xtrim", killed)
        with pytest.raises(KeyboardInterrupt):
            await found.write_batch()
    found.log.close()
    assert await client.xlen(f"{PREFIX}:events") == 3
    again = writer(client, tmp_path / "log")
    assert await again.write_batch() == 0 and again.log.size == 3
    assert await client.xlen(f"{PREFIX}:events") == 0


async def test_no_head_ends_within_a_step_of_the_store(
    client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxid.runtime.evidence_log.writer.BATCH", 4)
    monkeypatch.setattr("proxid.runtime.evidence_log.writer.LEAST", 4)
    for step, count in enumerate((3, 2, 11, 1, 4)):
        await produce(client, count, f"1.{step}")
    found, sizes = writer(client, tmp_path / "log"), []
    while await found.write_batch():
        sizes.append(found.log.size)
    assert sizes[-1] == 21 and {3, 5, 16, 17, 21} >= set(sizes), sizes


async def test_batches_follow_each_other_while_more_waits_though_they_end_with_a_step(
    client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that is cut to whole steps is not full, and still not the last: nothing waits for a pause after it."""
    monkeypatch.setattr("proxid.runtime.evidence_log.writer.BATCH", 4)
    monkeypatch.setattr("proxid.runtime.evidence_log.writer.LEAST", 4)
    for step in range(7):
        await produce(client, 3, f"1.{step}")
    found = writer(client, tmp_path / "log")
    monkeypatch.setattr(found, "_linger", 3600.0)
    task = asyncio.create_task(found.run())
    async with asyncio.timeout(20):
        while await client.xlen(f"{PREFIX}:events"):
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_after_many_events_more_may_gather(client: Redis, tmp_path: Path) -> None:
    """What a batch costs whatever it holds (syncs, a signature, calls of the store) is paid as seldom as may be."""
    found, pauses = writer(client, tmp_path / "log"), []
    for count in (1, 256, 900, 0):
        await produce(client, count)
        pauses.append((await found.write_batch(), round(found.pause, 6)))
    assert pauses == [(1, 0.001), (256, 0.002), (900, 0.004), (0, 0.001)]
    found.log.close()


@pytest.mark.parametrize(("size", "batches"), [(10, [99, 301]), (100_000, [99, 99, 99, 99, 4])])
async def test_a_batch_of_large_events_holds_fewer(
    client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, batches: list[int]
) -> None:
    monkeypatch.setattr("proxid.runtime.evidence_log.writer.LEAST", 100)
    pipe = client.pipeline()
    for number in range(1, 401):
        fields = {"t": "UNREACHED", "s": number.to_bytes(16, "big"), "h": b'{"session":"00"}', "p": bytes(size)}
        pipe.xadd(f"{PREFIX}:events", fields, id=f"{number}-0")  # type: ignore[arg-type]
    await pipe.execute()
    await client.set(f"{PREFIX}:events:n", 400)
    found, sizes = writer(client, tmp_path / "log"), []
    while written := await found.write_batch():
        sizes.append(written)
    # A batch that is full does not know whether its last event begins a step, and leaves it to the next.
    assert sizes == batches


async def test_a_batch_that_failed_half_way_is_written_under_chains_whose_seals_are_in_the_log(
    client: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, key = "px1" + "a" * 32, OpeningKey.generate()
    await client.set(evidence_key_name(PREFIX, person), key.public.data)
    payload = AliasedPayload("user", "acme", 1, "alias", person).encode()
    for number in range(1, 21):
        fields = {"t": "ALIASED", "s": number.to_bytes(16, "big"), "h": b'{"party":"acme"}', "p": payload}
        await client.xadd(f"{PREFIX}:events", fields, id=f"{number}-0")  # type: ignore[arg-type]
    await client.set(f"{PREFIX}:events:n", 20)
    found, honest, calls = writer(client, tmp_path / "log"), Encryptor.leaves, []

    def breaks(self: Encryptor, *arguments: Any) -> list[Leaf]:
        calls.append(arguments)
        if len(calls) == 2:
            raise asyncio.CancelledError
        return honest(self, *arguments)

    monkeypatch.setattr(Encryptor, "leaves", breaks)
    with pytest.raises(asyncio.CancelledError):
        await found.write_batch()
    assert found.log.size == 0
    assert await found.write_batch() == 20
    parts = [Part.decode(leaf.parts[0]) for leaf in leaves(tmp_path / "log", 20)]
    assert [part.index for part in parts] == list(range(20))
    reader = ChainReader(open_seal(parts[0].seal, ORIGIN, parts[0].tag, key, AUDITOR))
    for number, part in enumerate(parts, 1):
        context = part_context(ORIGIN, number, 0, part.tag)
        assert reader.decrypt(part.index, part.body, context) == payload


async def test_the_store_knows_how_long_the_log_must_be(client: Redis, tmp_path: Path) -> None:
    assert (await counted(client, PREFIX)).least == 0
    await produce(client, 5)
    assert (await counted(client, PREFIX)).least == 0
    await writer(client, tmp_path / "log").settle()
    assert (await counted(client, PREFIX)).least == 5
    await produce(client, 2)
    assert (await counted(client, PREFIX)).least == 5


async def test_a_gap_in_the_stream_stops_the_writer(client: Redis, tmp_path: Path) -> None:
    await produce(client, 5)
    await client.xdel(f"{PREFIX}:events", "3-0")
    with pytest.raises(LogDamagedError):
        await writer(client, tmp_path / "log").settle()


@pytest.mark.parametrize("counter", [None, 4])
async def test_a_store_that_lost_its_memory_is_not_served(client: Redis, tmp_path: Path, counter: int | None) -> None:
    await produce(client, 9)
    found = writer(client, tmp_path / "log")
    await found.settle()
    await found.verify()
    await client.flushall()
    if counter is not None:
        await client.set(f"{PREFIX}:events:n", counter)
    with pytest.raises(LogDamagedError, match=rf"holds 9 entries and the store knows of {counter or 0}\b"):
        await found.verify()
    found.log.close()


async def test_what_was_trimmed_is_not_in_the_stores_files_after_a_rewrite(client: Redis, tmp_path: Path) -> None:
    secret = b"planted-payload-of-an-event"
    await client.incr(f"{PREFIX}:events:n")
    await client.xadd(f"{PREFIX}:events", {"t": "EPOCH_OPENED", "s": bytes(16), "h": b"{}", "p": secret}, id="1-0")
    files = lambda: b"".join(p.read_bytes() for p in (tmp_path / "store").rglob("*") if p.is_file())  # noqa: E731
    while secret not in files():
        await asyncio.sleep(0.05)  # everysec
    await writer(client, tmp_path / "log").settle()
    assert secret in files()
    await rewrite_aof(client)
    assert secret not in files()


async def killed_runs(client: Redis, url: str, folder: Path, runs: int, seed: int) -> None:
    source, heads = random.Random(seed), []
    for _ in range(runs):
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.support.evidence_process", url, str(folder)], stdout=subprocess.PIPE
        )
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        for _ in range(source.randrange(1, 12)):
            await produce(client, source.randrange(1, 60))
            await asyncio.sleep(source.random() * 0.004)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        heads.append(open_checkpoint(LogReader(folder, LOG).checkpoint(), LOG)[0])
    last = writer(client, folder)
    size = await last.settle()
    assert size == int(await client.get(f"{PREFIX}:events:n") or 0)
    found = [LeafHeader.decode(leaf.header) for leaf in leaves(folder, size)]
    assert [h.number for h in found] == list(range(1, size + 1))
    assert [h.values["session"] for h in found] == [f"{n:04x}" for n in range(1, size + 1)]
    for head in heads:
        proof = LogReader(folder, LOG).consistency(head.size, size) if head.size else []
        verify_consistency(head.size, head.root, size, last.log.head.root, proof)


async def test_killed_at_random_it_leaves_no_gap_duplicate_or_fork(
    client: Redis, store_url: str, tmp_path: Path
) -> None:
    await killed_runs(client, store_url, tmp_path / "log", 6, seed=6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
async def test_killed_at_random_many_times(client: Redis, store_url: str, tmp_path: Path, seed: int) -> None:
    await killed_runs(client, store_url, tmp_path / "log", 12, seed)
