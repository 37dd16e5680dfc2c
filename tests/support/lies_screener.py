"""Lies of the Identity Screener, and of third parties."""

import dataclasses
import json
import os
from typing import Any

from auditor.checks.c9_receipts import Presented, read_receipts
from gateway.aliases import Namer
from gateway.store.consents import Chosen
from gateway.store.library import GatewayStore
from gateway.store.rights import RightsStore
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Credential, Enrolment, Link
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import encode_text
from proxid.evidence.events import (
    AliasedPayload,
    DeliveredPayload,
    EnrolledPayload,
    EventType,
    LinkedPayload,
    SanitizedPair,
    encode_header,
)
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.store.functions import named
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, MAIN, Liar, flip, lie, store_of
from tests.support.trial import PEOPLE

E = EventType


@lie(3, quick=True)
async def screener_puts_in_another_users_pseudonym(liar: Liar) -> None:
    await liar.trial.consent()
    other = (await liar.trial.device.session(PEOPLE[0])).prox_id
    pair = lambda p: _resanitized(liar, p, other)  # noqa: E731
    liar.payloads(GATEWAY, E.FORWARDED, pair, times=3)
    await liar.trial.ask("node1 question")


def _resanitized(liar: Liar, payload: bytes, block: str) -> bytes:
    pair = SanitizedPair.decode(payload)
    key = load_signing_key(liar.trial.folder / "gateway/signing.key")
    changed = pair.original.message.with_user_block(encode_text(block))
    from proxid.crypto.sansig import Role

    full = key.sign(changed.full_input(Role.SANITIZER, pair.original.fixed))
    return SanitizedPair(pair.original, SignedMessage(changed, pair.original.fixed + full)).encode()


@lie(3)
async def screener_forwards_a_request_never_sent(liar: Liar) -> None:
    def forged(payload: bytes) -> bytes:
        pair = SanitizedPair.decode(payload)
        return SanitizedPair(
            SignedMessage(pair.original.message, flip(pair.original.signature)), pair.sanitized
        ).encode()

    liar.payloads(GATEWAY, E.FORWARDED, forged)
    await liar.trial.busy(1)


@lie(3)
async def screener_invents_a_user(liar: Liar) -> None:
    def invented(payload: bytes) -> bytes:
        said = EnrolledPayload.decode(payload)
        enrolment = Enrolment.decode(said.enrolment)
        made_up = Enrolment.issue("nobody", enrolment.user_key, 0, SigningKey(bytes(32)))
        return EnrolledPayload(made_up.encode(), said.prox_id).encode()

    liar.payloads(GATEWAY, E.ENROLLED, invented)
    await liar.trial.busy(1)


@lie(3)
async def screener_calls_a_fresh_account_seasoned(liar: Liar) -> None:
    def unseasoned(payload: bytes) -> bytes:
        said = LinkedPayload.decode(payload)
        key = load_signing_key(liar.trial.folder / "gateway/signing.key")
        changed = dataclasses.replace(Credential.decode(said.credential), seasoned=False).issue(key)
        return dataclasses.replace(said, credential=changed.encode()).encode()

    liar.payloads(GATEWAY, E.LINKED, unseasoned)
    await liar.trial.busy(1)


@lie(3)
async def screener_links_a_key_without_proof_of_possession(liar: Liar) -> None:
    def unproven(payload: bytes) -> bytes:
        said = LinkedPayload.decode(payload)
        link = Link.decode(said.link)
        changed = dataclasses.replace(link, signature=flip(link.signature)).encode()
        return dataclasses.replace(said, link=changed).encode()

    liar.payloads(GATEWAY, E.LINKED, unproven)
    await liar.trial.busy(1)


@lie(7)
async def screener_hides_what_it_forwarded(liar: Liar) -> None:
    liar.drops(GATEWAY, E.FORWARDED, times=2)
    await liar.trial.busy(1)


