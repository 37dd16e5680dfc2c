"""Lies of the Main Service."""

import dataclasses
import hashlib
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import main_service.integrator
from main_service.intake import Anonymiser, Submission
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import Credential
from proxid.encoding import encode
from proxid.errors import RestrictionError
from proxid.evidence.bodies import mix_body
from proxid.evidence.disclosure import disclosure_info
from proxid.evidence.events import (
    BufferedPayload,
    EpochOpened,
    EventType,
    ReceivedPayload,
    ReleasedPayload,
    encode_header,
)
from proxid.protocol.record import RecordBody
from proxid.runtime.evidence_log.encryptor import Encryptor, PlainEvent
from proxid.runtime.provision.keyfile import load_opening_key
from tests.support.lies import MAIN, Liar, lie, signed_twice
from tests.support.trial import PEOPLE

E = EventType


@lie(5)
async def service_releases_below_k(liar: Liar) -> None:
    from main_service.store.pool import PoolStore

    honest = PoolStore._call

    async def fewer(self: PoolStore, function: str, epoch: int, *rows: Any, **fields: Any) -> Any:
        async def lowered(epoch: int) -> Any:
            settings = await self._settings(epoch)
            read = {name: getattr(settings, name) for name in dir(settings) if not name.startswith("_")}
            return SimpleNamespace(**{**read, "n": settings.n - 1})

        return await honest(PoolStore(self._functions, lowered, self._random), function, epoch, *rows, **fields)

    liar.patch.setattr(PoolStore, "_call", fewer)
    liar.patch.setattr("proxid.anonymise.mix.pairs.check_restrictions", lambda *arguments: None)
    await liar.trial.busy(1)


def released(change: Callable[[ReleasedPayload], ReleasedPayload]) -> Callable[[bytes], bytes]:
    return lambda data: change(ReleasedPayload.decode(data)).encode()


@lie(5)
async def service_gives_somebody_their_own_query(liar: Liar) -> None:
    liar.payloads(MAIN, E.RELEASED, released(lambda p: dataclasses.replace(p, published=p.owners)))
    await liar.trial.busy(1)


@lie(5)
async def service_counts_one_person_twice(liar: Liar) -> None:
    change = lambda p: dataclasses.replace(p, published=(p.published[1], *p.published[1:]))  # noqa: E731
    liar.payloads(MAIN, E.RELEASED, released(change))
    await liar.trial.busy(1)


@lie(7, quick=True)
async def service_logs_other_records_than_it_sends(liar: Liar) -> None:
    integrator = main_service.integrator.Integrator
    liar.patch.setattr(integrator, "release", signed_twice(integrator.release))
    await liar.trial.busy(1)


@lie(5, quick=True)
async def service_publishes_an_altered_text(liar: Liar) -> None:
    honest = mix_body

    def altered(*arguments: Any) -> RecordBody:
        body = honest(*arguments)
        return dataclasses.replace(body, text="something that nobody said")

    liar.patch.setattr("main_service.integrator.mix_body", altered)
    await liar.trial.busy(1)


@lie(5)
async def service_skips_a_level(liar: Liar) -> None:
    honest = mix_body

    def elsewhere(*arguments: Any) -> RecordBody:
        return dataclasses.replace(honest(*arguments), path=("Home",))

    liar.patch.setattr("main_service.integrator.mix_body", elsewhere)
    await liar.trial.busy(1)


@lie(5)
async def service_shows_a_text_that_too_few_issued(liar: Liar) -> None:
    honest = mix_body

    def rung(*arguments: Any) -> RecordBody:
        return dataclasses.replace(honest(*arguments), rung=2, text="")

    liar.patch.setattr("main_service.integrator.mix_body", rung)
    await liar.trial.busy(1)


@lie(5)
async def service_releases_to_a_party_outside_the_audience(liar: Liar) -> None:
    liar.patch.setattr(
        main_service.integrator, "parse_audience", lambda text: (("acme", "user_id"), ("globex", "user_id"))
    )
    await liar.trial.consent("only-acme")
    await liar.trial.ask("node1 question")
    await liar.trial.settle()


