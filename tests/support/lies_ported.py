"""Lies told in clocks, order, versions, aliases, labels and randomness; and those that no log can show."""

import base64
import dataclasses
import json
from dataclasses import replace
from typing import Any

import pytest

from auditor.checks.c9_receipts import Presented, read_receipts
from gateway.aliases import Namer
from gateway.store.library import GatewayStore
from gateway.store.requests import RequestSteps
from gateway.store.rights import RightsStore
from main_service.requests import RequestPath
from main_service.store.epochs import EpochStore
from proxid.anonymise.mix.cycle import seed_commitment
from proxid.crypto.identity import EpochKey
from proxid.encoding import encode
from proxid.errors import NonceReplayError, RateLimitError, RefusedError
from proxid.evidence.disclosure import disclosure_info
from proxid.evidence.events import EpochOpened, EventType, encode_header
from proxid.protocol import record, response
from proxid.protocol.feedkey import FeedKeyMessage
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.provision.keyfile import load_opening_key, load_signing_key
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, MAIN, Liar, filled, lie, store_of, unseen
from tests.support.lies_epochs import next_day
from tests.support.trial import PEOPLE, FixedClassifier

E = EventType


async def aliased(liar: Liar) -> None:
    await liar.trial.consent("aliased")
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
    await liar.trial.receive()


@lie(3)
async def gateway_shows_a_name_where_an_alias_belongs(liar: Liar) -> None:
    liar.patch.setattr(Namer, "name", lambda self, person: person.user_id)
    await aliased(liar)


@lie(3)
async def gateway_gives_a_person_one_alias_at_all_parties(liar: Liar) -> None:
    """Then two parties can put their feeds together."""

    liar.patch.setattr(Namer, "name", lambda self, person: record.alias(bytes(32), person.user_id, person.part))
    await aliased(liar)


@lie(3, quick=True)
async def gateway_picks_an_alias(liar: Liar) -> None:
    """In form, and one-to-one: it could say anything of the person to a party that knows how to read it."""
    liar.patch.setattr(Namer, "name", lambda self, person: chosen(person.user_id + self.party))
    await aliased(liar)


def chosen(text: str) -> str:
    return "al1" + base64.b32encode(text.encode().rjust(20)[-20:]).decode().lower()


@lie(3)
async def gateway_logs_another_key_of_aliases_than_it_uses(liar: Liar) -> None:
    def other(event: PlainEvent) -> PlainEvent:
        fields = json.loads(event.fields)
        commitment = record.alias_commitment(fields["party"], fields["period"], bytes(32))
        header = encode_header(**{**fields, "commitment": commitment.hex()})
        return replace(event, fields=header, payload=encode(bytes(32)))

    liar.changes(GATEWAY, E.KEYED, other)
    await aliased(liar)


@lie(3)
async def gateway_commits_to_another_key_of_aliases(liar: Liar) -> None:
    liar.payloads(GATEWAY, E.KEYED, lambda _: encode(bytes(32)))
    await aliased(liar)


@lie(3)
async def gateway_draws_the_key_of_aliases_again(liar: Liar) -> None:
    """As often as it likes the outcome: a person then has two names in one period."""
    await aliased(liar)
    store = await store_of(liar, GATEWAY)
    await store.delete("{gw}:ak", "{gw}:ake")
    await store.aclose()
    await liar.trial.ask("node2 question")
    await liar.trial.settle()


@lie(3)
async def gateway_draws_a_persons_part_of_aliases_again(liar: Liar) -> None:
    await aliased(liar)
    store = await store_of(liar, GATEWAY)
    async for key in store.scan_iter(match="{gw}:au:*"):
        await store.delete(key)
    await store.aclose()
    await next_day(liar)


@lie(5)
async def service_puts_the_time_of_the_request_into_a_record(liar: Liar) -> None:
    """A label that differs: whoever knows when somebody asked knows whose text stands where."""
    honest, turn = record.make, iter(range(1 << 30))

    def make(body: Any, *rest: Any) -> Any:
        return honest(body, *rest[:-1], body.time_bucket + next(turn))

    liar.patch.setattr(record, "make", make)
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()


@lie(5)
async def service_commits_to_another_seed_in_its_log_than_towards_devices(liar: Liar) -> None:
    """The seed could be drawn after the arrivals."""
    key = load_signing_key(liar.trial.folder / "main-service/signing.key")

    def other(event: PlainEvent) -> PlainEvent:
        opened = EpochOpened.decode(event.payload)
        told = EpochKey.decode(opened.key)
        changed = dataclasses.replace(told, seed_commitment=bytes(32), signature=b"").issue(key)
        opened = dataclasses.replace(opened, key=changed.encode())
        return dataclasses.replace(event, fields=opened.header, payload=opened.payload)

    liar.changes(MAIN, E.EPOCH_OPENED, other)
    await liar.trial.busy(1)


