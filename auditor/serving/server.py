"""Puts the auditor's service together from its configuration and runs it (DESIGN 10.5, 16)."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import structlog

from auditor.conduct import AuditCommand, sources
from auditor.config import AuditorConfig
from auditor.serving.exchange import FOLDER as HEADS
from auditor.serving.exchange import Exchange
from auditor.serving.judging import Allowance, Judgement, Search
from auditor.serving.peers import exchange_heads
from auditor.serving.presented import FOLDER as PRESENTED
from auditor.serving.presented import PresentedStore
from auditor.serving.rpc import AuditorService
from auditor.serving.schedule import Schedule
from auditor.setup import trust_of
from auditor.trust import Trust
from proxid.crypto.sansig import SignedMessage
from proxid.errors import NoteInvalidError, OversizedError, UpstreamError
from proxid.runtime.observability.endpoint import Facts
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.transport.allow_list import AllowListWatch
from proxid.runtime.transport.channel import TlsFiles, new_server
from proxid.runtime.transport.peers import PeerRegistry
from proxid.runtime.transport.runner import run
from proxid.wire.v1.auditor_pb2_grpc import add_AuditorServicer_to_server

SERVICES: Final = ("proxid.wire.v1.Auditor",)
REPORTS: Final = "reports"
_STREAMS: Final = 16
"""Calls of one connection at once."""
_JUDGED: Final = "judged"
"""Whose the heads are by which messages were judged, among those of peers (`ROLE/NAME`)."""

_log = structlog.get_logger(__name__)


class Gathering:
    """What an audit is given beside the logs: what was presented, and the heads that others were shown."""

    def __init__(self, config: AuditorConfig, exchange: Exchange, store: PresentedStore) -> None:
        self._config, self._exchange, self._store = config, exchange, store

    async def __call__(self) -> Sequence[str]:
        """The options of `proxid audit`; other auditors are asked first, and one that is away keeps nobody."""
        await asyncio.to_thread(self._store.expire)
        for address in self._config.auditors:
            await asyncio.to_thread(self._ask, address)
        presented = self._config.data_dir / PRESENTED
        receipts = ["--receipts", str(presented)] if presented.exists() else []
        return [*receipts, *(word for path in self._exchange.compared for word in ("--compare", str(path)))]

    def _ask(self, address: str) -> None:
        config = self._config
        tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
        try:
            heads = exchange_heads(address, tls, config.trust.certificates("auditor"), self._exchange.shown())
            self._exchange.take(address, heads)
        except (UpstreamError, NoteInvalidError, OversizedError) as error:
            _log.info("heads were not exchanged", address=address, code=error.code.value)


def _finder(config: AuditorConfig, trust: Trust, exchange: Exchange) -> Callable[[SignedMessage], Judgement]:
    def find(signed: SignedMessage) -> Judgement:
        search = Search(trust, exchange.shown())
        try:
            with sources(AuditCommand(config)) as (gateway, _, keys):
                return search.find(signed, gateway, keys)
        finally:
            exchange.take(_JUDGED, search.heads)

    return find


async def serve(config: AuditorConfig, source: Path, ready: Callable[[str], None] | None = None) -> None:
    """Run until SIGTERM.

    Args:
        source: the configuration's file: audits are made by it, and changes of its allow-list are taken over.
        ready: called with the address once it serves.

    Raises:
        ConfigError, KeyInvalidError, InputError, OutputError: it cannot start.
    """
    trust, key = trust_of(config, pipeline=False), load_signing_key(config.signing_key)
    tls, reports = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca), config.data_dir / REPORTS
    peers = PeerRegistry(config.trust.allow_list(), own=tls.read()[1])
    exchange = Exchange(config.data_dir / HEADS, reports, trust)
    with PresentedStore(config.data_dir / PRESENTED, trust, config.presented_bytes, config.presented_keep) as store:
        server, port = new_server(tls, config.listen, max_message=config.max_message, max_streams=_STREAMS)
        allowance = Allowance(config.judgements_per_hour)
        service = AuditorService(
            peers, trust, (config.name, key), store, exchange, reports, config.report_to, allowance,
            _finder(config, trust, exchange),
        )  # fmt: skip
        add_AuditorServicer_to_server(service, server)
        schedule = Schedule(source, reports, config.every, Gathering(config, exchange, store))
        background = [schedule.run(), AllowListWatch(source, AuditorConfig, peers).run()]
        address = f"{config.listen.rpartition(':')[0]}:{port}"
        await run(
            server, SERVICES, address, background, ready, config.shutdown_grace, peers, config.metrics_listen,
            Facts.of(config),
        )  # fmt: skip