@lie(7, quick=True)
async def service_hides_a_release(liar: Liar) -> None:
    liar.drops(MAIN, E.RELEASED, times=1)
    await liar.trial.busy(1)


@lie(7)
async def service_logs_a_release_twice(liar: Liar) -> None:
    liar.records(MAIN, lambda events: [x for e in events for x in ([e, e] if e.type is E.RELEASED else [e])])
    await liar.trial.busy(1)


@lie(5)
async def service_discloses_another_seed(liar: Liar) -> None:
    auditor = load_opening_key(liar.trial.folder / "auditor/opening.key")

    def other(event: PlainEvent) -> PlainEvent:
        epoch = json.loads(event.fields)["epoch"]
        sealed = auditor.public.seal(bytes(32), disclosure_info("main-service", epoch))
        opened = dataclasses.replace(EpochOpened.decode(event.payload), sealed=sealed)
        return dataclasses.replace(event, payload=opened.payload)

    liar.changes(MAIN, E.EPOCH_OPENED, other)
    await liar.trial.busy(1)


@lie(5)
async def service_draws_a_cycle_of_its_own(liar: Liar) -> None:
    def turned(p: ReleasedPayload) -> ReleasedPayload:
        turn = lambda items: (*items[1:], items[0])  # noqa: E731
        return dataclasses.replace(p, records=turn(p.records), owners=turn(p.owners))

    liar.payloads(MAIN, E.RELEASED, released(turned))
    await liar.trial.busy(1)


@lie(4, quick=True)
async def service_buffers_another_utterance(liar: Liar) -> None:
    def other(data: bytes) -> bytes:
        payload = BufferedPayload.decode(data)
        return dataclasses.replace(payload, opening=encode("node9 invented", "en", 1, "", bytes(32))).encode()

    liar.payloads(MAIN, E.BUFFERED, other)
    await liar.trial.busy(1)


@lie(4)
async def service_files_a_text_that_its_pipeline_does_not_give(liar: Liar) -> None:
    honest = Anonymiser._decided

    def decided(self: Anonymiser, *asked: Any) -> Any:
        found = honest(self, *asked)
        if isinstance(found, Submission):
            texts = ("with the name left in", *found.payload.texts[1:])
            return dataclasses.replace(found, payload=dataclasses.replace(found.payload, texts=texts))
        return found

    liar.patch.setattr(Anonymiser, "_decided", decided)
    await liar.trial.busy(1)


@lie(4)
async def service_files_under_another_category(liar: Liar) -> None:
    def other(data: bytes) -> bytes:
        return dataclasses.replace(BufferedPayload.decode(data), path=("Health", "Secrets")).encode()

    liar.payloads(MAIN, E.BUFFERED, other)
    await liar.trial.busy(1)


@lie(6)
async def service_logs_for_parties_nobody_allowed(liar: Liar) -> None:
    def wider(data: bytes) -> bytes:
        return dataclasses.replace(BufferedPayload.decode(data), audience="acme:user_id").encode()

    liar.payloads(MAIN, E.BUFFERED, wider)
    await liar.trial.busy(1)


@lie(5)
async def service_counts_a_fresh_account_as_seasoned(liar: Liar) -> None:
    def other(data: bytes) -> bytes:
        payload = BufferedPayload.decode(data)
        return dataclasses.replace(payload, seasoned=not payload.seasoned).encode()

    liar.payloads(MAIN, E.BUFFERED, other)
    await liar.trial.busy(1)


@lie(5)
async def service_buffers_for_another_person(liar: Liar) -> None:
    await liar.trial.consent()
    other = (await liar.trial.device.session(PEOPLE[0])).prox_id

    def swapped(data: bytes) -> bytes:
        return dataclasses.replace(BufferedPayload.decode(data), prox_id=other).encode()

    liar.payloads(MAIN, E.BUFFERED, swapped, times=8)
    await liar.trial.ask("node1 question")
    await liar.trial.settle()


