"""A deployment over weeks: what people and operators do on a day, and copies of its folder on which one lies."""

import asyncio
import datetime
import itertools
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import Presented, read_receipts
from auditor.findings import Report, Verdict
from proxid.cli.main import main
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.rights import RightsClient
from proxid.clients.household.state import HouseholdState
from proxid.errors import Code, RefusedError
from proxid.protocol.rights import Right
from proxid.runtime.config import Trust, load
from proxid.runtime.config.loading import load_section
from proxid.runtime.provision import TrialOptions, init_trial
from proxid.runtime.provision.public import PublicFile, write_trust
from proxid.runtime.provision.templates import Settings
from proxid.runtime.store import connect
from tests.support.days import CLOCKS, ROLES, Days
from tests.support.lies import GATEWAY, MAIN, Liar
from tests.support.trial import PARTIES, PEOPLE, policy_text, run_command

SECRETS = ("tls.key", "tls.crt", "tls.csr")
HOME = "devices/household-1"
LOST, UNACCEPTED = "store was lost", "has not accepted"
"""Why an honest day cannot be checked: a log was followed; the auditor's operator has not looked at a policy yet."""
MAY_EXPLAIN = ("what was damaged or lost may explain it", "as the service admits (a successor log was begun)")


class LongTrial(Days):
    """A trial that can be ended, copied and begun again."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.people = [*PEOPLE]
        """Who consents and asks every evening."""
        self.parties: tuple[str, ...] = PARTIES
        self.k = 3
        self.bundle = "everything"
        self.expected: set[str] = set()
        """What every audit names from now on as what cannot be checked, in words that its reasons hold."""
        self._stack = AsyncExitStack()
        self._snapshots = itertools.count()

    async def begin(self) -> None:
        async with AsyncExitStack() as stack:
            await self.start(stack)
            self._stack = stack.pop_all()

    async def end(self) -> None:
        await self._stack.aclose()

    @asynccontextmanager
    async def copied(self) -> AsyncIterator["LongTrial"]:
        """The same trial on a copy of its folder, while this one stands still."""
        await self.end()
        copy = LongTrial(self.folder.with_name("copy"))
        shutil.copytree(self.folder, copy.folder, ignore=shutil.ignore_patterns("*.sock"))
        copy.clocks, copy.people, copy.bundle = self.clocks, [*self.people], self.bundle
        copy.parties, copy.k = self.parties, self.k
        before = {role: (clock.set, clock.passed) for role, clock in self.clocks.items()}
        try:
            await copy.begin()
            yield copy
        finally:
            await copy.end()
            shutil.rmtree(copy.folder)
            for role, clock in self.clocks.items():
                clock.set, clock.passed = before[role]
            await self.begin()

    async def kill(self, *roles: str) -> None:
        """Services end without warning, and are started again."""
        for role in roles:
            await self.halt(role)
        for role in sorted(roles, key=(MAIN, GATEWAY).index):
            await self.serve(role)

    async def reopen(self) -> None:
        """The device is started again."""
        await self.device.close()
        config = load(DeviceConfig, self.folder / HOME / "device.toml")
        self.device = Household(config, GatewayClient.open(config), self.clocks["device"].wall)
        self._stack.push_async_callback(self.device.close)

    async def evening(self, topic: str = "node0") -> None:
        """People consent, ask, and parties get what was released."""
        await self.consent(self.bundle, self.people)
        await self.ask(f"{topic} question", self.people)
        await self.settle()
        await self.receive(*self.parties)

    async def settle(self) -> None:
        """Until nothing waits to be dealt with, and counts stand still: a store that was put back counts anew."""
        clients = {role: connect(self.url(role)) for role in (MAIN, GATEWAY)}
        before, quiet = None, 0
        async with asyncio.timeout(30):
            while quiet < 6:
                waiting = await clients[MAIN].zcard("{ms}:pending")
                async for key in clients[MAIN].scan_iter(match="{ms}:pool:*:formed"):
                    waiting += await clients[MAIN].zcard(key)
                seen = (await clients[MAIN].get("{ms}:outbox:n"), await clients[GATEWAY].get("{gw}:released"))
                quiet = quiet + 1 if waiting == 0 and seen == before else 0
                before = seen
                await asyncio.sleep(0.05)
        for client in clients.values():
            await client.aclose()

    async def served(self) -> None:
        """Until a question is answered."""
        async with asyncio.timeout(30):
            while await self.refused() is not None:  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.05)

    async def refused(self) -> Code | None:
        """What a caller is told; None if the question is answered."""
        try:
            await self.device.ask(PEOPLE[0], "node9 question")
        except RefusedError as error:
            return error.remote
        return None

    async def wrong(self, role: str, step: float) -> None:
        """A clock is set wrong for six seconds: nobody is served, and everybody is once it is right."""
        self.clocks[role].set = step
        async with asyncio.timeout(30):
            while await self.refused() not in CLOCKS:  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.05)
        for clock in self.clocks.values():
            clock.passed += 6.0
        self.clocks[role].set = 0.0
        await self.served()

    def govern(self, change: Callable[[str], str] = lambda text: text, known: bool = True) -> int:
        """What operators' files say from the next day on; `known`: the auditor's too. Exit status of accepting it."""
        text = change(policy_text(self.parties, self.k))
        for role in ROLES if known else (GATEWAY, MAIN):
            (self.folder / role / "policy.toml").write_text(text)
        self.take_over()
        return main(["policy", "accept", "--config", str(self.folder / "auditor/auditor.toml")])

    def provision(self, *renewed: str) -> None:
        """`proxid init` once more, with the parties there are; those folders get new certificates, old ones go."""
        for folder in renewed:
            for name in SECRETS:
                (self.folder / folder / name).unlink()
        policies = {role: (self.folder / role / "policy.toml").read_text() for role in ROLES}
        names = tuple(dict.fromkeys((*PARTIES, *self.parties)))
        settings = Settings(gateway=self.config(GATEWAY).listen, main_service=self.config(MAIN).listen)
        init_trial(self.folder, TrialOptions(names, ("household-1",), settings), datetime.datetime.now(datetime.UTC))
        for role, text in policies.items():
            (self.folder / role / "policy.toml").write_text(text)
        public = [PublicFile.read(path) for path in self.folder.rglob("public.toml")]
        prints, certificates = {one.fingerprint for one in public}, {one.certificate for one in public}
        for path in self.folder.rglob("trust.toml"):
            trust = load_section(Trust, path)
            peers = tuple(peer for peer in trust.peers if peer.fingerprint in prints)
            servers = tuple(server for server in trust.servers if server.certificate in certificates)
            write_trust(path, trust.model_copy(update={"peers": peers, "servers": servers}))

    async def enrol(self, name: str) -> None:
        """Somebody new, whose account is a month old."""
        authority = load(EnrolmentAuthorityConfig, self.folder / "ea/ea.toml")
        config = load(DeviceConfig, self.folder / HOME / "device.toml")
        state, since = HouseholdState(config.data_dir), int(self.clocks["device"].wall() - 30 * 86_400)
        issued = enrolment.issue(authority, enrolment.make_request(state, [name]), since)
        assert config.trust.enrolment_authority is not None
        enrolment.accept(state, issued, config.trust.enrolment_authority)
        await self.reopen()
        self.people.append(name)

    async def exercise(self, right: Right, person: str) -> None:
        config = load(DeviceConfig, self.folder / HOME / "device.toml")
        client = RightsClient(config, self.device, self.clocks["device"].wall)
        await client.exercise(right, person)
        await client.close()
        if right in (Right.ERASE, Right.OBJECT):
            self.people = [one for one in self.people if one != person]

    async def snapshot(self, role: str) -> Callable[[bool], Awaitable[None]]:
        """What a service's store holds now, and its log's folder; the result puts it back, with the log or without."""
        data, kept = self.folder / role / "data/evidence", self.folder.with_name(f"kept-{next(self._snapshots)}")
        store = connect(self.url(role))
        rows = {key: (await store.dump(key), await store.pttl(key)) for key in await store.keys("*")}
        await store.aclose()
        shutil.copytree(data, kept)

        async def put_back(log: bool) -> None:
            store = connect(self.url(role))
            await store.flushall()
            for key, (value, left) in rows.items():
                if value is not None:  # it ended while keys were read
                    await store.restore(key, max(0, left), value)
            await store.aclose()
            if log:
                shutil.rmtree(data)
                shutil.copytree(kept, data)

        return put_back

    async def emptied(self, role: str) -> None:
        """A service's store holds nothing."""
        store = connect(self.url(role))
        await store.flushall()
        await store.aclose()

    async def refuses(self, role: str) -> None:
        """A service does not start, or ends once the other one has told it; raises why."""
        await self.serve(role)
        async with asyncio.timeout(30):
            await self._tasks.pop(role)

    async def mend(self, role: str) -> int:
        """Begin a successor log, by the longest head that is known of the old one."""
        heads = self.folder / role / "data/heads/own.head"
        named = ("--head", str(heads)) if heads.exists() else ()
        return await run_command("mend", "successor", "--config", str(self.folder / role / f"{role}.toml"), *named)

    def receipts(self) -> list[Presented]:
        return [one for name in ("devices", "parties") for one in read_receipts(self.folder / name)]

    def forget(self) -> None:
        """The next audit that goes on begins again: `--fresh`."""
        shutil.rmtree(self.folder / "auditor/data/audit")

    async def honest(self, day: str) -> list[Report]:
        """An audit from nothing, and one that goes on: nobody is accused, and what is unchecked is what was named."""
        reports = [await self.audit(receipts=self.receipts()), await self.audit(state=True)]
        for report in reports:
            assert report.violations == [], (day, report.violations[:5])
            assert report.verdict is (Verdict.UNCHECKED if self.expected else Verdict.CLEAN), (day, report.reasons)
            texts = [reason.text for reason in report.reasons]
            explained = {*self.expected, *(MAY_EXPLAIN if LOST in self.expected else ())}
            assert all(any(words in text for text in texts) for words in self.expected), (day, texts)
            assert all(any(words in text for words in explained) for text in texts), (day, texts)
        return reports

    async def convicted(self, tell: Callable[[Liar], Awaitable[None]], check: int, log: str) -> None:
        """On a copy somebody lies: audits from nothing, going on, and after that name the check and the log."""
        with pytest.MonkeyPatch.context() as patch:
            async with self.copied() as copy:
                liar = Liar(copy, patch)
                await tell(liar)
                for state in (False, True, True):
                    report = await copy.audit(**{**liar.options, "state": state})
                    assert report.verdict is Verdict.VIOLATION, tell.__name__
                    found = {(one.rule, one.log) for one in report.violations}
                    assert (check, log) in found, (tell.__name__, found)
