"""Tampering (DESIGN 10.4): every lie is told by a real, running service or lies in its files, and is caught by name.

A few lies run with every test; the rest is slow.
"""

import dataclasses
import json
import os
import struct
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import gateway.releases
import gateway.requests
import main_service.integrator
from auditor.receipts import Presented, read_receipts
from gateway.rights_store import RightsStore
from gateway.store import GatewayStore
from main_service.anonymiser import Anonymiser, Submission
from main_service.integrator import Integrator
from proxid.anonymise.stream.settings import Settings
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import Credential, Enrolment, Link
from proxid.crypto.sansig import SignedMessage
from proxid.crypto.sansig.scheme import resign
from proxid.encoding import encode, encode_text
from proxid.evidence import parts as parting
from proxid.evidence.checkpoint import Checkpoint
from proxid.evidence.disclosure import disclosure_info
from proxid.evidence.events import (
    AliasedPayload,
    BufferedPayload,
    DeliveredPayload,
    EnrolledPayload,
    EventType,
    LinkedPayload,
    ReceivedPayload,
    ReleasedPayload,
    SanitizedPair,
    encode_header,
)
from proxid.evidence.leaf import Leaf
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.record import RecordBody
from proxid.protocol.rights import Right
from proxid.provision.keyfile import load_opening_key, load_signing_key
from proxid.store.evidence.encryptor import Encryptor, PlainEvent
from proxid.store.evidence.reading import LogReader
from tests.integration.test_evidence_rights import rights
from tests.support.house import PEOPLE, running
from tests.support.lies import GATEWAY, MAIN, Liar, flip, store_of

E = EventType
LIES: list[Any] = []


def lie(check: int, quick: bool = False) -> Callable[..., Any]:
    """Register a lie, the check that must catch it, and whether it runs with every test."""

    def register(tell: Callable[[Liar], Awaitable[None]]) -> Callable[[Liar], Awaitable[None]]:
        marks = () if quick else (pytest.mark.slow,)
        LIES.append(pytest.param(check, tell, marks=marks, id=tell.__name__))
        return tell

    return register


def segment(liar: Liar, role: str, name: str) -> Path:
    return liar.house.folder / role / "data/evidence/segments/000000000001" / name


def rewrite_record(path: Path, number: int, change: Callable[[bytes], bytes]) -> None:
    """Change one record of a segment file, its check sum included."""
    data, at = bytearray(path.read_bytes()), 0
    for _ in range(number - 1):
        at += 8 + struct.unpack_from(">I", data, at)[0]
    (length,) = struct.unpack_from(">I", data, at)
    body = change(bytes(data[at + 8 : at + 8 + length]))
    assert len(body) == length
    data[at : at + 8 + length] = struct.pack(">II", length, zlib.crc32(body)) + body
    path.write_bytes(bytes(data))


# --- leaves, payloads, heads, indexes: at rest and in flight -------------------------------------------------------