@lie(7)
async def service_keeps_silent_about_a_request(liar: Liar) -> None:
    liar.drops(MAIN, E.RECEIVED, times=1)
    await liar.trial.busy(1)


@lie(7)
async def service_loses_a_record_without_a_word(liar: Liar) -> None:
    await liar.trial.consent("nothing")
    liar.drops(MAIN, E.SUPPRESSED, times=1)
    await liar.trial.ask("node1 question")
    await liar.trial.settle()


def giving_up(reason: str) -> Callable[[list[PlainEvent]], list[PlainEvent]]:
    """Every buffered record is said to be given up at once, for a reason."""

    def change(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is E.BUFFERED:
                fields = {**json.loads(event.fields), "reason": reason, "time": "1"}
                out.append(dataclasses.replace(event, type=E.SUPPRESSED, fields=encode_header(**fields), payload=b""))
        return out

    return change


@lie(5)
async def service_gives_a_waiting_record_up_for_no_reason(liar: Liar) -> None:
    liar.records(MAIN, giving_up("expired"))
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:2])
    await liar.trial.settle()


@lie(3)
async def service_accepts_a_request_under_a_credential_that_nobody_has_shown(liar: Liar) -> None:
    def forged(data: bytes) -> bytes:
        said = ReceivedPayload.decode(data)
        return ReceivedPayload(said.request, hashlib.sha256(said.request).digest()).encode()

    liar.payloads(MAIN, E.RECEIVED, forged)
    await liar.trial.busy(1)


@lie(3)
async def service_accepts_a_request_without_a_credential(liar: Liar) -> None:
    def forged(data: bytes) -> bytes:
        said = ReceivedPayload.decode(data)
        credential = Credential.decode(said.credential)
        return ReceivedPayload(said.request, dataclasses.replace(credential, signature=bytes(64)).encode()).encode()

    liar.payloads(MAIN, E.RECEIVED, forged)
    await liar.trial.busy(1)


@lie(2)
async def service_encrypts_so_that_the_auditor_cannot_read(liar: Liar) -> None:
    honest = Encryptor._chain

    def elsewhere(self: Encryptor, person: str, keys: Any) -> Any:
        if self._log == "main-service":
            self._auditor = OpeningKey(bytes(range(96))).public
        return honest(self, person, keys)

    liar.patch.setattr(Encryptor, "_chain", elsewhere)
    await liar.trial.busy(1)


@lie(2)
async def service_files_payloads_under_nobody(liar: Liar) -> None:
    liar.patch.setattr(Encryptor, "_chain", lambda self, person, keys: None)
    await liar.trial.busy(1)


@lie(5)
async def service_withholds_one_record_of_a_group(liar: Liar) -> None:
    """A group that breaks a restriction is given up whole; here one of its records is hidden."""

    def broken(*arguments: Any) -> None:
        raise RestrictionError("as if")

    liar.patch.setattr("proxid.anonymise.mix.pairs.check_restrictions", broken)
    liar.drops(MAIN, E.SUPPRESSED, times=1)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:4])
    await liar.trial.settle()


@lie(5)
async def service_withholds_a_record_that_is_in_no_group(liar: Liar) -> None:
    liar.records(MAIN, giving_up("restriction"))
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:2])
    await liar.trial.settle()


@lie(5)
async def service_passes_a_waiting_person_over(liar: Liar) -> None:
    """It says that somebody waits at a node, and lets the record wait elsewhere: groups form without it."""
    from main_service.store.pool import PoolStore

    await liar.trial.consent()
    left_out = (await liar.trial.device.session(PEOPLE[1])).prox_id
    honest = PoolStore.log

    async def log(self: PoolStore, epoch: int, version: int, record: Any, payload: Any) -> Any:
        if record.person == left_out:
            record = record._replace(path=("Home", "elsewhere"))
        return await honest(self, epoch, version, record, payload)

    liar.patch.setattr(PoolStore, "log", log)
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
