"""Lies about objections: what a gateway passed on of one, and what the main service did when it was told."""

import dataclasses
from typing import Any

from gateway.objections import Objections
from gateway.upstream import MainServiceClient
from main_service.rights import Subjects
from main_service.store.library import library
from main_service.store.pool import PoolStore
from main_service.store.subjects import SubjectStore
from main_service.store.told import Told
from proxid.evidence.events import EventType
from proxid.evidence.promise import Promise
from proxid.protocol import rights as rights_protocol
from proxid.protocol.restriction import Restriction
from proxid.protocol.rights import Right
from proxid.runtime.provision.keyfile import load_signing_key
from tests.integration.auditor.test_epoch_keys_lost import USER, lost
from tests.integration.gateway.test_rights import rights
from tests.support.lies import MAIN, Liar, lie, store_of
from tests.support.trial import PEOPLE


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
    async def told(*_: Any) -> tuple[Any, ...]:
        return ()

    liar.patch.setattr(Objections, "_told", told)


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


@lie(6)
async def gateway_passes_an_objection_on_by_a_promise_of_its_own(liar: Liar) -> None:
    """Nobody else gave it."""
    key = load_signing_key(liar.trial.folder / "gateway/signing.key")
    honest = Objections._told

    async def told(self: Objections, *what: Any) -> tuple[tuple[bytes, bytes], ...]:
        made = []
        for tag, data in await honest(self, *what):
            one = rights_protocol.Told.decode(data)
            promise = Promise.decode(one.promise).sign(key).encode()
            made.append((tag, dataclasses.replace(one, promise=promise).encode()))
        return tuple(made)

    await liar.trial.consent()
    liar.patch.setattr(Objections, "_told", told)
    await exercise(liar, Right.OBJECT)


@lie(6)
async def gateway_records_an_objection_by_the_promise_of_one_before(liar: Liar) -> None:
    honest, first = Objections._told, list[Any]()

    async def told(self: Objections, subjects: Any, objects: bool) -> Any:
        if objects and first:
            return first[0]
        found = await honest(self, subjects, objects)
        first.append(found)
        return found

    await waits(liar)
    liar.patch.setattr(Objections, "_told", told)
    await exercise(liar, Right.OBJECT, Right.RESUME, Right.OBJECT)
    await goes_on(liar)


@lie(6)
async def gateway_tells_nothing_of_a_lost_key_whose_person_objects(liar: Liar) -> None:
    honest = Objections._told

    async def told(self: Objections, subjects: Any, objects: bool) -> Any:
        return await honest(self, [one for one in subjects if not one.over], objects)

    await waits(liar)
    await lost(liar.trial)
    await liar.trial.device.session(USER)
    liar.patch.setattr(Objections, "_told", told)
    await exercise(liar, Right.OBJECT)


@lie(6)
async def gateway_tells_that_an_objection_is_taken_back_which_it_is_not(liar: Liar) -> None:
    """It may be about to record that."""
    liar.hides = True
    key = load_signing_key(liar.trial.folder / "gateway/signing.key")
    honest = MainServiceClient.restrict

    async def restrict(self: MainServiceClient, prox_id: str, restricted: bool, *rest: Any, **named: Any) -> bytes:
        promise = await honest(self, prox_id, restricted, *rest, **named)
        word = Restriction.make("main-service", prox_id, False, key, 0)
        await honest(self, prox_id, False, False, word.encode(), rest[-1])
        return promise

    await liar.trial.consent()
    liar.patch.setattr(MainServiceClient, "restrict", restrict)
    await exercise(liar, Right.OBJECT)
    await goes_on(liar)


async def frees(liar: Liar, word: Restriction | None) -> None:
    """The main service takes an objection to be over, by a word that it shows, or by none, and goes on."""
    prox_id = (await liar.trial.device.session(USER)).prox_id
    store = await store_of(liar, MAIN)
    if word is not None:
        await store.delete(f"{{ms}}:rw:{word.digest.hex()}")
    await SubjectStore(library(store)).unrestrict(Told(prox_id, False, 60, bytes(16), word))
    await store.aclose()
    await goes_on(liar)


@lie(6)
async def service_ends_an_objection_by_a_word_of_its_own(liar: Liar) -> None:
    await liar.trial.consent()
    await exercise(liar, Right.OBJECT)
    key = load_signing_key(liar.trial.folder / "main-service/signing.key")
    prox_id = (await liar.trial.device.session(USER)).prox_id
    await frees(liar, Restriction.make("main-service", prox_id, False, key, 0))


@lie(6)
async def service_ends_an_objection_without_a_word(liar: Liar) -> None:
    """A gateway of before gives none."""
    liar.hides = True
    await liar.trial.consent()
    await exercise(liar, Right.OBJECT)
    await frees(liar, None)


@lie(6)
async def service_ends_an_objection_by_a_word_of_before(liar: Liar) -> None:
    words, honest = list[Restriction](), Subjects.restrict

    async def restrict(self: Subjects, prox_id: str, restricted: bool, *rest: Any) -> bytes:
        words.append(Restriction.decode(rest[1]))
        return await honest(self, prox_id, restricted, *rest)

    await liar.trial.consent()
    liar.patch.setattr(Subjects, "restrict", restrict)
    await exercise(liar, Right.OBJECT, Right.RESUME, Right.OBJECT)
    await frees(liar, words[1])


@lie(9)
async def service_promises_that_it_was_told_of_an_objection_and_does_not_log_that(liar: Liar) -> None:
    await liar.trial.consent()
    liar.drops(MAIN, EventType.RESTRICTED)
    await exercise(liar, Right.OBJECT)
    await liar.trial.ask("node1 question", [PEOPLE[2]])
    await liar.trial.settle()