@lie(9)
async def screener_hides_a_delivery(liar: Liar) -> None:
    liar.drops(GATEWAY, E.DELIVERED, times=1)
    acks: list[Presented] = []
    honest = GatewayStore.delivered

    async def delivered(self: GatewayStore, party: str, entry: Any, payload: bytes, *rest: Any, **more: Any) -> Any:
        acks.append(Presented("acknowledgement", b"", DeliveredPayload.decode(payload).acknowledgement))
        return await honest(self, party, entry, payload, *rest, **more)

    liar.patch.setattr(GatewayStore, "delivered", delivered)
    await liar.trial.busy(1)
    liar.options = {"receipts": acks}


@lie(3)
async def screener_makes_up_an_acknowledgement(liar: Liar) -> None:
    def made_up(payload: bytes) -> bytes:
        said = DeliveredPayload.decode(payload)
        ack = dataclasses.replace(DeliveryAck.decode(said.acknowledgement), signature=b"").sign(SigningKey(bytes(32)))
        return DeliveredPayload(ack.encode(), said.pairs).encode()

    liar.payloads(GATEWAY, E.DELIVERED, made_up)
    await liar.trial.busy(1)


@lie(3)
async def screener_restores_the_wrong_user(liar: Liar) -> None:
    honest = Namer.name
    liar.patch.setattr(
        Namer, "name", lambda self, person: "stranger" if person.user_id == PEOPLE[1] else honest(self, person)
    )
    await liar.trial.busy(1)


@lie(3)
async def screener_gives_two_people_one_alias(liar: Liar) -> None:
    first: list[str] = []

    def shared(payload: bytes) -> bytes:
        said = AliasedPayload.decode(payload)
        first.append(said.name)
        return dataclasses.replace(said, name=first[0]).encode()

    liar.payloads(GATEWAY, E.ALIASED, shared, times=2)
    await liar.trial.consent("aliased")
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
    await liar.trial.receive()


@lie(6, quick=True)
async def screener_delivers_after_a_withdrawal(liar: Liar) -> None:
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
    liar.patch.setattr(GatewayStore, "consent", _kept)
    await liar.trial.device.consent(PEOPLE[2], "nothing")
    await liar.trial.receive()


async def _kept(self: GatewayStore, user_tag: str, epoch: int, version: int, payload: bytes, *rest: Any) -> Chosen:
    """A change that is recorded, and promised, and not carried out: grants stay as they were."""
    *_, session_id, _key = rest
    header = encode_header(epoch=epoch, version=version, phase="received", message=session_id.hex())
    said = named(user_tag="-", epoch=epoch, version=version, salt=os.urandom(16), header=header, payload=payload)
    return Chosen(f" {await self.call('gw_consent_acknowledged', *said)}", [])


@lie(6, quick=True)
async def screener_sends_what_was_taken_back_to_a_party_that_keeps_silent(liar: Liar) -> None:
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
    liar.patch.setattr(GatewayStore, "consent", _kept)
    await liar.trial.device.consent(PEOPLE[2], "nothing")
    client = await store_of(liar, GATEWAY)
    assert await GatewayStore(client).take("acme", 0, 8)
    await client.aclose()


@lie(9)
async def screener_swallows_a_withdrawal(liar: Liar) -> None:
    """Both services acknowledge and neither logs it: the device's receipt is all that shows it."""
    await liar.trial.busy(1)
    hidden = lambda events: [e for e in events if e.type is not E.CONSENT]  # noqa: E731
    liar.records(GATEWAY, hidden)
    await liar.trial.device.consent(PEOPLE[2], "nothing")
    liar.options = {"receipts": list(read_receipts(liar.trial.folder / "devices/household-1/data"))}


