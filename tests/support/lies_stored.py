"""Lies about what is stored and shown: leaves, payloads, heads, indexes, whole histories."""

import asyncio
import dataclasses
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from auditor.checks.c9_receipts import read_receipts
from auditor.commands.witness import _logs as witness_logs
from auditor.config import WitnessConfig
from main_service.store.pool import PoolStore
from proxid.crypto.ed25519 import SigningKey
from proxid.evidence.checkpoint import Checkpoint
from proxid.evidence.events import (
    EventType,
)
from proxid.evidence.leaf import Leaf
from proxid.evidence.parts import NOBODY, PlainPart
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.evidence_log.encryptor import Encryptor, PlainEvent, SplitEvent
from proxid.runtime.evidence_log.held import HeldHeads
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.provision.keyfile import load_signing_key
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, MAIN, Liar, flip, lie, no_wait, segment
from tests.support.trial import PEOPLE

E = EventType


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


@lie(1)
async def bit_of_a_header_flipped_in_flight(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.shows(GATEWAY, lambda ls: [*ls[:5], dataclasses.replace(ls[5], salt=flip(ls[5].salt)), *ls[6:]])


@lie(1)
async def bit_of_a_header_flipped_at_rest(liar: Liar) -> None:
    await liar.trial.busy(1)
    rewrite_record(segment(liar, MAIN, "leaves"), 4, lambda d: flip(d, 12))


@lie(2, quick=True)
async def bit_of_a_payload_flipped_at_rest(liar: Liar) -> None:
    await liar.trial.busy(1)
    rewrite_record(segment(liar, MAIN, "parts"), 4, flip)


@lie(2)
async def bit_of_a_payload_flipped_in_flight(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.shows(MAIN, lambda ls: [*ls[:7], Leaf(ls[7].salt, ls[7].header, (flip(ls[7].parts[0]),)), *ls[8:]])


@lie(2, quick=True)
async def service_files_what_it_receives_where_no_erasure_takes_it(liar: Liar) -> None:
    """Under nobody, and readable without anybody's key."""
    honest = Encryptor.split

    def split(self: Encryptor, event: PlainEvent) -> SplitEvent:
        made = honest(self, event)
        if self._log != MAIN or event.type not in (E.RECEIVED, E.CONSENT):
            return made
        return SplitEvent(event, tuple(PlainPart(NOBODY, part.data) for part in made.parts))

    liar.patch.setattr(Encryptor, "split", split)
    await liar.trial.busy(1)


@lie(2)
async def payload_of_another_event(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.shows(GATEWAY, lambda ls: [ls[0], dataclasses.replace(ls[1], parts=ls[3].parts), *ls[2:]])


@lie(2)
async def payloads_not_given_out(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.shows(MAIN, lambda ls: [dataclasses.replace(leaf, parts=()) for leaf in ls])


@lie(1)
async def signature_of_the_head_flipped(liar: Liar) -> None:
    await liar.trial.busy(1)
    honest = LogReader.checkpoint
    liar.patch.setattr(LogReader, "checkpoint", lambda self: honest(self)[:-9] + b"AAAAAAA=\n")
    liar.patch.setattr("proxid.runtime.evidence_log.servicer.EvidenceService._wait", no_wait)


@lie(1)
async def head_with_another_root_signed(liar: Liar) -> None:
    await liar.trial.busy(1)
    key = load_signing_key(liar.trial.folder / "main-service/signing.key")
    liar.heads(MAIN, lambda head: dataclasses.replace(head, root=flip(head.root)), key)


@lie(1)
async def head_signed_by_another_key(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.heads(GATEWAY, lambda head: head, SigningKey(bytes(32)))
    liar.patch.setattr("proxid.runtime.evidence_log.servicer.EvidenceService._wait", no_wait)


@lie(1)
async def leaf_left_out(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.shows(GATEWAY, lambda ls: [*ls[:9], *ls[10:]])


@lie(1)
async def leaf_shown_twice(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.shows(MAIN, lambda ls: [*ls[:9], ls[8], *ls[9:-1]])


@lie(1)
async def leaves_swapped(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.shows(MAIN, lambda ls: [*ls[:3], ls[4], ls[3], *ls[5:]])


@lie(1)
async def leaf_inserted(liar: Liar) -> None:
    await liar.trial.busy(1)
    liar.shows(GATEWAY, lambda ls: [*ls[:6], dataclasses.replace(ls[6], salt=bytes(16)), *ls[6:-1]])


def fork(liar: Liar, role: str) -> None:
    """From now on another history, signed by the service itself: its third leaf is different."""
    key = load_signing_key(liar.trial.folder / role / "signing.key")

    def forked(leaves: list[Leaf]) -> list[Leaf]:
        return [*leaves[:2], dataclasses.replace(leaves[2], salt=bytes(16)), *leaves[3:]]

    liar.shows(role, forked)

    def head(honest: Checkpoint) -> Checkpoint:
        from proxid.evidence.merkle import Frontier
        from proxid.runtime.evidence_log.segments import read_leaves

        frontier = Frontier()
        folder = liar.trial.folder / role / "data/evidence/segments"
        for leaf in forked(list(read_leaves(folder, 1, honest.size + 1))):
            frontier.append(leaf.hash)
        return dataclasses.replace(honest, root=frontier.root)

    liar.heads(role, head, key)


@lie(1, quick=True)
async def history_rewritten_between_two_audits(liar: Liar) -> None:
    await liar.trial.busy(1)
    assert (await liar.trial.audit(state=True)).violations == []
    fork(liar, GATEWAY)
    liar.options = {"state": True}
    await liar.trial.ask("node4 question")


@lie(1)
async def another_history_than_another_auditor_was_shown(liar: Liar) -> None:
    await liar.trial.busy(1)
    shown = (liar.trial.folder / "main-service/data/evidence/checkpoint").read_bytes()
    liar.options = {"known": [shown]}
    fork(liar, MAIN)


@lie(1)
async def another_history_than_the_witness_was_shown(liar: Liar) -> None:

    await liar.trial.busy(1)
    import asyncio
    import sys

    config = str(liar.trial.folder / "witness/witness.toml")
    arguments = [sys.executable, "-m", "proxid.cli.main", "witness", "--config", config, "--once"]
    assert await (await asyncio.create_subprocess_exec(*arguments)).wait() == 0
    fork(liar, GATEWAY)
    # Whoever lies does not stop by itself when others hold another head of its log.
    liar.patch.setattr(HeldHeads, "_compare", lambda *_: None)
    await liar.trial.ask("node4 question")
    # The witness does not sign the other history, and the audit finds that it has signed this one.
    assert await (await asyncio.create_subprocess_exec(*arguments)).wait() == 1
    liar.options = {"witness": True}


@lie(1)
async def log_put_back_to_an_earlier_time(liar: Liar) -> None:
    await liar.trial.busy(1)
    early = (liar.trial.folder / "gateway/data/evidence/checkpoint").read_bytes()
    await liar.trial.ask("node4 question")
    await liar.trial.settle()
    assert (await liar.trial.audit(state=True)).violations == []
    liar.options = {"state": True}
    liar.patch.setattr(LogReader, "checkpoint", _first_of(early, LogReader.checkpoint, "gateway"))
    liar.patch.setattr("proxid.runtime.evidence_log.servicer.EvidenceService._wait", no_wait)


def _first_of(early: bytes, honest: Any, log: str) -> Any:
    return lambda self: early if self._log.name.endswith(f"/{log}") else honest(self)


@lie(1)
async def first_root_presented_as_any_root(liar: Liar) -> None:
    """A head that somebody else was shown before the last audit is to be proven: the proof is another one's."""
    await liar.trial.consent()
    await liar.trial.audit()  # waits until all of that is signed for
    other = (liar.trial.folder / "gateway/data/evidence/checkpoint").read_bytes()
    await liar.trial.busy(1)
    assert (await liar.trial.audit(state=True)).violations == []
    honest = LogReader.consistency
    liar.patch.setattr(LogReader, "consistency", lambda self, old, size: honest(self, 1, size))
    liar.options = {"state": True, "known": [other]}


async def cosigned(liar: Liar, seconds_ago: int) -> None:
    """Have the witness cosign both heads, as of some time ago."""
    config = load(WitnessConfig, liar.trial.folder / "witness/witness.toml")
    for name, (watch, log) in witness_logs(config).items():
        try:
            await asyncio.to_thread(watch.cosign, log, int(time.time()) - seconds_ago)
        finally:
            log.close()
        assert (liar.trial.folder / name / "data/evidence/cosigned").is_dir()


def show_as_of_now(liar: Liar) -> None:
    """From now on both services show the heads and cosignatures that they have now."""
    shown: dict[tuple[str, str], Any] = {}
    for call in ("checkpoint", "cosigned"):
        honest = getattr(LogReader, call)

        def replayed(self: LogReader, call: str = call, honest: Any = honest) -> Any:
            return shown.setdefault((self._log.name, call), honest(self))

        liar.patch.setattr(LogReader, call, replayed)
    liar.patch.setattr("proxid.runtime.evidence_log.servicer.EvidenceService._wait", no_wait)


@lie(1)
async def yesterdays_heads_replayed_with_yesterdays_cosignatures(liar: Liar) -> None:
    """Nothing that is shown contradicts itself: the witness's time is all that shows that there must be more."""
    await liar.trial.busy(1)
    await cosigned(liar, 86_400)
    show_as_of_now(liar)
    assert (await liar.trial.audit()).violations == []
    await liar.trial.ask("node4 question")
    liar.options, liar.hides = {"witness": True}, True


@lie(9)
async def yesterdays_heads_replayed_to_an_auditor_without_a_witness(liar: Liar) -> None:
    await liar.trial.busy(1)
    show_as_of_now(liar)
    assert (await liar.trial.audit()).violations == []
    await liar.trial.ask("node4 question")
    liar.options = {"receipts": list(read_receipts(liar.trial.folder / "devices/household-1/data"))}


@lie(1)
async def cosignature_of_another_log_shown(liar: Liar) -> None:
    await liar.trial.busy(1)
    await cosigned(liar, 0)
    notes = [next((liar.trial.folder / name / "data/evidence/cosigned").iterdir()) for name in (GATEWAY, MAIN)]
    notes[1].write_bytes(notes[0].read_bytes())
    liar.options = {"witness": True}


@lie(8)
async def service_forgets_a_person_in_words_alone(liar: Liar) -> None:
    async def kept(self: PoolStore, epoch: int, person: str) -> int:
        return 0

    trial = liar.trial
    await trial.consent()
    await trial.ask("node1 question", PEOPLE[:1])
    await trial.settle()
    liar.patch.setattr(PoolStore, "erase", kept)
    client = rights(trial)
    await client.exercise(Right.ERASE, PEOPLE[0])
    await client.close()
    await trial.ask("node1 question", PEOPLE[1:])
    await trial.settle()
