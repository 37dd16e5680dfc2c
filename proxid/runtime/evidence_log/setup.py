"""A service's evidence from its configuration: the reader of every worker, the writer of worker 0."""

import asyncio
import os
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis

from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import SealingKey
from proxid.errors import ConfigError, InputError, LogDamagedError
from proxid.evidence.checkpoint import WITNESS, origin, witness
from proxid.evidence.events import SALT_SIZE
from proxid.evidence.note import Verifier
from proxid.evidence.succession import Succession
from proxid.runtime.clock import ClockWatch
from proxid.runtime.config.base import ServiceConfig
from proxid.runtime.evidence_log import generations
from proxid.runtime.evidence_log.encryptor import Encryptor
from proxid.runtime.evidence_log.followed import FollowedLog
from proxid.runtime.evidence_log.held import HeldHeads
from proxid.runtime.evidence_log.log import SEGMENTS, LeafLog
from proxid.runtime.evidence_log.promising import Promises
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.evidence_log.retention import PayloadRetention
from proxid.runtime.evidence_log.scrub import Scrubber
from proxid.runtime.evidence_log.segments import leaves_of
from proxid.runtime.evidence_log.stream import counted, succeed
from proxid.runtime.evidence_log.writer import EvidenceWriter
from proxid.runtime.store.connection import verify_server
from proxid.runtime.store.durable import wait_on_disk

_BEGIN_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """What is particular to one service's log.

    Attributes:
        log: `gateway` or `main-service`. prefix: of its keys in the store. key: the service's signing key.
    """

    log: str
    prefix: str
    key: SigningKey

    def log_of(self, config: ServiceConfig, generation: int) -> Verifier:
        """The verifier of one of the service's logs."""
        return Verifier(origin(config.service, self.log, generation), self.key.public)


def folder_of(config: ServiceConfig) -> Path:
    """Where the log lies that is written to."""
    return generations.folder_of(config.data_dir, generations.newest(config.data_dir))


def reader_of(config: ServiceConfig, options: EvidenceOptions, generation: int = 0) -> LogReader:
    """The reading end.

    Args:
        generation: of an older log than the one that is written to.

    Raises:
        InputError: there is no such log.
    """
    last = generations.newest(config.data_dir)
    if generation > last:
        raise InputError("there is no such log")
    generation = generation or last
    key = config.trust.witness
    witnesses = () if key is None else (witness(WITNESS, key),)
    return LogReader(generations.folder_of(config.data_dir, generation), options.log_of(config, generation), witnesses)


def promises_of(
    config: ServiceConfig, options: EvidenceOptions, client: Redis, reader: LogReader, watch: ClockWatch
) -> Promises:
    """What a worker says of the log that is written to."""
    return Promises(client, options.prefix, reader, options.key, options.log_of(config, 1).name, watch)


def older_of(config: ServiceConfig, options: EvidenceOptions) -> list[LogReader]:
    """Readers of the logs before the one that is written to."""
    return [reader_of(config, options, at) for at in range(1, generations.newest(config.data_dir))]


def followed_of(config: ServiceConfig, options: EvidenceOptions) -> list[FollowedLog]:
    """The logs before the one that is written to; raises LogDamagedError if a head that a successor names is none."""
    found = []
    for at in range(1, generations.newest(config.data_dir)):
        following = generations.folder_of(config.data_dir, at + 1)
        head, _ = generations.predecessor(following, options.log_of(config, at))
        found.append(FollowedLog(generations.folder_of(config.data_dir, at) / SEGMENTS, head.size))
    return found


def other_log(config: ServiceConfig, log: str, key: bytes | None) -> Verifier:
    """The verifier of the other service's first log; raises ConfigError without its key."""
    if key is None:
        raise ConfigError("trust.screener and trust.service are needed")
    return Verifier(origin(config.service, log), key)


def held_of(config: ServiceConfig, options: EvidenceOptions, other: Verifier) -> HeldHeads:
    """Heads that others hold of the log, and this service of the other's.

    Args:
        other: the verifier of the other service's first log.

    Raises:
        LogDamagedError: the head that a successor names cannot be read.
    """
    generation = generations.newest(config.data_dir)
    before = None
    if generation > 1:
        before, _ = generations.predecessor(folder_of(config), options.log_of(config, generation - 1))
    reader = reader_of(config, options)
    return HeldHeads(config.data_dir, options.log_of(config, 1), other, reader, generation, before)