@lie(9)
async def both_services_log_another_commitment_than_devices_got(liar: Liar) -> None:
    """Devices keep the epoch's key: what both swear to afterwards is not what they said before."""
    trial, seed = liar.trial, bytes(range(32))
    key = load_signing_key(trial.folder / "main-service/signing.key")
    auditor = load_opening_key(trial.folder / "auditor/opening.key")

    def other(event: PlainEvent) -> PlainEvent:
        opened = EpochOpened.decode(event.payload)
        told = EpochKey.decode(opened.key)
        commitment = seed_commitment(seed, told.epoch, told.service)
        changed = replace(told, seed_commitment=commitment, signature=b"").issue(key).encode()
        sealed = auditor.public.seal(seed, disclosure_info(told.service, told.epoch)) if opened.sealed else b""
        header = encode_header(**{**json.loads(event.fields), "commitment": commitment.hex()})
        return replace(event, fields=header, payload=replace(opened, key=changed, sealed=sealed).payload)

    for role in (MAIN, GATEWAY):
        liar.changes(role, E.EPOCH_OPENED, other)
    await trial.consent()
    report = await trial.audit()
    assert not report.violations, report.violations
    liar.options["receipts"] = list(read_receipts(trial.folder / "devices"))


@lie(5)
async def service_says_that_it_is_tomorrow_and_moves_up_what_waits(liar: Liar) -> None:
    """Nobody can tell a wrong clock from that: it is unchecked."""
    liar.hides = True
    waiting: list[PlainEvent] = []

    def tomorrow(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is not E.BUFFERED or waiting:
                continue
            waiting.append(event)
            fields, at = json.loads(event.fields), liar.trial.clocks[MAIN].wall() + 90_000
            said = {"epoch": fields["epoch"], "session": fields["session"], "time": repr(at)}
            header = encode_header(**said, source=["Home", "node1"], target=["Home"])
            out.append(dataclasses.replace(event, type=E.RAISED, fields=header, payload=b""))
        return out

    liar.records(MAIN, tomorrow)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.settle()
    await liar.trial.ask("node2 question", PEOPLE[1:2])
    await liar.trial.settle()


async def objection_forgotten(liar: Liar) -> None:
    """Somebody objects, and the gateway's store is as if nobody had."""
    client = rights(liar.trial)
    await client.exercise(Right.OBJECT, PEOPLE[1])
    await client.close()
    store = await store_of(liar, GATEWAY)
    async for key in store.scan_iter(match="{gw}:ob:*"):
        await store.delete(key)
    await store.aclose()


@lie(6)
async def gateway_takes_a_grant_of_somebody_who_objects(liar: Liar) -> None:
    await liar.trial.consent("nothing")
    await objection_forgotten(liar)
    await liar.trial.consent("everything", PEOPLE[1:2])


@lie(6)
async def gateway_sends_what_somebody_objected_to_to_a_party_that_keeps_silent(liar: Liar) -> None:
    """What was SENT counts, acknowledged or not."""
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()

    async def kept(self: RightsStore, *_: Any) -> None:
        """Nothing leaves the feeds."""

    liar.patch.setattr(RightsStore, "settle", kept)
    await objection_forgotten(liar)
    store = await store_of(liar, GATEWAY)
    assert await GatewayStore(store).take("acme", 0, 8)
    await store.aclose()


@unseen("possibly_held")
async def party_reads_and_never_acknowledges(liar: Liar) -> None:
    """It keeps what it read; when one of them withdraws, the group is sent to nobody again."""
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
    store = await store_of(liar, GATEWAY)
    assert await GatewayStore(store).take("acme", 0, 8)
    await store.aclose()
    await liar.trial.device.consent(PEOPLE[2], "nothing")


async def _turn_away(liar: Liar, error: type[Exception]) -> None:
    """Nobody but four people is heard."""
    honest = RequestSteps.forward

    async def forward(self: GatewayStore, *asked: Any) -> Any:
        if chosen:
            return await honest(self, *asked)
        raise error("as if")

    chosen = [True]
    liar.patch.setattr(RequestSteps, "forward", forward)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:4])
    chosen.clear()
    for person in PEOPLE[4:]:
        try:
            await liar.trial.ask("node1 question", (person,))
        except RefusedError:
            continue
    await liar.trial.settle()
    await liar.trial.halt(GATEWAY)  # which counts what is left to be counted
    await liar.trial.serve(GATEWAY)


@lie(7, quick=True)
async def gateway_turns_people_away_for_requests_that_they_did_not_make(liar: Liar) -> None:
    await _turn_away(liar, RateLimitError)


@unseen("turned_away")
async def gateway_turns_everybody_away_but_whom_it_chooses(liar: Liar) -> None:
    await _turn_away(liar, NonceReplayError)


