"""Whoever answers slowly, or not at all, is waited for by the one who asked and by nobody else (DESIGN 5.5)."""

import asyncio
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from main_service.responder import BuiltInSkills, Context
from proxid.crypto.sansig import SignedMessage
from proxid.errors import ProxidError, RefusedError
from proxid.protocol import request
from proxid.protocol.request import Utterance
from tests.support.trial import PEOPLE, Trial, running

SLOW = "tell me a long story"
QUESTION = "what is two times two"
SECONDS = 5.0


def plug_in(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], Any]) -> None:
    """Let a responder of somebody else's stand before the built-in one."""
    built_in = BuiltInSkills.answer

    async def awaited(self: BuiltInSkills, utterance: str, context: Context) -> Any:
        if utterance.startswith("what is"):
            return await built_in(self, utterance, context)
        found = answer(utterance)
        return await found if isinstance(found, Awaitable) else found

    monkeypatch.setattr(BuiltInSkills, "answer", awaited)


def block(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], str]) -> None:
    """The same with one that knows nothing of waiting."""

    def blocking(self: BuiltInSkills, utterance: str, context: Context) -> str:
        return "It is 4." if utterance.startswith("what is") else answer(utterance)

    monkeypatch.setattr(BuiltInSkills, "answer", blocking)


async def timed(trial: Trial, person: str, text: str) -> tuple[str, float]:
    begun = time.perf_counter()
    return (await trial.device.ask(person, text)).text, time.perf_counter() - begun


async def beside_slow_ones(trial: Trial) -> None:
    await asyncio.gather(*(trial.device.ask(person, QUESTION) for person in PEOPLE))  # everybody is linked
    slow = [asyncio.create_task(timed(trial, person, SLOW)) for person in PEOPLE[:-1]]
    await asyncio.sleep(0.5)
    text, took = await timed(trial, PEOPLE[-1], QUESTION)
    assert text == "It is 4." and took < SECONDS / 2
    assert {text for text, _ in await asyncio.gather(*slow)} == {"Once upon a time."}


async def test_a_built_in_question_is_answered_beside_slow_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(_: str) -> str:
        await asyncio.sleep(SECONDS)
        return "Once upon a time."

    plug_in(monkeypatch, story)
    async with running(tmp_path) as trial:
        await beside_slow_ones(trial)


async def test_and_beside_ones_that_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def story(_: str) -> str:
        time.sleep(SECONDS)
        return "Once upon a time."

    block(monkeypatch, story)
    async with running(tmp_path) as trial:
        await beside_slow_ones(trial)


def fail(utterance: str) -> str:
    """Each utterance another way not to answer."""
    match utterance.split()[-1]:
        case "raise":
            raise ValueError(utterance)
        case "deep":
            raise RecursionError
        case "exit":
            sys.exit(3)
        case "cancel":
            raise asyncio.CancelledError
        case "nothing":
            return None  # type: ignore[return-value]
        case "bytes":
            return b"bytes"  # type: ignore[return-value]
        case "surrogate":
            return "\ud800"
        case _:
            return "x" * 100_000


@pytest.mark.parametrize("how", [plug_in, block])
async def test_a_responder_that_fails_is_a_typed_refusal_and_an_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Callable[..., None]
) -> None:
    how(monkeypatch, fail)
    ways = ["raise", "deep", "exit", "cancel", "nothing", "bytes", "surrogate", "long"]
    async with running(tmp_path) as trial:
        await trial.ask(QUESTION)
        for person, way in zip(PEOPLE, ways, strict=True):
            with pytest.raises(RefusedError) as caught:
                await trial.device.ask(person, f"please {way}")
            assert caught.value.remote.value == "upstream_refused"
        assert (await timed(trial, PEOPLE[0], QUESTION))[0] == "It is 4."
        report = await trial.audit()
    assert report.violations == []
    assert report.counts["main-service.REFUSED"] == len(ways)
    assert report.counts["gateway.UNREACHED"] == 0


async def test_one_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXID_MAIN_SERVICE__ANSWER_TIMEOUT", "0.5 s")
    ended = threading.Event()

    def never(_: str) -> str:
        ended.wait(60)
        return "At last."

    block(monkeypatch, never)
    async with running(tmp_path) as trial:
        with pytest.raises(RefusedError):
            await trial.device.ask(PEOPLE[0], SLOW)
        ended.set()
        assert (await trial.audit()).violations == []


@pytest.mark.parametrize("sealed", [0, 253_402_300_800_000, 2**63 - 1, -1_000_000, 1_000_000])
async def test_a_sealed_time_that_is_not_the_headers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sealed: int
) -> None:
    """`sealed` beyond a million seconds is a time itself, else milliseconds beside the header's."""
    honest = request.make

    def lie(said: Utterance, *rest: Any, **more: Any) -> SignedMessage:
        now_ms = rest[3]
        time_ms = sealed if sealed == 0 or sealed > 1_000_000 else now_ms + sealed
        return honest(Utterance.new(said.text, time_ms, said.locale), *rest, **more)

    async with running(tmp_path) as trial:
        await trial.ask(QUESTION, PEOPLE[:1])
        with monkeypatch.context() as patched:
            patched.setattr(request, "make", lie)
            with pytest.raises(RefusedError) as caught:
                await trial.device.ask(PEOPLE[0], "what time is it")
        assert caught.value.remote.value == "upstream_refused"
        report = await trial.audit()
    assert report.violations == [] and report.counts["main-service.REFUSED"] == 1


async def test_a_machine_that_slept_in_the_middle_of_an_answer_is_accused_of_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:

        async def story(_: str) -> str:
            for clock in trial.clocks.values():
                clock.passed += 900.0
            return "Once upon a time."

        plug_in(monkeypatch, story)
        await trial.consent()
        await trial.device.ask(PEOPLE[0], QUESTION)
        with suppress(ProxidError):
            await trial.device.ask(PEOPLE[0], SLOW)
        await trial.device.ask(PEOPLE[0], QUESTION)
        await trial.settle()
        report = await trial.audit()
    assert [str(violation) for violation in report.violations] == []
