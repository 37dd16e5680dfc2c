"""Puts the Identity Screener together from its configuration and runs it (DESIGN 2, 16)."""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from gateway.config import GatewayConfig
from gateway.consents import Consents
from gateway.departures import Departures
from gateway.epochs import OpenEpochs
from gateway.erasures import Erasures
from gateway.expiry import LinkExpiry
from gateway.feeds import Feeds
from gateway.gauges import Gauges
from gateway.identity import Limits, Screener
from gateway.indexing import index_people
from gateway.links import Links
from gateway.notices import Notices
from gateway.objections import Objections
from gateway.owed import Owed
from gateway.refusals import TurnedAway, write_refusals
from gateway.releases import Releases
from gateway.requests import Registrations, RequestPath
from gateway.restoring import restore_rights
from gateway.revocations import Revocations
from gateway.rights import Rights
from gateway.rpc import FeedService, GatewayService
from gateway.store.library import GatewayStore
from gateway.store.rights import RightsStore
from gateway.store.steps import PREFIX
from gateway.timekeeping import Timekeeper
from gateway.upstream import MainServiceClient
from proxid.crypto.hpke import SealingKey
from proxid.errors import ConfigError
from proxid.protocol.epochs import Epochs
from proxid.protocol.request import ANSWERED
from proxid.runtime.clock import Clocks, ClockWatch
from proxid.runtime.evidence_log.servicer import EvidenceService
from proxid.runtime.evidence_log.setup import (
    EvidenceOptions,
    held_of,
    jobs_of,
    older_of,
    other_log,
    promises_of,
    reader_of,
    writer_for,
)
from proxid.runtime.observability.endpoint import Facts
from proxid.runtime.provision.keyfile import load_secret, load_signing_key
from proxid.runtime.provision.policies import Held, govern
from proxid.runtime.provision.revocations import drop_unfinished
from proxid.runtime.store import connect
from proxid.runtime.store.clock import ClockKeeper, HeardTime
from proxid.runtime.transport.allow_list import AllowListWatch
from proxid.runtime.transport.channel import TlsFiles, new_server, open_channel
from proxid.runtime.transport.heads import Heard, meet
from proxid.runtime.transport.peers import PeerRegistry
from proxid.runtime.transport.runner import run
from proxid.wire.v1.common_pb2_grpc import add_EvidenceServicer_to_server
from proxid.wire.v1.gateway_pb2_grpc import add_FeedServicer_to_server, add_GatewayServicer_to_server

_ATTEMPTS: Final = 3
"""Times that a request may wait for MS, and one more: after that nobody carries it."""
MAX_STREAMS: Final = 128
"""Calls of one connection at once: a household opens a stream for each question under way."""

SERVICES = ("proxid.wire.v1.Gateway", "proxid.wire.v1.Feed", "proxid.wire.v1.Evidence")


def screener_of(config: GatewayConfig, clocks: Clocks = Clocks()) -> Screener:  # noqa: B008 - it is immutable
    """The Identity Screener of a configuration.

    Raises:
        ConfigError: a key that it needs is not provisioned. KeyInvalidError: a key file is unusable.
    """
    trust = config.trust
    if trust.service is None or trust.enrolment_authority is None:
        raise ConfigError("trust.service and trust.enrolment_authority are needed")
    limits = Limits(
        nonce_ttl=int(config.nonce_ttl),
        rate_per_minute=config.rate_per_minute,
        notice_spread=int(config.notice_spread),
    )
    return Screener(
        service=config.service,
        key=load_signing_key(config.signing_key),
        service_key=trust.service,
        authority=trust.enrolment_authority,
        secret=load_secret(config.alias_key),
        party_keys={name: keys.acknowledge for name, keys in trust.parties.items()},
        epochs=Epochs(config.epoch_seconds),
        limits=limits,
        clock=clocks.wall,
        watch=ClockWatch(clocks, config.clock_skew),
        turned_away=TurnedAway(config.rate_per_minute),
        party_seals={name: SealingKey(keys.seal) for name, keys in trust.parties.items()},
    )


def _governed(config: GatewayConfig, screener: Screener) -> tuple[GatewayConfig, Held, Screener]:
    """The configuration as the policy in force says, and the policies held here; raises ConfigError, OutputError."""
    epoch = screener.epochs.number(screener.clock())
    held = govern(config, epoch, screener.party_keys)
    terms = held.in_force(epoch)
    limits = replace(screener.limits, grace=terms.epoch_grace)
    return config.model_copy(update={"retention": terms.retention}), held, replace(screener, limits=limits)


async def _recover(config: GatewayConfig, store: GatewayStore, screener: Screener, requests: RequestPath) -> None:
    """What an earlier process left behind, and which keys are over, before anybody is linked."""
    await index_people(store.client, screener)
    drop_unfinished(config.data_dir)
    await Revocations(screener, store, _auditor(config), config.data_dir).step()
    await store.claims_end()
    await requests.recover()


