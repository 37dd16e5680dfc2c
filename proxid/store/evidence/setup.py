"""A service's evidence from its configuration: the reader of every worker, the writer of worker 0."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from redis.asyncio import Redis

from proxid.config.services import ServiceConfig
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import SealingKey
from proxid.errors import ConfigError
from proxid.evidence.checkpoint import WITNESS, origin, witness
from proxid.evidence.note import Verifier
from proxid.store.connection import verify_server
from proxid.store.evidence.encryptor import Encryptor
from proxid.store.evidence.log import LeafLog
from proxid.store.evidence.reading import LogReader
from proxid.store.evidence.retention import PayloadRetention
from proxid.store.evidence.writer import EvidenceWriter, least_logged

FOLDER: Final = "evidence"


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """What is particular to one service's log.

    Attributes:
        log: `gateway` or `main-service`. prefix: of its keys in the store. key: the service's signing key.
    """

    log: str
    prefix: str
    key: SigningKey


def folder_of(config: ServiceConfig) -> Path:
    """Where the log lies."""
    return config.data_dir / FOLDER


def reader_of(config: ServiceConfig, options: EvidenceOptions) -> LogReader:
    """The reading end."""
    name = origin(config.service, options.log)
    key = config.trust.witness
    witnesses = () if key is None else (witness(WITNESS, key),)
    return LogReader(folder_of(config), Verifier(name, options.key.public), witnesses)


async def writer_of(config: ServiceConfig, options: EvidenceOptions, client: Redis) -> EvidenceWriter:
    """The writing end; raises ConfigError without an auditor's key, LogDamagedError, StoreError."""
    if config.trust.auditor_seal is None:
        raise ConfigError("trust.auditor_seal is needed")
    name = origin(config.service, options.log)
    folder = folder_of(config)
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = LeafLog(folder, name, options.key, least=await least_logged(client, options.prefix))
    encryptor = Encryptor(options.log, name, SealingKey(config.trust.auditor_seal))
    writer = EvidenceWriter(client, options.prefix, log, encryptor, plain_seconds=config.retention.evidence_plain)
    try:
        await verify_server(client)
        await writer.verify()
    except BaseException:
        log.close()
        raise
    return writer


def retention_of(config: ServiceConfig, options: EvidenceOptions, client: Redis, log: LeafLog) -> PayloadRetention:
    """The job that lets payloads of the writer's log expire."""
    return PayloadRetention(client, options.prefix, log, config.retention.payloads, os.urandom)
