"""A worker that does not write the log serves once that has a head: before it has none to show, and would refuse."""

import asyncio
from pathlib import Path

from proxid.crypto.ed25519 import SigningKey
from proxid.evidence.note import Verifier
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.evidence_log.setup import wait_begun

NAME = "proxid/main-service/gateway"


async def test_who_writes_nothing_waits_for_the_first_head(tmp_path: Path) -> None:
    key = SigningKey(bytes(32))
    reader = LogReader(tmp_path / "log", Verifier(NAME, key.public))
    waiting = asyncio.create_task(wait_begun(reader))
    _, pending = await asyncio.wait({waiting}, timeout=0.2)
    assert pending
    LeafLog(tmp_path / "log", NAME, key).close()
    async with asyncio.timeout(20):
        await waiting
    assert reader.checkpoint()
