"""Who lies about the policy under which an epoch was opened is not served, or is convicted (docs/design.md 7, 10.4)."""

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import gateway.server
import main_service.server
from gateway.epochs import OpenEpochs
from gateway.upstream import MainServiceClient
from main_service.epochs import EpochKeys
from proxid.crypto.identity import EpochKey
from proxid.errors import Code, ConfigError
from proxid.evidence.events import EpochOpened, EventType
from proxid.runtime.config.terms import document_of
from proxid.runtime.provision.policies import PolicyFolder
from tests.support.days import ROLES, SERVICES, Days, days, texts
from tests.support.lies import GATEWAY, MAIN, Liar
from tests.support.trial import PARTIES


@pytest.fixture
async def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Days]:
    async with days(tmp_path, monkeypatch) as trial:
        yield trial


def renamed(key: bytes, signer: Any, **changes: Any) -> bytes:
    return dataclasses.replace(EpochKey.decode(key), **changes).issue(signer).encode()


async def test_a_service_that_logs_another_policy_than_it_signed_is_convicted(
    trial: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = Liar(trial, monkeypatch)
    signer = main_service.server.service_of(trial.config("main-service")).key

    def other(event: Any) -> Any:
        opened = EpochOpened.decode(event.payload)
        told = EpochOpened(renamed(opened.key, signer, policy=bytes(32)), opened.sealed)
        return dataclasses.replace(event, fields=told.header, payload=told.payload)

    liar.changes(MAIN, EventType.EPOCH_OPENED, other)
    assert await trial.next_day() is None
    await trial.busy(1)
    report = await trial.audit()
    assert any("another key or policy than the gateway was given" in text for text in texts(report))


async def test_a_gateway_that_hides_the_key_or_logs_one_of_its_own_is_convicted(
    trial: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = Liar(trial, monkeypatch)
    liar.drops(GATEWAY, EventType.EPOCH_OPENED)
    assert await trial.next_day() is None
    await trial.busy(1)
    assert any("does not hold its key" in text for text in texts(await trial.audit()))


async def test_a_gateway_cannot_make_a_key_of_its_own(trial: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    liar = Liar(trial, monkeypatch)
    signer = gateway.server.screener_of(trial.config("gateway")).key

    def own(event: Any) -> Any:
        made = EpochOpened(renamed(EpochOpened.decode(event.payload).key, signer, policy=bytes(32)))
        return dataclasses.replace(event, fields=made.header, payload=made.payload)

    liar.changes(GATEWAY, EventType.EPOCH_OPENED, own)
    assert await trial.next_day() is None
    await trial.busy(1)
    assert 5 in {violation.rule for violation in (await trial.audit()).violations}


async def test_an_epoch_opened_under_a_document_that_nobody_else_knows_is_not_served(
    trial: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A main service that signs whatever it likes: the gateway takes no key of a document that does not count there."""
    trial.says(PARTIES, 3, "main-service")
    folder = PolicyFolder(trial.config("main-service").data_dir)
    document = document_of(trial.config("main-service"))
    folder.add(document)
    monkeypatch.setattr(EpochKeys, "_chosen", lambda *_: document.digest)
    monkeypatch.setattr(EpochKeys, "_tell", lambda *_: None)
    assert await trial.next_day() is Code.NO_COMMON_POLICY


@pytest.mark.parametrize("liar", SERVICES)
async def test_neither_service_goes_back_to_a_policy_that_both_had_left(
    trial: Days, monkeypatch: pytest.MonkeyPatch, liar: str
) -> None:
    """Whoever opened an epoch under the newer one holds it: it cannot say that it lags."""
    old = document_of(trial.config("gateway")).digest
    trial.says(PARTIES, 4)
    trial.accept()
    trial.take_over()
    assert await trial.next_day() is None
    if liar == "main-service":
        monkeypatch.setattr(EpochKeys, "_chosen", lambda *_: old)
        monkeypatch.setattr(EpochKeys, "_tell", lambda *_: None)
    else:
        honest = MainServiceClient.epoch
        monkeypatch.setattr(MainServiceClient, "epoch", lambda self, opening, held: honest(self, opening, [old]))
    assert await trial.next_day() is Code.NO_COMMON_POLICY


async def test_a_gateway_that_drops_for_a_party_that_is_here_is_convicted(
    trial: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = OpenEpochs.latest

    async def without(self: OpenEpochs) -> Any:
        found = await honest(self)
        document = dataclasses.replace(found.document, parties=PARTIES[:1]) if found else None
        return None if found is None else dataclasses.replace(found, document=document)

    monkeypatch.setattr(OpenEpochs, "latest", without)
    await trial.consent()
    await trial.ask("node1 question")
    await trial.settle()
    assert any("a party that has not left" in text for text in texts(await trial.audit()))


async def test_a_policy_that_demands_another_pipeline_does_not_start(trial: Days) -> None:
    for role in ROLES:
        path = trial.folder / role / "policy.toml"
        path.write_text(f"pipeline = 'another-2'\n{path.read_text()}")
    trial.take_over()
    assert await trial.next_day() is None
    await trial.halt(MAIN)
    with pytest.raises(ConfigError, match="pipeline"):
        await trial.serve(MAIN)
