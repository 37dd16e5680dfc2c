"""Lies about objections: what a gateway passed on of one, and what the main service did when it was told."""

from typing import Any

from gateway.objections import Objections
from gateway.upstream import MainServiceClient
from main_service.store.pool import PoolStore
from main_service.store.subjects import SubjectStore
from proxid.protocol.rights import Right
from tests.integration.gateway.test_rights import rights
from tests.support.lies import Liar, lie
from tests.support.trial import PEOPLE

USER = PEOPLE[1]


async def exercise(liar: Liar, *asked: Right) -> None:
    client = rights(liar.trial)
    for right in asked:
        await client.exercise(right, USER)
    await client.close()


async def waits(liar: Liar) -> None:
    """Somebody has asked something that waits."""
    await liar.trial.busy(1)
    await liar.trial.ask("waits here", [USER])
    await liar.trial.settle()


async def goes_on(liar: Liar) -> None:
    for node in ("node1", "node2"):
        await liar.trial.ask(f"{node} question", [USER, PEOPLE[2]])
    await liar.trial.settle()


def passes_nothing_on(liar: Liar) -> None:
    async def restrict(*_: Any, **__: Any) -> bytes:
        return b""

    async def told(*_: Any) -> tuple[Any, ...]:
        return ()

    liar.patch.setattr(MainServiceClient, "restrict", restrict)
    liar.patch.setattr(Objections, "_told", told, raising=False)


def promises_and_goes_on(liar: Liar) -> None:
    async def restrict(self: PoolStore, epoch: int, told: Any, *_: Any) -> Any:
        return await SubjectStore(self._functions).unrestrict(told)

    liar.patch.setattr(PoolStore, "restrict", restrict)


@lie(6, quick=True)
async def gateway_records_an_objection_and_does_not_pass_it_on(liar: Liar) -> None:
    """The main service goes on with the person, as it must: nobody has told it."""
    await waits(liar)
    passes_nothing_on(liar)
    await exercise(liar, Right.OBJECT)
    await goes_on(liar)


@lie(6)
async def service_is_told_of_an_objection_and_keeps_what_waits(liar: Liar) -> None:
    await waits(liar)
    promises_and_goes_on(liar)
    await exercise(liar, Right.OBJECT)
    await liar.trial.ask("node1 question", [PEOPLE[2]])


@lie(6)
async def service_is_told_of_an_objection_and_takes_up_what_comes(liar: Liar) -> None:
    await liar.trial.consent()
    promises_and_goes_on(liar)
    await exercise(liar, Right.OBJECT)
    await liar.trial.ask("node1 question", [USER])
    await liar.trial.settle()
