"""Over a limit: refused before a signature is checked, one counted event, what was forwarded still gets its answer."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import gateway.requests
from auditor.findings import Verdict
from gateway.store.library import GatewayStore
from proxid.clients.household.gateway import GatewayClient
from proxid.crypto.sansig import SignedMessage
from proxid.errors import Code, RefusedError
from proxid.evidence.events import encode_header
from proxid.runtime.store import connect
from tests.support.trial import PEOPLE, Trial, running

LIMIT = 5


async def over(trial: Trial, times: int) -> int:
    """Ask; how often that was over the limit."""
    asking = (trial.ask("node1 question", PEOPLE[:1]) for _ in range(times))
    found = await asyncio.gather(*asking, return_exceptions=True)
    refused = [error for error in found if error is not None]
    assert all(isinstance(error, RefusedError) and error.remote is Code.RATE_LIMITED for error in refused)
    return len(refused)


async def test_refusals_of_a_minute_are_one_event_and_cost_no_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXID_GATEWAY__RATE_PER_MINUTE", str(LIMIT))
    sent, honest = list[SignedMessage](), GatewayClient.ask
    verified, verify = list[Any](), gateway.requests.verify

    async def ask(self: GatewayClient, signed: SignedMessage, *rest: Any) -> SignedMessage:
        sent.append(signed)
        return await honest(self, signed, *rest)

    monkeypatch.setattr(GatewayClient, "ask", ask)
    monkeypatch.setattr(gateway.requests, "verify", lambda *args: (verified.append(args), verify(*args)))
    async with running(tmp_path) as trial:
        # All of it in one minute of the gateway's clock.
        clock = trial.clocks["gateway"].wall
        passes = 60 - clock() % 60 + 1
        for moved in trial.clocks.values():
            moved.passed += passes
        refused = await over(trial, LIMIT + 1)
        assert refused == 1
        before = len(verified)
        refused += await over(trial, 20)
        assert refused == 21 and len(verified) == before
        home: Any = trial.device._gateway
        assert await home.ask(sent[0], home.attempts())
        choices = ["everything", "nothing"] * LIMIT
        with pytest.raises(RefusedError) as caught:
            for bundle in choices[: LIMIT + 1]:
                await trial.consent(bundle, PEOPLE[1:2])
        assert caught.value.remote is Code.RATE_LIMITED
        await trial.halt("gateway")
        await trial.serve("gateway")
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
    assert report.counts["gateway.REFUSED"] == 2 and report.counts["refused.gateway.rate_limited"] == 22


@pytest.mark.parametrize(
    ("header", "counted"),
    [
        (encode_header(rule="rate_limited", session="ab" * 64), 1),
        (encode_header(rule="rate_limited", count=9, sessions="ab" * 32, v=2), 9),
        (encode_header(rule="rate_limited", count=0, sessions="ab" * 32, v=2), None),
        (encode_header(rule="rate_limited", count=9, sessions="ab", v=2), None),
        (encode_header(rule="rate_limited", count="many", sessions="ab" * 32, v=2), None),
    ],
)
async def test_one_event_each_as_logs_before_have_them_and_a_count_that_is_none(
    tmp_path: Path, header: bytes, counted: int | None
) -> None:
    async with running(tmp_path) as trial:
        store = GatewayStore(connect(trial.url("gateway")))
        await store.call("gw_refused", bytes(16), header)
        await store.client.aclose()
        report = await trial.audit()
    if counted is None:
        assert [v.rule for v in report.violations] == [7]
    else:
        assert report.counts["refused.gateway.rate_limited"] == counted and report.violations == []
        assert report.verdict is Verdict.UNCHECKED, "logs before do not say whose requests were too many"