def _left_after(config: GatewayConfig) -> float:
    """Seconds after which a session that is open is settled; MS takes none that is older than `ANSWERED`."""
    return min(_ATTEMPTS * config.forward_timeout, ANSWERED)


def _auditor(config: GatewayConfig) -> SealingKey:
    """Raises ConfigError."""
    if config.trust.auditor_seal is None:
        raise ConfigError("trust.auditor_seal is needed")
    return SealingKey(config.trust.auditor_seal)


def _jobs(
    config: GatewayConfig, screener: Screener, store: GatewayStore, upstream: MainServiceClient, epochs: OpenEpochs,
    keeper: Timekeeper,
) -> list[Coroutine[Any, Any, None]]:  # fmt: skip
    """What worker 0 runs beside the requests, and nothing else needs."""
    return [
        LinkExpiry(screener, store, epochs).run(),
        Revocations(screener, store, _auditor(config), config.data_dir).run(),
        keeper.run(),
        Releases(screener, store, upstream, epochs).follow(),
        Departures(store, epochs).run(),
        Gauges(store, list(screener.party_keys)).run(),
    ]


async def serve(
    config: GatewayConfig, *, ready: Callable[[str], None] | None = None, worker: int = 0, source: Path | None = None,
    clocks: Clocks = Clocks(),  # noqa: B008
) -> None:  # fmt: skip
    """Run until SIGTERM.

    Args:
        config: with `store_url` resolved. ready: called with the address once it serves.
        worker: worker 0 also follows MS's releases; the others only serve.
        source: the configuration's file: changes of its allow-list are taken over.

    Raises:
        ConfigError, KeyInvalidError, StoreError: it cannot start.
    """
    config, held, screener = _governed(config, screener_of(config, clocks))
    if config.store_url is None:
        raise ConfigError("store_url is not resolved")
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    store = GatewayStore(connect(config.store_url), coming=screener.coming)
    await store.open()
    # Before anything is bound: a log that does not open is named, and the address stays free.
    evidence = EvidenceOptions("gateway", PREFIX, screener.key)
    certificates = config.trust.certificates("main-service")
    channel = open_channel(config.main_service, tls, config.main_service_name, certificates)
    known = held_of(config, evidence, other_log(config, "main-service", config.trust.service))
    heads = await meet(channel, Heard(known, store.client, PREFIX, worker))
    writer = await writer_for(worker, config, evidence, store.client)
    upstream = MainServiceClient(channel, config.forward_timeout)
    epochs, heard = OpenEpochs(screener, store, upstream, held), HeardTime(store.client, PREFIX, screener.watch)
    reader, earlier = reader_of(config, evidence), partial(reader_of, config, evidence)
    promises = promises_of(config, evidence, store.client, reader, screener.watch)
    registrations, peers = Registrations(store), PeerRegistry(config.trust.allow_list(), own=tls.read()[1])
    requests = RequestPath(screener, store, upstream, registrations, epochs, promises)
    consents = Consents(screener, store, upstream, registrations, epochs, promises)
    auditor, notices = _auditor(config), Notices(screener, RightsStore(store))
    told = (screener, store, upstream, auditor, notices)
    erasures, objections = Erasures(*told, config.data_dir), Objections(*told, epochs)
    rights = Rights(screener, store, auditor, objections, erasures, epochs, promises)
    asked = (links := Links(screener, store, epochs, upstream), consents, requests, rights)
    server, port = new_server(tls, config.listen, config.workers > 1, config.max_message, MAX_STREAMS)
    add_GatewayServicer_to_server(GatewayService(peers, epochs, promises, asked), server)
    add_FeedServicer_to_server(FeedService(peers, Feeds(screener, store, notices, epochs, promises), notices), server)
    keys, other = store.evidence_keys, upstream.consistency
    shown = EvidenceService(peers, reader, store.client, PREFIX, earlier, heads.heard, keys, other)
    add_EvidenceServicer_to_server(shown, server)
    if worker == 0:
        await restore_rights(store.client, screener, older_of(config, evidence))
        await _recover(config, store, screener, requests)
    background = [ClockKeeper(screener.watch, heard, worker == 0).run(), heads.heard.watch()]  # nothing fails any more
    background.append(write_refusals(screener, store))
    if writer is not None:
        background += jobs_of(config, evidence, store.client, writer, screener.watch)
        background += [heads.run(), erasures.run(), requests.settle_left(_left_after(config))]
        keeper, owed = Timekeeper(screener, upstream, heard, heads.renewed), Owed(store, consents, objections, links)
        background += [owed.run(), *_jobs(config, screener, store, upstream, epochs, keeper)]
    background += [] if source is None else [AllowListWatch(source, GatewayConfig, peers).run()]
    try:
        await run(
            server, SERVICES, f"{config.listen.rpartition(':')[0]}:{port}", background, ready, config.shutdown_grace,
            peers, config.metrics_listen, Facts.of(config), lambda: screener.watch.doubt() is None,
        )  # fmt: skip
    finally:
        await upstream.close()
        await channel.close()
        await store.client.aclose()
