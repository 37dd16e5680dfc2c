"""A refusal is kept like an answer: the same bytes get the same one, and one event says so."""

from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Verdict
from gateway.upstream import MainServiceClient
from main_service.responder import BuiltInSkills
from proxid.clients.household.gateway import GatewayClient
from proxid.crypto.sansig import SignedMessage
from proxid.errors import RefusedError, UpstreamError
from tests.support.trial import PEOPLE, running


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[SignedMessage]:
    """Every request that devices sent."""
    honest, found = GatewayClient.ask, list[SignedMessage]()

    async def ask(self: GatewayClient, signed: SignedMessage, *rest: Any) -> SignedMessage:
        found.append(signed)
        return await honest(self, signed, *rest)

    monkeypatch.setattr(GatewayClient, "ask", ask)
    return found


async def test_the_same_bytes_get_the_same_refusal_and_another_request_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: list[SignedMessage]
) -> None:
    honest, tries = BuiltInSkills.answer, list[str]()

    async def fails_once(self: BuiltInSkills, utterance: str, context: Any) -> str:
        tries.append(utterance)
        if len(tries) == 1:
            raise ValueError
        return await honest(self, utterance, context)

    monkeypatch.setattr(BuiltInSkills, "answer", fails_once)
    async with running(tmp_path) as trial:
        await trial.consent()
        with pytest.raises(RefusedError):
            await trial.device.ask(PEOPLE[0], "node1 question")
        gateway = trial.device._gateway
        with pytest.raises(RefusedError) as again:
            await gateway.ask(sent[0], gateway.attempts())
        assert again.value.remote.value == "upstream_refused"
        await trial.ask("node1 question")
        await trial.settle()
        await trial.receive()
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
    assert report.counts["main-service.REFUSED"] == 1 and report.counts["received"] == len(PEOPLE)
    assert sent[0].session_id not in {signed.session_id for signed in sent[1:] if signed is not sent[0]}


async def test_a_request_that_did_not_arrive_is_answered_at_the_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, tries = MainServiceClient.ask, list[bytes]()

    async def lost_once(self: MainServiceClient, message: SignedMessage, *rest: Any) -> SignedMessage:
        tries.append(message.session_id)
        answer = await honest(self, message, *rest)
        if message.session_id == tries[0] and tries.count(tries[0]) == 1:
            raise UpstreamError("as if")
        return answer

    monkeypatch.setattr(MainServiceClient, "ask", lost_once)
    async with running(tmp_path) as trial:
        await trial.busy(1)
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
    assert report.counts["gateway.UNREACHED"] == 1 and tries.count(tries[0]) == 2
    assert report.counts["gateway.ANSWERED"] == len(PEOPLE)
