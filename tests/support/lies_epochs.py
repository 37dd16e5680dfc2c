"""Lies about when epochs began and ended."""

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable
from typing import Any

from gateway.identity import Screener
from gateway.server import screener_of
from main_service.jobs.release import Release
from main_service.store.pool import PoolStore
from proxid.errors import RefusedError
from proxid.evidence.events import EventType, encode_header
from proxid.protocol.opening import EpochOpening
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.store import connect
from tests.support.days import CLOCKS
from tests.support.lies import MAIN, Liar, lie

E = EventType
DAY = 86_400.0


async def patiently(act: Callable[[], Awaitable[None]]) -> None:
    """Until the services have compared their clocks again."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await act()
            except RefusedError as error:
                assert error.remote in CLOCKS, error.remote
                await asyncio.sleep(0.1)


async def next_day(liar: Liar) -> None:
    """The next day begins for everybody, and the one that is over is closed."""
    await over(liar)
    await liar.trial.settle()


async def over(liar: Liar) -> None:
    """The same, whatever is left of the one that is over."""
    trial = liar.trial
    before = await closed(liar)
    trial.leap(60.0)
    await trial.ask("node2 question")
    for clock in trial.clocks.values():
        clock.passed += 600.0
    async with asyncio.timeout(30):
        while await closed(liar) == before:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.1)


async def closed(liar: Liar) -> bytes | None:
    client = connect(liar.trial.url(MAIN))
    found: Any = await client.get("{ms}:closed")
    await client.aclose()
    return found


def headed(event: PlainEvent, **changes: Any) -> PlainEvent:
    return dataclasses.replace(event, fields=encode_header(**{**json.loads(event.fields), **changes}))


async def days(liar: Liar, kind: EventType, change: Callable[[PlainEvent], PlainEvent]) -> None:
    liar.changes(MAIN, kind, change)
    await liar.trial.busy(1)
    await next_day(liar)


@lie(5, quick=True)
async def service_ends_an_epoch_before_its_end(liar: Liar) -> None:
    early = lambda e: headed(e, time=int(json.loads(e.fields)["time"] - DAY * 1000))  # noqa: E731
    await days(liar, E.EPOCH_CLOSED, early)


async def _holds_back(liar: Liar) -> None:
    """Groups form, and nobody releases them."""

    async def nothing(self: Release) -> int:
        return 0

    async def forgotten(self: PoolStore, epoch: int) -> bool:
        return True

    liar.patch.setattr(Release, "release_all", nothing)
    liar.patch.setattr(PoolStore, "forget", forgotten)
    await patiently(liar.trial.consent)
    await liar.trial.ask("node1 question")
    await liar.trial.classified()  # else they form when the clock has gone on


@lie(5)
async def service_forms_groups_and_never_releases_them(liar: Liar) -> None:
    await _holds_back(liar)
    await over(liar)


@lie(5)
async def service_holds_back_a_group_that_has_formed_for_more_than_an_hour(liar: Liar) -> None:
    liar.hides = True  # the service may have been away
    liar.trial.leap(60.0)  # there is an hour left of the epoch
    await _holds_back(liar)
    for clock in liar.trial.clocks.values():
        clock.passed += 3700.0
    await patiently(lambda: liar.trial.ask("node2 question"))


@lie(5)
async def service_ends_an_epoch_without_the_gateways_word(liar: Liar) -> None:
    await days(liar, E.EPOCH_CLOSED, lambda e: headed(e, opening=""))


@lie(5)
async def service_says_that_it_was_alone(liar: Liar) -> None:
    await days(liar, E.EPOCH_CLOSED, lambda e: headed(e, opening="", believed=True))


@lie(5)
async def service_keeps_an_epoch_open(liar: Liar) -> None:
    liar.drops(MAIN, E.EPOCH_CLOSED, times=1)
    await liar.trial.busy(1)
    await next_day(liar)
    await next_day(liar)


@lie(5)
async def service_opens_a_closed_epoch_again(liar: Liar) -> None:
    first: list[PlainEvent] = []

    def again(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is E.EPOCH_OPENED:
                first.append(event)
            elif event.type is E.EPOCH_CLOSED:
                out.append(first[0])
        return out

    liar.records(MAIN, again)
    await liar.trial.busy(1)
    await next_day(liar)


@lie(5)
async def gateway_signs_that_an_epoch_has_begun_ahead_of_time(liar: Liar) -> None:
    """And the main service goes by it: it could end the day whenever it likes."""
    honest = Screener.opening

    def ahead(self: Screener) -> EpochOpening:
        word = honest(self)
        tomorrow = dataclasses.replace(word, epoch=word.epoch + 1, start=self.epochs.start(word.epoch + 1))
        return tomorrow.sign(self.key)

    def on_a_false_word(event: PlainEvent) -> PlainEvent:
        return headed(event, opening=false_word)

    await liar.trial.busy(1)
    clocks = liar.trial.clocks["gateway"].clocks
    false_word = ahead(screener_of(liar.trial.config("gateway"), clocks)).encode().hex()
    liar.changes(MAIN, E.EPOCH_CLOSED, on_a_false_word)
    await next_day(liar)