@lie(1)
async def bit_of_a_header_flipped_in_flight(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.shows(GATEWAY, lambda ls: [*ls[:5], dataclasses.replace(ls[5], salt=flip(ls[5].salt)), *ls[6:]])


@lie(1)
async def bit_of_a_header_flipped_at_rest(liar: Liar) -> None:
    await liar.house.busy(1)
    rewrite_record(segment(liar, MAIN, "leaves"), 4, lambda d: flip(d, 12))


@lie(2, quick=True)
async def bit_of_a_payload_flipped_at_rest(liar: Liar) -> None:
    await liar.house.busy(1)
    rewrite_record(segment(liar, MAIN, "parts"), 4, flip)


@lie(2)
async def bit_of_a_payload_flipped_in_flight(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.shows(MAIN, lambda ls: [*ls[:7], Leaf(ls[7].salt, ls[7].header, (flip(ls[7].parts[0]),)), *ls[8:]])


@lie(2)
async def payload_of_another_event(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.shows(GATEWAY, lambda ls: [ls[0], dataclasses.replace(ls[1], parts=ls[3].parts), *ls[2:]])


@lie(2)
async def payloads_not_given_out(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.shows(MAIN, lambda ls: [dataclasses.replace(leaf, parts=()) for leaf in ls])


@lie(1)
async def index_points_to_other_leaves(liar: Liar) -> None:
    await liar.house.busy(1)
    path = segment(liar, GATEWAY, "index")
    data = path.read_bytes()
    path.write_bytes(data[:32] + data[48:64] + data[32:48] + data[64:])


@lie(1)
async def signature_of_the_head_flipped(liar: Liar) -> None:
    await liar.house.busy(1)
    honest = LogReader.checkpoint
    liar.patch.setattr(LogReader, "checkpoint", lambda self: honest(self)[:-9] + b"AAAAAAA=\n")
    liar.patch.setattr("proxid.rpc.evidence.EvidenceService._wait", _no_wait)


async def _no_wait(self: Any) -> None:
    return None


@lie(1)
async def head_with_another_root_signed(liar: Liar) -> None:
    await liar.house.busy(1)
    key = load_signing_key(liar.house.folder / "main-service/signing.key")
    liar.heads(MAIN, lambda head: dataclasses.replace(head, root=flip(head.root)), key)


@lie(1)
async def head_signed_by_another_key(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.heads(GATEWAY, lambda head: head, SigningKey(bytes(32)))
    liar.patch.setattr("proxid.rpc.evidence.EvidenceService._wait", _no_wait)


@lie(1)
async def leaf_left_out(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.shows(GATEWAY, lambda ls: [*ls[:9], *ls[10:]])


@lie(1)
async def leaf_shown_twice(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.shows(MAIN, lambda ls: [*ls[:9], ls[8], *ls[9:-1]])


@lie(1)
async def leaves_swapped(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.shows(MAIN, lambda ls: [*ls[:3], ls[4], ls[3], *ls[5:]])


@lie(1)
async def leaf_inserted(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.shows(GATEWAY, lambda ls: [*ls[:6], dataclasses.replace(ls[6], salt=bytes(16)), *ls[6:-1]])


# --- two histories ---------------------------------------------------------------------------------------------------


def fork(liar: Liar, role: str) -> None:
    """From now on another history, signed by the service itself: its third leaf is different."""
    key = load_signing_key(liar.house.folder / role / "signing.key")

    def forked(leaves: list[Leaf]) -> list[Leaf]:
        return [*leaves[:2], dataclasses.replace(leaves[2], salt=bytes(16)), *leaves[3:]]

    liar.shows(role, forked)

    def head(honest: Checkpoint) -> Checkpoint:
        from proxid.evidence.merkle import Frontier
        from proxid.store.evidence.segments import read_leaves

        frontier = Frontier()
        folder = liar.house.folder / role / "data/evidence/segments"
        for leaf in forked(list(read_leaves(folder, 1, honest.size + 1))):
            frontier.append(leaf.hash)
        return dataclasses.replace(honest, root=frontier.root)

    liar.heads(role, head, key)


@lie(1, quick=True)
async def history_rewritten_between_two_audits(liar: Liar) -> None:
    await liar.house.busy(1)
    assert (await liar.house.audit(state=True)).violations == []
    fork(liar, GATEWAY)
    liar.options = {"state": True}
    await liar.house.ask("node4 question")


@lie(1)
async def another_history_than_another_auditor_was_shown(liar: Liar) -> None:
    await liar.house.busy(1)
    shown = (liar.house.folder / "main-service/data/evidence/checkpoint").read_bytes()
    liar.options = {"known": [shown]}
    fork(liar, MAIN)


@lie(1)
async def another_history_than_the_witness_was_shown(liar: Liar) -> None:
    from tests.support.house import run_command

    await liar.house.busy(1)
    import asyncio
    import sys

    config = str(liar.house.folder / "witness/witness.toml")
    arguments = [sys.executable, "-m", "cli.main", "witness", "--config", config, "--once"]
    assert await (await asyncio.create_subprocess_exec(*arguments)).wait() == 0
    fork(liar, GATEWAY)
    await liar.house.ask("node4 question")
    # The witness does not sign the other history, and the audit finds that it has signed this one.
    assert await (await asyncio.create_subprocess_exec(*arguments)).wait() == 1
    liar.options = {"witness": True}
    assert run_command


@lie(1)
async def log_put_back_to_an_earlier_time(liar: Liar) -> None:
    await liar.house.busy(1)
    early = (liar.house.folder / "gateway/data/evidence/checkpoint").read_bytes()
    await liar.house.ask("node4 question")
    await liar.house.settle()
    assert (await liar.house.audit(state=True)).violations == []
    liar.options = {"state": True}
    liar.patch.setattr(LogReader, "checkpoint", _first_of(early, LogReader.checkpoint, "gateway"))
    liar.patch.setattr("proxid.rpc.evidence.EvidenceService._wait", _no_wait)


def _first_of(early: bytes, honest: Any, log: str) -> Any:
    return lambda self: early if self._log.name.endswith(f"/{log}") else honest(self)


@lie(1)
async def first_root_presented_as_any_root(liar: Liar) -> None:
    """A head that somebody else was shown before the last audit is to be proven: the proof is another one's."""
    await liar.house.consent()
    await liar.house.audit()  # waits until all of that is signed for
    other = (liar.house.folder / "gateway/data/evidence/checkpoint").read_bytes()
    await liar.house.busy(1)
    assert (await liar.house.audit(state=True)).violations == []
    honest = LogReader.consistency
    liar.patch.setattr(LogReader, "consistency", lambda self, old, size: honest(self, 1, size))
    liar.options = {"state": True, "known": [other]}


# --- the Identity Screener -------------------------------------------------------------------------------------------


@lie(3, quick=True)
async def screener_puts_in_another_users_pseudonym(liar: Liar) -> None:
    await liar.house.consent()
    other = (await liar.house.device.session(PEOPLE[0])).prox_id
    pair = lambda p: _resanitized(liar, p, other)  # noqa: E731
    liar.payloads(GATEWAY, E.FORWARDED, pair, times=3)
    await liar.house.ask("node1 question")


def _resanitized(liar: Liar, payload: bytes, block: str) -> bytes:
    pair = SanitizedPair.decode(payload)
    key = load_signing_key(liar.house.folder / "gateway/signing.key")
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
    await liar.house.busy(1)


@lie(3)
async def screener_invents_a_user(liar: Liar) -> None:
    def invented(payload: bytes) -> bytes:
        said = EnrolledPayload.decode(payload)
        enrolment = Enrolment.decode(said.enrolment)
        made_up = Enrolment.issue("nobody", enrolment.user_key, 0, SigningKey(bytes(32)))
        return EnrolledPayload(made_up.encode(), said.prox_id).encode()

    liar.payloads(GATEWAY, E.ENROLLED, invented)
    await liar.house.busy(1)


@lie(3)
async def screener_calls_a_fresh_account_seasoned(liar: Liar) -> None:
    def unseasoned(payload: bytes) -> bytes:
        said = LinkedPayload.decode(payload)
        key = load_signing_key(liar.house.folder / "gateway/signing.key")
        changed = dataclasses.replace(Credential.decode(said.credential), seasoned=False).issue(key)
        return LinkedPayload(said.enrolment, said.link, changed.encode()).encode()

    liar.payloads(GATEWAY, E.LINKED, unseasoned)
    await liar.house.busy(1)


@lie(3)
async def screener_links_a_key_without_proof_of_possession(liar: Liar) -> None:
    def unproven(payload: bytes) -> bytes:
        said = LinkedPayload.decode(payload)
        link = Link.decode(said.link)
        return LinkedPayload(
            said.enrolment, dataclasses.replace(link, signature=flip(link.signature)).encode(), said.credential
        ).encode()

    liar.payloads(GATEWAY, E.LINKED, unproven)
    await liar.house.busy(1)


@lie(7)
async def screener_hides_what_it_forwarded(liar: Liar) -> None:
    liar.drops(GATEWAY, E.FORWARDED, times=2)
    await liar.house.busy(1)


@lie(9)
async def screener_hides_a_delivery(liar: Liar) -> None:
    liar.drops(GATEWAY, E.DELIVERED, times=1)
    acks: list[Presented] = []
    honest = GatewayStore.delivered

    async def delivered(self: GatewayStore, party: str, entry: Any, payload: bytes, retention: int) -> str:
        acks.append(Presented("acknowledgement", b"", DeliveredPayload.decode(payload).acknowledgement))
        return await honest(self, party, entry, payload, retention)

    liar.patch.setattr(GatewayStore, "delivered", delivered)
    await liar.house.busy(1)
    liar.options = {"receipts": acks}


@lie(3)
async def screener_makes_up_an_acknowledgement(liar: Liar) -> None:
    def made_up(payload: bytes) -> bytes:
        said = DeliveredPayload.decode(payload)
        ack = dataclasses.replace(DeliveryAck.decode(said.acknowledgement), signature=b"").sign(SigningKey(bytes(32)))
        return DeliveredPayload(ack.encode(), said.pairs).encode()

    liar.payloads(GATEWAY, E.DELIVERED, made_up)
    await liar.house.busy(1)


@lie(3)
async def screener_restores_the_wrong_user(liar: Liar) -> None:
    honest = gateway.releases.Releases._name
    liar.patch.setattr(
        gateway.releases.Releases, "_name",
        lambda self, person, *rest: "stranger" if person.user_id == PEOPLE[1] else honest(self, person, *rest),
    )  # fmt: skip
    await liar.house.busy(1)


@lie(3)
async def screener_gives_two_people_one_alias(liar: Liar) -> None:
    first: list[str] = []

    def shared(payload: bytes) -> bytes:
        said = AliasedPayload.decode(payload)
        first.append(said.name)
        return dataclasses.replace(said, name=first[0]).encode()

    liar.payloads(GATEWAY, E.ALIASED, shared, times=2)
    await liar.house.consent("aliased")
    await liar.house.ask("node1 question")
    await liar.house.settle()
    await liar.house.receive()


@lie(6, quick=True)
async def screener_delivers_after_a_withdrawal(liar: Liar) -> None:
    await liar.house.consent()
    await liar.house.ask("node1 question")
    await liar.house.settle()
    # The change is acknowledged, and not carried out: grants stay as they were.
    store = await store_of(liar, GATEWAY)

    async def kept(
        self: GatewayStore, user_tag: str, epoch: int, version: int, payload: bytes, grants: Any, ttl: int
    ) -> None:
        salt = os.urandom(16)
        header = encode_header(epoch=epoch, version=version, phase="received")
        await self.call("gw_consent_acknowledged", salt, header, payload)

    liar.patch.setattr(GatewayStore, "consent", kept)
    await liar.house.device.consent(PEOPLE[2], "nothing")
    await liar.house.receive()
    await store.aclose()


@lie(9)
async def screener_swallows_a_withdrawal(liar: Liar) -> None:
    """Both services acknowledge and neither logs it: the device's receipt is all that shows it."""
    await liar.house.busy(1)
    hidden = lambda events: [e for e in events if e.type is not E.CONSENT]  # noqa: E731
    liar.records(GATEWAY, hidden)
    await liar.house.device.consent(PEOPLE[2], "nothing")
    liar.options = {"receipts": list(read_receipts(liar.house.folder / "devices/household-1/data"))}


@lie(9)
async def both_services_answer_without_logging(liar: Liar) -> None:
    await liar.house.busy(1)
    from proxid.store.evidence.writer import EvidenceWriter

    honest = EvidenceWriter._log_events
    silent = {E.FORWARDED, E.ANSWERED, E.RECEIVED, E.SUPPRESSED, E.BUFFERED}
    liar.records(GATEWAY, lambda events: [e for e in events if e.type not in silent])
    assert honest
    gateway_batch = EvidenceWriter.write_batch
    liar.records(MAIN, lambda events: [e for e in events if e.type not in silent])
    main_batch = EvidenceWriter.write_batch

    async def both(self: EvidenceWriter) -> int:
        return await (gateway_batch if self._prefix == "{gw}" else main_batch)(self)

    liar.patch.setattr(EvidenceWriter, "write_batch", both)
    await liar.house.device.ask(PEOPLE[0], "node1 between us")
    await liar.house.settle()
    liar.options = {"receipts": list(read_receipts(liar.house.folder / "devices/household-1/data"))}


@lie(8, quick=True)
async def screener_keeps_an_evidence_key_after_erasure(liar: Liar) -> None:
    await liar.house.busy(1)
    store = await store_of(liar, GATEWAY)
    kept = {key: await store.get(key) async for key in store.scan_iter(match="{gw}:ek:*")}
    client = rights(liar.house)
    await client.exercise(Right.ERASE, PEOPLE[1])
    await client.close()
    for key, seed in kept.items():
        await store.set(key, seed)
    await store.aclose()


@lie(2)
async def screener_deletes_an_evidence_key_nobody_asked_it_to(liar: Liar) -> None:
    await liar.house.busy(1)
    store = await store_of(liar, GATEWAY)
    async for key in store.scan_iter(match="{gw}:ek:*"):
        await store.delete(key)
        break
    await store.aclose()


@lie(8)
async def screener_erases_more_people_than_asked(liar: Liar) -> None:
    await liar.house.busy(1)
    honest = RightsStore.finish_erasure
    store = await store_of(liar, GATEWAY)
    others = [key.decode().rsplit(":", 1)[1] async for key in store.scan_iter(match="{gw}:ek:*")]
    await store.aclose()

    async def greedy(self: RightsStore, tag: str, mark: bytes, header: bytes, payload: bytes, subjects: Any) -> bool:
        fields = json.loads(header)
        return await honest(self, tag, mark, encode_header(**{**fields, "tags": others}), payload, subjects)

    liar.patch.setattr(RightsStore, "finish_erasure", greedy)
    client = rights(liar.house)
    await client.exercise(Right.ERASE, PEOPLE[1])
    await client.close()


@lie(9)
async def screener_hides_an_erasure_it_confirmed(liar: Liar) -> None:
    await liar.house.busy(1)
    liar.drops(GATEWAY, E.ERASED)
    client = rights(liar.house)
    await client.exercise(Right.ERASE, PEOPLE[1])
    await client.close()
    liar.options = {"receipts": list(read_receipts(liar.house.folder / "devices/household-1/data"))}


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
    await liar.house.busy(1)


@lie(3)
async def screener_answers_with_another_requests_answer(liar: Liar) -> None:
    seen: list[bytes] = []

    def swapped(payload: bytes) -> bytes:
        seen.append(payload)
        return seen[0]

    liar.payloads(GATEWAY, E.ANSWERED, swapped, times=3)
    await liar.house.busy(1)


@lie(7)
async def screener_logs_a_delivery_twice(liar: Liar) -> None:
    liar.records(GATEWAY, lambda events: [x for e in events for x in ([e, e] if e.type is E.DELIVERED else [e])])
    await liar.house.busy(1)


# --- the Main Service ------------------------------------------------------------------------------------------------


@lie(5)
async def service_releases_below_k(liar: Liar) -> None:
    from main_service.store.pool import PoolStore

    honest = PoolStore._arguments

    def fewer(self: PoolStore, epoch: int) -> list[Any]:
        arguments = honest(self, epoch)
        arguments[1] -= 1
        return arguments

    liar.patch.setattr(PoolStore, "_arguments", fewer)
    liar.patch.setattr("proxid.anonymise.stream.pairs.check_restrictions", lambda *arguments: None)
    await liar.house.busy(1)


def released(change: Callable[[ReleasedPayload], ReleasedPayload]) -> Callable[[bytes], bytes]:
    return lambda data: change(ReleasedPayload.decode(data)).encode()


@lie(5)
async def service_gives_somebody_their_own_query(liar: Liar) -> None:
    liar.payloads(MAIN, E.RELEASED, released(lambda p: dataclasses.replace(p, people=p.askers)))
    await liar.house.busy(1)


@lie(5)
async def service_counts_one_person_twice(liar: Liar) -> None:
    change = lambda p: dataclasses.replace(p, people=(p.people[1], *p.people[1:]))  # noqa: E731
    liar.payloads(MAIN, E.RELEASED, released(change))
    await liar.house.busy(1)


@lie(5, quick=True)
async def service_publishes_an_altered_text(liar: Liar) -> None:
    honest = Integrator._body

    def altered(self: Integrator, *arguments: Any) -> RecordBody:
        body = honest(self, *arguments)
        return dataclasses.replace(body, text="something that nobody said")

    liar.patch.setattr(Integrator, "_body", altered)
    await liar.house.busy(1)


@lie(5)
async def service_skips_a_level(liar: Liar) -> None:
    honest = Integrator._body

    def elsewhere(self: Integrator, *arguments: Any) -> RecordBody:
        return dataclasses.replace(honest(self, *arguments), path=("Home",))

    liar.patch.setattr(Integrator, "_body", elsewhere)
    await liar.house.busy(1)


@lie(5)
async def service_shows_a_text_that_too_few_issued(liar: Liar) -> None:
    honest = Integrator._body

    def rung(self: Integrator, *arguments: Any) -> RecordBody:
        return dataclasses.replace(honest(self, *arguments), rung=2, text="")

    liar.patch.setattr(Integrator, "_body", rung)
    await liar.house.busy(1)


@lie(5)
async def service_releases_to_a_party_outside_the_audience(liar: Liar) -> None:
    liar.patch.setattr(
        main_service.integrator, "parse_audience", lambda text: (("acme", "user_id"), ("globex", "user_id"))
    )
    await liar.house.consent("only-acme")
    await liar.house.ask("node1 question")
    await liar.house.settle()


@lie(7, quick=True)
async def service_hides_a_release(liar: Liar) -> None:
    liar.drops(MAIN, E.RELEASED, times=1)
    await liar.house.busy(1)


@lie(7)
async def service_logs_a_release_twice(liar: Liar) -> None:
    liar.records(MAIN, lambda events: [x for e in events for x in ([e, e] if e.type is E.RELEASED else [e])])
    await liar.house.busy(1)


@lie(5)
async def service_discloses_another_seed(liar: Liar) -> None:
    auditor = load_opening_key(liar.house.folder / "auditor/opening.key")

    def other(event: PlainEvent) -> PlainEvent:
        epoch = json.loads(event.fields)["epoch"]
        sealed = auditor.public.seal(bytes(32), disclosure_info("main-service", epoch))
        return dataclasses.replace(event, payload=sealed)

    liar.changes(MAIN, E.EPOCH_OPENED, other)
    await liar.house.busy(1)


@lie(5)
async def service_draws_a_cycle_of_its_own(liar: Liar) -> None:
    def turned(p: ReleasedPayload) -> ReleasedPayload:
        turn = lambda items: (*items[1:], items[0])  # noqa: E731
        return dataclasses.replace(p, owners=turn(p.owners), askers=turn(p.askers))

    liar.payloads(MAIN, E.RELEASED, released(turned))
    await liar.house.busy(1)


@lie(4, quick=True)
async def service_buffers_another_utterance(liar: Liar) -> None:
    def other(data: bytes) -> bytes:
        payload = BufferedPayload.decode(data)
        return dataclasses.replace(payload, opening=encode("node9 invented", "en", 1, "", bytes(32))).encode()

    liar.payloads(MAIN, E.BUFFERED, other)
    await liar.house.busy(1)


@lie(4)
async def service_files_a_text_that_its_pipeline_does_not_give(liar: Liar) -> None:
    honest = Anonymiser.decide

    def decide(self: Anonymiser, pending: Any) -> Any:
        found = honest(self, pending)
        if isinstance(found, Submission):
            texts = ("with the name left in", *found.payload.texts[1:])
            return dataclasses.replace(found, payload=dataclasses.replace(found.payload, texts=texts))
        return found

    liar.patch.setattr(Anonymiser, "decide", decide)
    await liar.house.busy(1)


@lie(4)
async def service_files_under_another_category(liar: Liar) -> None:
    def other(data: bytes) -> bytes:
        return dataclasses.replace(BufferedPayload.decode(data), path=("Health", "Secrets")).encode()

    liar.payloads(MAIN, E.BUFFERED, other)
    await liar.house.busy(1)


@lie(6)
async def service_logs_for_parties_nobody_allowed(liar: Liar) -> None:
    def wider(data: bytes) -> bytes:
        return dataclasses.replace(BufferedPayload.decode(data), audience="acme:user_id").encode()

    liar.payloads(MAIN, E.BUFFERED, wider)
    await liar.house.busy(1)


@lie(5)
async def service_counts_a_fresh_account_as_seasoned(liar: Liar) -> None:
    def other(data: bytes) -> bytes:
        payload = BufferedPayload.decode(data)
        return dataclasses.replace(payload, seasoned=not payload.seasoned).encode()

    liar.payloads(MAIN, E.BUFFERED, other)
    await liar.house.busy(1)


@lie(5)
async def service_buffers_for_another_person(liar: Liar) -> None:
    await liar.house.consent()
    other = (await liar.house.device.session(PEOPLE[0])).prox_id

    def swapped(data: bytes) -> bytes:
        return dataclasses.replace(BufferedPayload.decode(data), prox_id=other).encode()

    liar.payloads(MAIN, E.BUFFERED, swapped, times=8)
    await liar.house.ask("node1 question")
    await liar.house.settle()


@lie(7)
async def service_keeps_silent_about_a_request(liar: Liar) -> None:
    liar.drops(MAIN, E.RECEIVED, times=1)
    await liar.house.busy(1)


@lie(7)
async def service_loses_a_record_without_a_word(liar: Liar) -> None:
    await liar.house.consent("nothing")
    liar.drops(MAIN, E.SUPPRESSED, times=1)
    await liar.house.ask("node1 question")
    await liar.house.settle()


@lie(5)
async def service_gives_a_waiting_record_up_for_no_reason(liar: Liar) -> None:
    def given_up(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is E.BUFFERED and len(out) < 400:
                fields = {**json.loads(event.fields), "reason": "expired", "time": "1"}
                out.append(dataclasses.replace(event, type=E.SUPPRESSED, fields=encode_header(**fields), payload=b""))
        return out

    liar.records(MAIN, given_up)
    await liar.house.consent()
    await liar.house.ask("node1 question", PEOPLE[:2])
    await liar.house.settle()


@lie(3)
async def service_accepts_a_request_without_a_credential(liar: Liar) -> None:
    def forged(data: bytes) -> bytes:
        said = ReceivedPayload.decode(data)
        credential = Credential.decode(said.credential)
        return ReceivedPayload(said.request, dataclasses.replace(credential, signature=bytes(64)).encode()).encode()

    liar.payloads(MAIN, E.RECEIVED, forged)
    await liar.house.busy(1)


@lie(2)
async def service_encrypts_so_that_the_auditor_cannot_read(liar: Liar) -> None:
    honest = Encryptor._chain

    def elsewhere(self: Encryptor, person: str, keys: Any) -> Any:
        if self._log == "main-service":
            self._auditor = OpeningKey(bytes(range(96))).public
        return honest(self, person, keys)

    liar.patch.setattr(Encryptor, "_chain", elsewhere)
    await liar.house.busy(1)


@lie(2)
async def service_files_payloads_under_nobody(liar: Liar) -> None:
    liar.patch.setattr(Encryptor, "_chain", lambda self, person, keys: None)
    await liar.house.busy(1)
    assert parting and resign and Settings


# --- third parties ---------------------------------------------------------------------------------------------------


@lie(9, quick=True)
async def party_claims_a_record_it_never_received(liar: Liar) -> None:
    await liar.house.busy(1)
    key = load_signing_key(liar.house.folder / "parties/acme/signing.key")
    claimed = DeliveryAck("acme", "main-service", 1, 99, bytes(32)).sign(key)
    liar.options = {"receipts": [Presented("acknowledgement", b"", claimed.encode())]}


@pytest.mark.parametrize(("check", "tell"), LIES)
async def test_every_lie_is_caught_by_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: int, tell: Callable[[Liar], Awaitable[None]]
) -> None:
    async with running(tmp_path) as house:
        liar = Liar(house, monkeypatch)
        await tell(liar)
        assert check in await liar.caught()


def test_there_are_enough_lies() -> None:
    assert len(LIES) >= 40
    assert {check for check, _ in (lie.values for lie in LIES)} == set(range(1, 10))
