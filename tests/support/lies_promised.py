"""Lies about when something was logged, against what the gateway promised of it (check 9)."""

import asyncio
import dataclasses
import os
from itertools import cycle
from typing import Any

import pytest

from auditor.checks.c9_receipts import read_receipts
from gateway.store.consents import Chosen
from gateway.store.library import GatewayStore
from proxid.clients.auditing.heads import FOLDER
from proxid.crypto.sansig import Message, Role, SignedMessage, sign
from proxid.errors import HistoryForkedError
from proxid.evidence.checkpoint import Checkpoint, origin
from proxid.evidence.events import EventType, SanitizedPair
from proxid.evidence.promise import Promise
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.promising import Promises
from proxid.runtime.provision.keyfile import load_signing_key
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, MAIN, Liar, lie
from tests.support.trial import PEOPLE

E = EventType
HOUR = 3_600_000


def presents(liar: Liar) -> None:
    """What devices and parties hold is given to the audit."""
    folders = [liar.trial.folder / name for name in ("devices", "parties")]
    liar.options = {"receipts": [one for folder in folders for one in read_receipts(folder)]}


@lie(9, quick=True)
async def screener_logs_a_withdrawal_late_and_sends_in_between(liar: Liar) -> None:
    """The person has the acknowledgement and the promise; the entry is made when the parties have the records."""
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
    honest, queue = (GatewayStore.consent, GatewayStore.consent_acknowledged), list[Any]()

    async def later(self: GatewayStore, *told: Any) -> Any:
        queue.append((honest[0], self, told))
        return Chosen(f" {int(await self.client.get('{gw}:events:n')) + 1}", [])

    async def acknowledged(self: GatewayStore, *told: Any) -> None:
        queue.append((honest[1], self, told))

    liar.patch.setattr(GatewayStore, "consent", later)
    liar.patch.setattr(GatewayStore, "consent_acknowledged", acknowledged)
    await liar.trial.device.consent(PEOPLE[2], "nothing")
    assert any((await liar.trial.receive()).values())
    for step, store, told in queue:
        await step(store, *told)
    presents(liar)


@lie(9)
async def screener_promises_an_entry_that_it_never_makes(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.drops(GATEWAY, E.ACCESSED)
    client = rights(liar.trial)
    await client.exercise(Right.ACCESS, PEOPLE[1])
    await client.close()
    presents(liar)


@lie(9, quick=True)
async def screener_keeps_an_entry_back_for_longer_than_it_may(liar: Liar) -> None:
    """It stands where it was promised in the end: the head that came with promises an hour later did not cover it.

    On a busy machine the first head may cover what the first promise is of, and nothing that comes behind it.
    """
    honest, given = Promises.of, list[Promise]()

    async def of(self: Promises, place: str, kind: EventType, asked: bytes) -> bytes:
        promise = Promise.decode(await honest(self, place, kind, asked))
        if not promise.log.endswith(GATEWAY):
            return promise.encode()
        head, stale = Promise.decode(promise.encode()), given[0] if given else promise
        given.append(promise)
        later = HOUR if len(given) > len(PEOPLE) // 2 else 0
        late = dataclasses.replace(head, time_ms=head.time_ms + later, head=stale.head)
        return late.sign(self._key).encode()

    liar.patch.setattr(Promises, "of", of)
    await liar.trial.consent(people=PEOPLE[:1])
    await liar.trial.consent(people=PEOPLE[1:])
    presents(liar)


def forks(liar: Liar, role: str) -> None:
    """A service says with answers and promises that its log is another."""
    honest = Promises.head

    async def head(self: Promises) -> bytes:
        shown = await honest(self)
        if not shown.startswith(origin("main-service", role).encode()):
            return shown
        size = int(shown.split(b"\n")[1])
        key = load_signing_key(liar.trial.folder / role / "signing.key")
        return Checkpoint(origin("main-service", role), size, os.urandom(32)).sign(key).encode()

    liar.patch.setattr(Promises, "head", head)


async def holds_a_head(liar: Liar) -> None:
    """Until the device was shown a head of the gateway's log that has entries: every log continues one without."""
    folder = liar.trial.folder / "devices/household-1/data" / FOLDER
    async with asyncio.timeout(20):
        for bundle in cycle(("nothing", "everything")):  # what is chosen already is not asked for again
            await liar.trial.device.consent(PEOPLE[1], bundle)
            held = [path.read_text().split("\n") for path in folder.glob("*.head")]
            if any(name == origin("main-service", GATEWAY) and int(size) for name, size, *_ in held):
                return
            await asyncio.sleep(0.2)


@lie(1, quick=True)
async def screener_promises_over_another_history(liar: Liar) -> None:
    """The device refuses the head that it is given with the promise, and keeps the promise, which convicts."""
    await liar.trial.busy(1)
    await holds_a_head(liar)
    forks(liar, GATEWAY)
    with pytest.raises(HistoryForkedError):
        await liar.trial.device.consent(PEOPLE[0], "nothing")
    presents(liar)


@lie(1)
async def service_answers_over_another_history(liar: Liar) -> None:
    """Nobody presents anything: the gateway's log holds the answer."""
    await liar.trial.busy(1)
    forks(liar, MAIN)
    await liar.trial.device.ask(PEOPLE[0], "node1 question")


@lie(9)
async def both_services_log_another_answer_than_the_device_got(liar: Liar) -> None:
    """The main service signs two, and the gateway passes one on and records the other."""
    service, gateway = (load_signing_key(liar.trial.folder / role / "signing.key") for role in (MAIN, GATEWAY))

    def other(data: bytes) -> bytes:
        pair = SanitizedPair.decode(data)
        said = pair.original.message
        original = sign(Message(dataclasses.replace(said.header, nonce=os.urandom(16)), said.blocks), service)
        passed_on = original.message.with_user_block(pair.sanitized.message.user_block)
        full = gateway.sign(passed_on.full_input(Role.SANITIZER, original.fixed))
        return SanitizedPair(original, SignedMessage(passed_on, original.fixed + full)).encode()

    liar.payloads(GATEWAY, E.ANSWERED, other)
    await liar.trial.busy(1)
    presents(liar)
