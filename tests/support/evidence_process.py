"""Writes evidence from a store until it is killed: `python -m tests.support.evidence_process URL DIR`."""

import asyncio
import sys
from pathlib import Path

from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.runtime.evidence_log.encryptor import Encryptor
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.writer import EvidenceWriter
from proxid.runtime.store import connect

ORIGIN = "proxid/main-service/gateway"
KEY = SigningKey(bytes([1] * 32))
AUDITOR = OpeningKey(bytes([2] * 96))
PREFIX = "{gw}"


async def write(url: str, folder: Path) -> None:
    client = connect(url)
    log = LeafLog(folder, ORIGIN, KEY, segment_bytes=20_000)
    print("ready", flush=True)
    await EvidenceWriter(client, PREFIX, log, Encryptor("gateway", ORIGIN, AUDITOR.public), linger=0.001).run()


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], Path(sys.argv[2])))