@unseen("texts")
async def service_says_that_it_was_not_certain(liar: Liar) -> None:
    await liar.trial.consent()
    await liar.trial.ask("secret question", PEOPLE[:2])
    await liar.trial.settle()


@lie(4, quick=True)
async def service_says_that_it_was_not_certain_of_what_somebody_opens(liar: Liar) -> None:
    trial, honest = liar.trial, FixedClassifier.classify
    unsure = lambda self, text: honest(self, f"secret {text}")  # noqa: E731
    await trial.consent()
    trial.device.history(PEOPLE[1]).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FixedClassifier, "classify", unsure)
        await trial.ask("node1 question", PEOPLE[:2])
        await trial.settle()
    (asked,) = trial.device.history(PEOPLE[1]).asked()
    liar.options["receipts"] = [Presented("opening", asked.session, asked.opening)]


@lie(4)
async def service_says_that_its_classifier_failed_on_what_somebody_opens(liar: Liar) -> None:
    """It may fail at one time and not at another."""
    liar.hides = True
    trial = liar.trial

    def failing(self: FixedClassifier, texts: Any) -> Any:
        raise ValueError("as if")

    await trial.consent()
    trial.device.history(PEOPLE[1]).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FixedClassifier, "pipe", failing)
        await trial.ask("node1 question", PEOPLE[:2])
        await trial.settle()
    (asked,) = trial.device.history(PEOPLE[1]).asked()
    liar.options["receipts"] = [Presented("opening", asked.session, asked.opening)]


@unseen("answers")
async def service_answers_what_it_likes(liar: Liar) -> None:
    async def answer(self: RequestPath, accepted: Any, utterance: Any, _turn: Any) -> Any:
        now_ms = int(self._service.clock() * 1000)
        prox_id, key = accepted.person.prox_id, self._service.key
        head = await self._promises.head()
        return response.make("buy this", utterance.response_key, accepted.signed, prox_id, key, now_ms, head)

    liar.patch.setattr(RequestPath, "_answer", answer)
    await liar.trial.busy(1)


@lie(5)
async def service_hides_the_owner_in_the_salt_of_a_record(liar: Liar) -> None:
    """Then a party that is told how reads there whose text it is."""
    named = lambda body, prox_id, salted, due: salted((encode(prox_id) * 32)[:32])  # noqa: E731
    liar.patch.setattr(record, "make", filled(named))
    await liar.trial.busy(1)


@lie(5, quick=True)
async def service_picks_the_nonce_of_a_record(liar: Liar) -> None:
    """A label that differs, outside the seal: the gateway delivers nothing of it, and is not accused for that."""
    picked = lambda body, prox_id, salted, due: replace(due, nonce=encode(prox_id)[-16:])  # noqa: E731
    liar.patch.setattr(record, "make", filled(picked))
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
    report = await liar.trial.audit()
    assert {violation.log for violation in report.violations} == {MAIN}


@lie(5)
async def service_encrypts_a_record_otherwise(liar: Liar) -> None:
    """What does not open for its party says something to somebody else."""
    other = lambda body, prox_id, salted, due: replace(due, encrypted=encode(prox_id) + due.encrypted[24:])  # noqa: E731
    liar.patch.setattr(record, "make", filled(other))
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()


async def sealed_each(liar: Liar) -> None:
    """MS opens epochs as it did before there were feed keys."""
    honest = EpochStore.open

    async def opened(self: EpochStore, epoch: int, secrets: Any, opened: EpochOpened) -> Any:
        return await honest(self, epoch, (*secrets[:3], ()), replace(opened, feeds=()))

    liar.patch.setattr(EpochStore, "open", opened)


@lie(3)
async def service_seals_each_record_by_itself(liar: Liar) -> None:
    """As it did before there were feed keys: what it draws then nobody recomputes, record by record."""
    liar.hides = True
    await sealed_each(liar)
    await liar.trial.busy(1)


@lie(7)
async def service_goes_back_to_sealing_each_record_by_itself(liar: Liar) -> None:
    """As one does that goes back to an earlier release: that is unchecked for good, and a few times at most."""
    liar.hides = True
    await liar.trial.busy(1)
    await sealed_each(liar)
    await next_day(liar)


@lie(5)
async def service_seals_two_keys_to_a_party(liar: Liar) -> None:
    """One that is logged, and one that the party gets: the second says what the auditor does not see."""
    key = load_signing_key(liar.trial.folder / "main-service/signing.key")

    def other(event: PlainEvent) -> PlainEvent:
        opened = EpochOpened.decode(event.payload)
        made = [replace(FeedKeyMessage.decode(data), sealed=bytes(1168)).sign(key).encode() for data in opened.feeds]
        return replace(event, payload=replace(opened, feeds=tuple(made)).payload)

    liar.changes(MAIN, E.EPOCH_OPENED, other)
    await liar.trial.busy(1)
