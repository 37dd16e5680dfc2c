"""Two evenings that leave every event there is: one in form `pairs`, one in form `split`; recorded in plain."""

import asyncio
import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from auditor.checks.c9_receipts import read_receipts
from auditor.setup import logs_of, trust_of
from proxid.classify import Classification, RequestType
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.crypto.identity import Credential
from proxid.errors import RefusedError
from proxid.evidence.events import EventType, LinkedPayload, decode_header, encode_header
from proxid.evidence.ratchet import subject_tag
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.provision.keyfile import load_opening_key, load_signing_key
from tests.support.commands import Commands, CommandTrial
from tests.support.days import CLOCKS, DAY, Days
from tests.support.failing import Failing
from tests.support.mutation_history import LOGS, Entry, History, Recorder
from tests.support.split_house import NODES, House, begun, house, released, releases, served
from tests.support.trial import PEOPLE, Trial, running

PLACE = "41.39,2.17"
PAIRS = {
    "form": "pairs", "k": 2, "sybil_margin": 1, "max_delay": "1 h", "person_cap": 2, "finest_resolution": 2,
    "time_slots": ["1 s", "2 s", "1 d"],
}  # fmt: skip


class Everything(Commands):
    """`do …` is a command, `where …` a question for a place."""

    version = "everything-1"

    def classify(self, text: str) -> Classification:
        if not text.startswith("where "):
            return super().classify(text)
        return Classification(
            type=RequestType.LOCATION, confidence=1.0, path=(), masked=text, normalised=text, units=(), intent="find"
        )


class Evening(CommandTrial, Days):
    """People who do everything that there is, on days that pass at once."""

    classifier = Everything()

    async def exercise(self, right: Right, user: str) -> None:
        client = self._rights()
        if right is Right.ACCESS:
            await client.access(user)
        else:
            await client.exercise(right, user)
        await client.close()

    def _rights(self) -> RightsClient:
        config = load(DeviceConfig, self.folder / "devices/household-1/device.toml")
        return RightsClient(config, self.device, self.clocks["device"].wall)

    async def pass_seconds(self, seconds: float) -> None:
        """Time passes, once all that was done is in the logs."""
        await self.audit()
        for clock in self.clocks.values():
            clock.passed += seconds

    async def refused(self, user: str, text: str) -> None:
        with pytest.raises(RefusedError):
            await self.device.ask(user, text)


async def record_pairs(folder: Path, patch: pytest.MonkeyPatch) -> History:
    """A day whose payloads expire, a day on which everything happens, and the day after, under another policy."""
    recorder, failing = Recorder(patch), Failing(patch)
    patch.setattr("gateway.timekeeping.PAUSE", 0.2)
    patch.setattr("proxid.runtime.evidence_log.promising._FRESH", 0.0)  # time passes at once
    async with running(folder, Evening, people=(*PEOPLE, "late"), anonymiser=PAIRS) as trial:
        trial.accept()
        await trial.consent("everything", PEOPLE[:3])
        await trial.ask("node1 question", PEOPLE[:3])
        await trial.settle()
        await trial.receive()
        await trial.audit()
        old = {log: len(events) for log, events in recorder.events.items()}
        await trial.pass_seconds(400 * DAY)
        await trial.next_day()
        await _everything(trial, failing)
        trial.says(("acme", "globex"), 3, **{k: v for k, v in PAIRS.items() if k not in ("k", "form")})
        trial.accept()
        trial.take_over()
        await trial.pass_seconds(0)
        await trial.next_day()
        await _somebody_goes(trial)
        await trial.pass_seconds(0)
        await trial.next_day()
        return await _recorded(trial, recorder, old)


async def _everything(trial: Evening, failing: Failing) -> None:
    consent, ask = trial.device.consent, trial.device.ask
    await trial.consent("everything", PEOPLE[:4])
    await trial.consent("aliased", PEOPLE[4:7])
    await trial.consent("nothing", PEOPLE[7:])
    failing.fail("answers")
    await trial.refused(PEOPLE[0], "node1 question")
    failing.fail("arrivals")
    await trial.ask("node1 question", PEOPLE[:3])
    await trial.ask("node2 question", PEOPLE[4:7])
    for person, text in ((0, "secret question"), (7, "node1 question"), (0, "node1 question"), (1, "node5 lonely")):
        await ask(PEOPLE[person], text)
    await ask(PEOPLE[2], "where is it", PLACE)
    await trial.commands(1)
    await trial.settle()
    await trial.receive("acme")
    await consent(PEOPLE[2], "nothing")  # in the feed of the other
    await trial.exercise(Right.OBJECT, PEOPLE[3])
    await trial.exercise(Right.RESUME, PEOPLE[3])
    await trial.exercise(Right.ACCESS, PEOPLE[3])
    await trial.pass_seconds(2 * 3600)
    await served_again(trial)
    await trial.ask("node6 question", (*PEOPLE[:2], PEOPLE[3]))
    await ask(PEOPLE[3], "node7 waits")
    await consent(PEOPLE[3], "searches")
    await trial.settle()
    await trial.receive()
    await ask(PEOPLE[1], "node8 waits")
    await trial.settle()


async def _somebody_goes(trial: Evening) -> None:
    """What hides a day is on a day of its own: somebody is erased."""
    people = (PEOPLE[0], *PEOPLE[3:6], "late")
    await trial.consent("everything", people)
    await trial.ask("node3 question", people)
    await trial.device.ask("late", "node8 waits")
    await trial.settle()
    await trial.receive("acme")
    await trial.exercise(Right.ERASE, "late")
    await trial.receive()