@lie(9)
async def both_services_answer_without_logging(liar: Liar) -> None:
    await liar.trial.busy(1)
    from proxid.runtime.evidence_log.writer import EvidenceWriter

    silent = {E.FORWARDED, E.ANSWERED, E.RECEIVED, E.SUPPRESSED, E.BUFFERED}
    liar.records(GATEWAY, lambda events: [e for e in events if e.type not in silent])
    gateway_batch = EvidenceWriter.write_batch
    liar.records(MAIN, lambda events: [e for e in events if e.type not in silent])
    main_batch = EvidenceWriter.write_batch

    async def both(self: EvidenceWriter) -> int:
        return await (gateway_batch if self._prefix == "{gw}" else main_batch)(self)

    liar.patch.setattr(EvidenceWriter, "write_batch", both)
    await liar.trial.device.ask(PEOPLE[0], "node1 between us")
    await liar.trial.settle()
    liar.options = {"receipts": list(read_receipts(liar.trial.folder / "devices/household-1/data"))}


@lie(8, quick=True)
async def screener_keeps_an_evidence_key_after_erasure(liar: Liar) -> None:
    await liar.trial.busy(1)
    store = await store_of(liar, GATEWAY)
    kept = {key: await store.get(key) async for key in store.scan_iter(match="{gw}:ek:*")}
    client = rights(liar.trial)
    await client.exercise(Right.ERASE, PEOPLE[1])
    await client.close()
    for key, seed in kept.items():
        await store.set(key, seed)
    await store.aclose()


@lie(2)
async def screener_deletes_an_evidence_key_nobody_asked_it_to(liar: Liar) -> None:
    await liar.trial.busy(1)
    store = await store_of(liar, GATEWAY)
    async for key in store.scan_iter(match="{gw}:ek:*"):
        await store.delete(key)
        break
    await store.aclose()


@lie(8)
async def screener_erases_more_people_than_asked(liar: Liar) -> None:
    await liar.trial.busy(1)
    honest = RightsStore.finish_erasure
    store = await store_of(liar, GATEWAY)
    others = [key.decode().rsplit(":", 1)[1] async for key in store.scan_iter(match="{gw}:ek:*")]
    await store.aclose()

    async def greedy(self: RightsStore, tag: str, mark: bytes, event: tuple[bytes, bytes], *rest: Any) -> bool:
        header = encode_header(**{**json.loads(event[0]), "tags": others})
        return await honest(self, tag, mark, (header, event[1]), *rest)

    liar.patch.setattr(RightsStore, "finish_erasure", greedy)
    client = rights(liar.trial)
    await client.exercise(Right.ERASE, PEOPLE[1])
    await client.close()


@lie(9)
async def screener_hides_an_erasure_it_confirmed(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.drops(GATEWAY, E.ERASED)
    client = rights(liar.trial)
    await client.exercise(Right.ERASE, PEOPLE[1])
    await client.close()
    liar.options = {"receipts": list(read_receipts(liar.trial.folder / "devices/household-1/data"))}


@lie(7)
async def screener_delivers_what_it_says_it_dropped(liar: Liar) -> None:
    def dropped(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is E.DELIVERED:
                fields = {**json.loads(event.fields), "reason": "withdrawn"}
                out.append(dataclasses.replace(event, type=E.DROPPED, fields=encode_header(**fields), payload=b""))
        return out

    liar.records(GATEWAY, dropped)
    await liar.trial.busy(1)


@lie(2)
async def screener_answers_with_another_requests_answer(liar: Liar) -> None:
    seen: list[bytes] = []

    def swapped(payload: bytes) -> bytes:
        seen.append(payload)
        return seen[0]

    liar.payloads(GATEWAY, E.ANSWERED, swapped, times=3)
    await liar.trial.busy(1)


@lie(7)
async def screener_logs_a_delivery_twice(liar: Liar) -> None:
    liar.records(GATEWAY, lambda events: [x for e in events for x in ([e, e] if e.type is E.DELIVERED else [e])])
    await liar.trial.busy(1)


@lie(9, quick=True)
async def party_claims_a_record_it_never_received(liar: Liar) -> None:
    await liar.trial.busy(1)
    key = load_signing_key(liar.trial.folder / "parties/acme/signing.key")
    claimed = DeliveryAck("acme", "main-service", 1, 99, bytes(32)).sign(key)
    liar.options = {"receipts": [Presented("acknowledgement", b"", claimed.encode())]}