async def writer_of(config: ServiceConfig, options: EvidenceOptions, client: Redis) -> EvidenceWriter:
    """The writing end; raises ConfigError without an auditor's key, LogDamagedError, StoreError."""
    if config.trust.auditor_seal is None:
        raise ConfigError("trust.auditor_seal is needed")
    await verify_server(client)
    generation = generations.newest(config.data_dir)
    folder, name = folder_of(config), options.log_of(config, generation).name
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    await begin_if_asked(config, options, client, generation)
    store = await counted(client, options.prefix)
    log = LeafLog(folder, name, options.key, least=store.least, followed=followed_of(config, options))
    encryptor = Encryptor(options.log, name, SealingKey(config.trust.auditor_seal))
    writer = EvidenceWriter(
        client, options.prefix, log, encryptor, plain_seconds=config.retention.evidence_plain, base=store.base
    )
    try:
        await writer.verify()
    except BaseException:
        log.close()
        raise
    return writer


async def writer_for(
    worker: int, config: ServiceConfig, options: EvidenceOptions, client: Redis
) -> EvidenceWriter | None:
    """Worker 0's writing end (`writer_of`). Another worker has none, and waits for the log's first head."""
    if worker == 0:
        return await writer_of(config, options, client)
    await wait_begun(reader_of(config, options))
    return None


async def wait_begun(reader: LogReader) -> None:
    """Wait for a log's first head, which worker 0 signs as it starts, for a minute: whoever serves before has none to
    show, and refuses for a log that is taken for damaged.
    """
    end = time.monotonic() + _BEGIN_SECONDS
    while not reader.begun and time.monotonic() < end:  # noqa: ASYNC110 - another process signs it
        await asyncio.sleep(_LOOK_SECONDS)


async def begin_if_asked(config: ServiceConfig, options: EvidenceOptions, client: Redis, generation: int) -> None:
    """Let the store count for the newest log, if its operator has begun that one since.

    Raises:
        LogDamagedError: the store counts for another log, and nobody has begun a new one; or it is older than the log
            that is followed: what was erased or withdrawn since would count again. StoreError.
    """
    store, folder = await counted(client, options.prefix), folder_of(config)
    log = options.log_of(config, generation).name
    if log == (store.origin or options.log_of(config, 1).name):
        return
    if generation == 1 or (folder / generations.CHECKPOINT).exists():
        raise LogDamagedError(
            f"{folder}: the store counts for {store.origin or 'a first log'}, and this is {log}: the store was emptied "
            f"or an older one put back, or the folder of its log is away; nothing was changed. Put back what is "
            f"missing (docs/operations.md, Backup and disaster); if there is no copy: {generations.SUCCESSOR}"
        )
    old = options.log_of(config, generation - 1)
    head, note = generations.predecessor(folder, old)
    same = old.name == (store.origin or options.log_of(config, 1).name)
    base = store.base if same else 0
    lost = not same or store.last - base < head.size
    if lost and store.last > 0:
        raise LogDamagedError(
            f"the store knows of {store.last - base} entries of {store.origin or 'a first log'}, and {old.name}, which "
            f"is followed, had {head.size}: an older copy was put back, in which people who were erased since, and "
            f"consents that were withdrawn, would count again; nothing was changed. Empty the store (move "
            f"{config.data_dir / 'store'} away, or empty the server of store_url) and start again"
        )
    logged = 0 if lost else store.logged - base
    files = generations.folder_of(config.data_dir, generation - 1) / SEGMENTS
    said = Succession(note, lost, logged if logged > max(head.size, leaves_of(files)) else 0)
    await succeed(client, options.prefix, log, base + head.size, os.urandom(SALT_SIZE), said.header())
    await wait_on_disk(client, f"{options.prefix}:events:seen", 0)


def jobs_of(
    config: ServiceConfig, options: EvidenceOptions, client: Redis, writer: EvidenceWriter, watch: ClockWatch
) -> list[Coroutine[Any, Any, None]]:
    """What worker 0 does for the log: write, look for damage, let payloads expire while the clock can be relied on."""
    kept = config.retention.payloads
    expiry = PayloadRetention(client, options.prefix, writer.log, kept, os.urandom, watch.wall, watch.confirmed)
    return [writer.run(), Scrubber(writer.log).run(), expiry.run()]