async def served_again(trial: Trial) -> None:
    """Until both services rely on their clocks."""
    async with asyncio.timeout(60):
        answered = 0
        while answered < 3:
            try:
                await trial.device.ask(PEOPLE[0], "secret question")
                answered += 1
            except RefusedError as error:
                assert error.remote in CLOCKS, error.remote
                answered = 0
            await asyncio.sleep(0.25)  # clocks are compared in between


async def record_split(folder: Path, patch: pytest.MonkeyPatch) -> History:
    """An epoch of four ticks in form `split`, one in which somebody is erased, and the next."""
    recorder, options = Recorder(patch), begun()
    patch.setattr("gateway.timekeeping.PAUSE", 0.2)
    patch.setattr("proxid.runtime.evidence_log.promising._FRESH", 0.0)
    async with house(folder, k=2, sybil_margin=1, **options) as trial:
        assert isinstance(trial, House)
        await _ticks(trial, options["epoch_seconds"])
        await served(trial)
        people = (*PEOPLE[2:5], *PEOPLE[6:8])
        await trial.consent("everything", people)
        for node in NODES:
            await trial.ask(f"{node} of tomorrow", people)
        await trial.settle()
        await _closed(trial)
        await trial.receive("acme")
        await trial.exercise(Right.ERASE, PEOPLE[7])
        await trial.receive()
        await _begins(trial, people[:4])
        return await _recorded(trial, recorder, dict.fromkeys(LOGS, 0))


async def _begins(trial: House, people: Sequence[str]) -> None:
    """Entries leave as the next epoch begins, in the time of grace of the one before, and come to parties."""
    await trial.consent("everything", people)
    for node in NODES:
        await trial.ask(f"{node} at last", people)
    await trial.settle()
    await trial.audit()
    before = await releases(trial)
    trial.leap(60)
    await served(trial)
    async with asyncio.timeout(30):
        while await releases(trial) == before:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await trial.settle()
    await trial.receive()
    await trial.consent("nothing", people[:1])


async def _closed(trial: House) -> None:
    """The epoch ends, once all that was done in it is in the logs."""
    await trial.audit()
    trial.leap(310)
    await served(trial)
    await trial.over()


async def _ticks(trial: House, seconds: int) -> None:
    """Entries that leave at a tick and at the close, of people who withdraw and object in between."""
    people = PEOPLE[:6]
    await trial.consent("everything", people)
    for node in NODES:
        await trial.ask(f"{node} of today", people)
    await trial.ask("news again", people[:3])
    await trial.settle()
    await trial.audit()
    for clock in trial.clocks.values():
        clock.passed += seconds // 4
    await released(trial)
    await served(trial)
    await trial.receive("acme")
    await trial.consent("nothing", people[:1])
    for node in NODES:
        await trial.ask(f"{node} once more", people[1:5])
    await trial.settle()
    await _closed(trial)
    await trial.exercise(Right.OBJECT, people[5])
    await trial.receive()


async def _recorded(trial: Trial, recorder: Recorder, expired: dict[str, int]) -> History:
    """The history up to now; what comes first has expired, and every log says so."""
    report = await trial.audit()
    assert not report.violations, report.violations
    config = trial.config("auditor")
    trust = dataclasses.replace(trust_of(config, pipeline=False), classifier=trial.classifier)
    folder = trial.folder
    keys = {log: load_signing_key(folder / log / "signing.key") for log in LOGS}
    history = History(trust, keys, load_opening_key(folder / "auditor/opening.key"), trial.clocks["device"].wall())
    history.evidence = dict(recorder.evidence)
    gateway, service = logs_of(config)
    try:
        tags = sorted(subject_tag(key) for key in history.evidence.values())
        seeds = await asyncio.to_thread(gateway.keys, tags)
    finally:
        gateway.close()
        service.close()
    history.seeds = {tag: seed for tag, seed in zip(tags, seeds, strict=True) if seed}
    for log, events in recorder.events.items():
        said = [*events, *_expiries(history, log, events[: expired[log]], len(events))]
        history.events[log] = [Entry(event, at, at <= expired[log]) for at, event in enumerate(said, 1)]
    history.presented = [one for name in ("devices", "parties") for one in read_receipts(folder / name)]
    history.told_anew()
    return history


def _expiries(history: History, log: str, old: Sequence[PlainEvent], last: int) -> list[PlainEvent]:
    """What a service says of what has expired: payloads and links of the first day, of which it gives out no key."""
    if not old:
        return []
    source = random.Random(log)
    said: list[dict[str, Any]] = [{"kind": "payloads", "until": len(old)}]
    if log == "gateway":
        first = min(decode_header(event.fields)["epoch"] for event in old if event.type is EventType.EPOCH_OPENED)
        said += [{"kind": "links", "first": first, "until": first}, {"kind": "feeds", "count": 1}]
        for event in old:
            if event.type is EventType.LINKED:
                prox_id = Credential.decode(LinkedPayload.decode(event.payload).credential).prox_id
                history.seeds.pop(subject_tag(history.evidence[prox_id]))
    return [
        PlainEvent(last + at, EventType.EXPIRED, source.randbytes(16), encode_header(**fields), b"")
        for at, fields in enumerate(said, 1)
    ]
