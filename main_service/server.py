"""Puts the Main Service together from its configuration and runs it (DESIGN 2, 16)."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from main_service.config import MainServiceConfig
from main_service.consents import Consents
from main_service.epochs import EpochKeys
from main_service.gauges import Gauges
from main_service.identity import Service
from main_service.indexing import index_people
from main_service.intake import Anonymiser
from main_service.integrator import Integrator
from main_service.jobs.classification import Classification
from main_service.jobs.release import Release
from main_service.jobs.splitting import Splitting
from main_service.jobs.timekeeping import Timekeeper
from main_service.openings import Openings
from main_service.requests import Credentials, RequestPath
from main_service.responder import Answering, BuiltInSkills, Upstream
from main_service.responder.upstream import Reader
from main_service.rights import Subjects
from main_service.rpc import MainService
from main_service.store.counts import CountStore
from main_service.store.epochs import EpochStore
from main_service.store.library import PREFIX, library
from main_service.store.outbox import Outbox
from main_service.store.places import PlaceLedger
from main_service.store.pool import PoolStore
from main_service.store.requests import RequestStore
from main_service.store.slots import SlotStore
from main_service.store.split import SplitStore
from main_service.store.subjects import SubjectStore
from proxid.classify import Classifier, load_default
from proxid.crypto.hpke import SealingKey
from proxid.errors import ConfigError
from proxid.protocol.epochs import Epochs
from proxid.runtime.clock import Clocks, ClockWatch
from proxid.runtime.config.terms import Terms
from proxid.runtime.evidence_log.servicer import EvidenceService
from proxid.runtime.evidence_log.setup import (
    EvidenceOptions,
    held_of,
    jobs_of,
    other_log,
    promises_of,
    reader_of,
    writer_for,
)
from proxid.runtime.observability.endpoint import Facts
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.provision.policies import Held, govern
from proxid.runtime.store import connect
from proxid.runtime.store.clock import ClockKeeper, HeardTime
from proxid.runtime.transport.allow_list import AllowListWatch
from proxid.runtime.transport.channel import TlsFiles, new_server
from proxid.runtime.transport.heads import Heard
from proxid.runtime.transport.methods import MAX_BATCH_MESSAGE
from proxid.runtime.transport.peers import PeerRegistry
from proxid.runtime.transport.runner import run
from proxid.wire.v1.common_pb2_grpc import add_EvidenceServicer_to_server
from proxid.wire.v1.main_service_pb2_grpc import add_MainServiceServicer_to_server

SERVICES = ("proxid.wire.v1.MainService", "proxid.wire.v1.Evidence")


def service_of(config: MainServiceConfig, clocks: Clocks = Clocks()) -> Service:  # noqa: B008 - it is immutable
    """The Main Service of a configuration.

    Raises:
        ConfigError: a key that it needs is not provisioned. KeyInvalidError: a key file is unusable.
    """
    trust = config.trust
    if trust.screener is None or trust.auditor_seal is None:
        raise ConfigError("trust.screener and trust.auditor_seal are needed")
    return Service(
        name=config.service,
        key=load_signing_key(config.signing_key),
        screener=trust.screener,
        auditor=SealingKey(trust.auditor_seal),
        parties={name: SealingKey(keys.seal) for name, keys in trust.parties.items()},
        epochs=Epochs(config.epoch_seconds),
        nonce_ttl=int(config.nonce_ttl),
        grace=config.epoch_grace,
        clock=clocks.wall,
        watch=ClockWatch(clocks, config.clock_skew),
    )


def _governed(config: MainServiceConfig, service: Service) -> tuple[MainServiceConfig, Service, Held]:
    """Both as the policy in force says, and the policies that are held; raises ConfigError, OutputError."""
    epoch = service.epochs.number(service.clock())
    held = govern(config, epoch, service.parties)
    terms = held.in_force(epoch)
    service = replace(service, clock_skew=terms.clock_skew, grace=terms.epoch_grace)
    return config.model_copy(update={"retention": terms.retention}), service, held


def _shipped(config: MainServiceConfig) -> Classifier:
    return load_default(patterns=config.classify.patterns)


def _responders(config: MainServiceConfig, classifier: Classifier | None) -> tuple[Answering, Upstream | None]:
    """Built-in skills, and who is asked what they do not know. Raises ConfigError."""
    chosen, reader = config.responder, cast("Reader | None", None)
    skills = Answering(BuiltInSkills(chosen.skills, chosen.unknown), config.answer_timeout)
    if chosen.upstream is None:
        return skills, None
    if chosen.upstream.identifiers == "replace":
        found = classifier or _shipped(config)
        if not isinstance(found, Reader):
            raise ConfigError("responder.upstream.identifiers: this classifier cannot say where identifiers stand")
        reader = found
    return skills, Upstream(chosen.upstream, reader)


def _anonymiser(classifier: Classifier, in_force: Terms) -> Anonymiser:
    """Raises ConfigError if the policy in force demands another classifier: everything would be withheld."""
    if in_force.pipeline not in ("", classifier.version):
        raise ConfigError("pipeline: the policy in force demands another version than this installation has")
    return Anonymiser(classifier)


async def _verify_parties(service: Service, epochs: EpochKeys, opened: Sequence[int]) -> None:
    """That what waits of open epochs can be sealed to its parties; raises ConfigError."""
    for epoch in opened:
        missing = sorted(set((await epochs.terms(epoch)).parties) - service.parties.keys())
        if missing:
            names = ", ".join(missing)
            raise ConfigError(
                f"trust.parties lacks {names}, which epoch {epoch} goes by: put back the keys until it ends"
            )


def _jobs(
    service: Service, stores: tuple[RequestStore, PoolStore, SlotStore, EpochStore], epochs: EpochKeys,
    anonymiser: Anonymiser, beside: tuple[PlaceLedger, SplitStore], wake: asyncio.Event,
) -> list[Coroutine[Any, Any, None]]:  # fmt: skip
    """What worker 0 runs beside the request path."""
    (requests, pool, slots, epoch_store), (ledger, split) = stores, beside
    integrator = Integrator(service)
    release = Release(pool, slots, epoch_store, epochs, integrator)
    splitting = Splitting(service, split, epochs, integrator)
    return [
        Classification(service, (requests, pool, slots, split), epochs, anonymiser, ledger, wake).run(),
        release.run(),
        Timekeeper(service, (requests, pool, slots, epoch_store), epochs, release, splitting).run(),
    ]


async def serve(
    config: MainServiceConfig, *, ready: Callable[[str], None] | None = None, worker: int = 0,
    classifier: Classifier | None = None, source: Path | None = None, clocks: Clocks = Clocks(),  # noqa: B008
) -> None:  # fmt: skip
    """Run until SIGTERM.

    Args:
        config: with `store_url` resolved. ready: called with the address once it serves.
        worker: worker 0 also logs, releases and keeps time; the others only answer.
        classifier: the shipped one if None. source: the configuration's file: changes of its allow-list are taken over.

    Raises:
        ConfigError, KeyInvalidError, StoreError: it cannot start.
    """
    config, service, held = _governed(config, service_of(config, clocks))
    if config.store_url is None:
        raise ConfigError("store_url is not resolved")
    client, blocking = connect(config.store_url), connect(config.store_url)
    # What runs beside the request path has steps of its own on their way: answers do not queue behind them.
    functions, beside = library(client), library(client)
    await functions.load()
    # Before anything is bound: a log that does not open is named, and the address stays free.
    evidence = EvidenceOptions("main-service", PREFIX, service.key)
    screener = other_log(config, "gateway", config.trust.screener)
    compared = await Heard(held_of(config, evidence, screener), client, PREFIX, worker).begun()
    writer = await writer_for(worker, config, evidence, client)
    requests, epoch_store = RequestStore(functions), EpochStore(functions)
    epochs = EpochKeys(service, epoch_store, held)
    await _verify_parties(service, epochs, await epoch_store.open_epochs())
    pool, slot_store = PoolStore(beside, epochs.settings), SlotStore(beside, epochs.slots, epochs.draws, service.epochs)
    wake, credentials = asyncio.Event(), Credentials(service, requests)
    responder, upstream = _responders(config, classifier)
    reader, earlier = reader_of(config, evidence), partial(reader_of, config, evidence)
    promises = promises_of(config, evidence, client, reader, service.watch)
    subjects = Subjects(service, client, SubjectStore(functions), pool, epoch_store, promises)
    path = RequestPath(service, requests, epochs, credentials, responder, wake, subjects.share, promises, upstream)
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    peers = PeerRegistry(config.trust.allow_list(), own=tls.read()[1])
    server, port = new_server(tls, config.listen, config.workers > 1, MAX_BATCH_MESSAGE)
    heard = HeardTime(client, PREFIX, service.watch)
    openings = Openings(service, epoch_store, heard)
    consents, outbox = Consents(service, pool, credentials, epochs, promises), Outbox(blocking, functions)
    servicer = MainService(peers, epochs, openings, path, consents, outbox, subjects, compared.wait, promises)
    add_MainServiceServicer_to_server(servicer, server)
    if worker == 0:
        await index_people(client)
    add_EvidenceServicer_to_server(EvidenceService(peers, reader, client, PREFIX, earlier, compared), server)
    in_force = held.in_force(service.epochs.number(service.clock()))
    anonymiser = _anonymiser(classifier or _shipped(config), in_force) if worker == 0 else None
    # Made when nothing fails any more before they run.
    background = [ClockKeeper(service.watch, heard, worker == 0).run(), compared.watch()]
    if anonymiser is not None:
        stores = (requests, pool, slot_store, epoch_store)
        background += _jobs(service, stores, epochs, anonymiser, (PlaceLedger(beside), SplitStore(beside)), wake)
        background.append(Gauges(CountStore(functions, client), epoch_store, service.epochs).run())
    background += [] if writer is None else jobs_of(config, evidence, client, writer, service.watch)
    if source is not None:
        background.append(AllowListWatch(source, MainServiceConfig, peers).run())
    try:
        await run(
            server, SERVICES, f"{config.listen.rpartition(':')[0]}:{port}", background, ready, config.shutdown_grace,
            peers, config.metrics_listen, Facts.of(config), lambda: service.watch.doubt() is None,
        )  # fmt: skip
    finally:
        await asyncio.gather(client.aclose(), blocking.aclose(), *([upstream.aclose()] if upstream else []))
