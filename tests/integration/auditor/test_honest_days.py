"""Days of honest services, drawn by a seed: no audit accuses anybody, and none is left unchecked.

Both forms; people withdraw, object, are erased and enrolled again, ask what fails at the first try; services are killed
in between, a policy changes, and a year later the first day has expired.

    PROXID_DAYS=0:30 python -m pytest -m slow tests/integration/auditor/test_honest_days.py     # some 20 s a seed
"""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from proxid.errors import RefusedError
from proxid.evidence.events import encode_header
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.retention import append_expired
from proxid.runtime.provision.policies import govern
from proxid.runtime.store import connect
from tests.support.chosen import seeds
from tests.support.days import CLOCKS, DAY, ROLES
from tests.support.failing import Failing
from tests.support.lies import GATEWAY, MAIN, PREFIX
from tests.support.trial import PEOPLE, policy_text, provision
from tests.support.weeks import LongTrial

FORMS = {
    "pairs": {"form": "pairs"},
    "split": {"form": "split", "level": 2, "min_text_users": 2, "bucket": "1 d"},
}
NODES = ("news", "travel", "health")


class House(LongTrial):
    """A trial whose days a seed draws."""

    def __init__(self, folder: Path, seed: int, failing: Failing) -> None:
        super().__init__(folder)
        self.source, self.failing = random.Random(seed), failing
        self.form = FORMS["split" if seed % 2 else "pairs"]
        self.until: dict[str, int] = {}

    async def asked(self, person: str, text: str) -> None:
        """Ask until answered, as a person would."""
        async with asyncio.timeout(120):
            while True:
                try:
                    await self.device.ask(person, text)
                    return
                except RefusedError as error:
                    assert error.remote in CLOCKS or self.failing.failed, error.remote
                    await asyncio.sleep(0.1)

    async def evening(self, topic: str = "news") -> None:
        for node in (topic, *NODES):
            await asyncio.gather(*(self.asked(person, f"{node} of today") for person in self.people))
        await self.settle()

    def somebody(self) -> str:
        """Anybody but the first, who shows when the services rely on their clocks."""
        return self.source.choice([person for person in self.people if person != PEOPLE[0]])

    async def withdraws(self) -> None:
        person = self.somebody()
        await self.device.consent(person, self.source.choice(("nothing", "searches", "aliased")))
        await self.receive("acme")
        await self.device.consent(person, "everything")

    async def objects(self) -> None:
        person = self.somebody()
        await self.exercise(Right.OBJECT, person)
        if self.source.random() < 0.5:
            await self.receive()
        await self.exercise(Right.RESUME, person)
        self.people.append(person)
        await self.exercise(Right.ACCESS, person)

    async def erased(self) -> None:
        person = self.somebody()
        await self.device.ask(person, "travel waits alone")
        await self.exercise(Right.ERASE, person)
        if self.source.random() < 0.5:
            await self.enrol(f"new-{person}"[:20])
            await self.device.consent(self.people[-1], "everything")

    async def killed(self) -> None:
        asking = asyncio.gather(*(self.stubborn(person) for person in self.people[:4]))
        await self.kill(*self.source.choice(((GATEWAY,), (MAIN,), (MAIN, GATEWAY))))
        await asking

    async def stubborn(self, person: str) -> None:
        async with asyncio.timeout(120):
            while True:
                try:
                    await self.device.ask(person, "news in between")
                    return
                except Exception:
                    await asyncio.sleep(0.2)

    async def fails(self) -> None:
        self.failing.fail(self.source.choice(("answers", "arrivals")))
        await self.asked(self.somebody(), "health at the second try")

    async def changes(self) -> None:
        self.k = 3 if self.k == 2 else 2
        text = policy_text(self.parties, self.k, **self.form)
        for role in ROLES:
            (self.folder / role / "policy.toml").write_text(text)
        for role in (MAIN, GATEWAY):
            govern(self.config(role), self.epoch)
        self.accept()

    async def received(self) -> None:
        await self.receive(*self.source.choice((("acme",), ("globex",), self.parties)))

    async def remember(self) -> None:
        """How long both logs are."""
        await self.audit()
        for role in (MAIN, GATEWAY):
            store = connect(self.url(role))
            self.until[role] = int(await store.get(f"{PREFIX[role]}:events:n"))
            await store.aclose()

    async def expires(self) -> None:
        """A year passes, and both say that the first day's payloads and links have expired."""
        for clock in self.clocks.values():
            clock.passed += 400 * DAY
        await self.served()
        await self.consent("everything", self.people)
        await self.kill(GATEWAY)  # links are looked at when it starts
        await self.served()
        for role in (MAIN, GATEWAY):
            store = connect(self.url(role))
            header = encode_header(kind="payloads", until=self.until[role])
            await append_expired(store, PREFIX[role], os.urandom(16), header)
            await store.aclose()
        await self.evening()


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds("PROXID_DAYS", "0:2"))
async def test_honest_days_are_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    print(f"PROXID_DAYS={seed} python -m pytest -m slow tests/integration/auditor/test_honest_days.py")
    monkeypatch.setattr("gateway.timekeeping.PAUSE", 0.2)
    monkeypatch.setattr("proxid.runtime.evidence_log.promising._FRESH", 0.0)  # days pass at once
    trial = House(tmp_path / "house", seed, Failing(monkeypatch))
    trial.k = 2
    provision(trial.folder, PEOPLE, k=2, anonymiser=trial.form)
    trial.accept()
    await trial.begin()
    steps: list[Callable[[], Awaitable[None]]] = [
        trial.withdraws, trial.objects, trial.erased, trial.killed, trial.fails, trial.received, trial.received,
        trial.changes,
    ]  # fmt: skip
    try:
        drawn = trial.source.sample(steps, len(steps))
        for day in range(3):
            await trial.consent("everything", trial.people)
            await trial.evening()
            for step in drawn[day::3]:
                await step()
            await trial.settle()
            await trial.honest(f"seed {seed}, day {day}, {[step.__name__ for step in drawn[day::3]]}")
            if not day:
                await trial.remember()
            assert await trial.next_day() is None
        await trial.expires()
        await trial.receive()
        _, report = await trial.honest(f"seed {seed}, a year later")
    finally:
        await trial.end()
    assert report.counts["gateway.ERASED"] == 1 and report.counts["main-service.EXPIRED"] >= 1
