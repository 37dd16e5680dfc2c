"""What happens in a history, on a still house: each act says what people were told of it, and parties' feeds are held
against that. `end` lets everything come to rest and audits it.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from auditor.checks.c9_receipts import Presented, read_receipts
from auditor.findings import Report
from proxid.cli.main import main
from proxid.errors import Code, ProxidError, RefusedError
from proxid.protocol.consent import NOTHING
from proxid.protocol.record import kind_and_number
from proxid.protocol.rights import Right
from proxid.runtime.provision.policies import govern
from tests.support.days import DAY, ROLES, SERVICES
from tests.support.lies import GATEWAY, MAIN
from tests.support.still_house import StillHouse
from tests.support.still_party import Came, StillParty
from tests.support.told import Objects, Shown, Told
from tests.support.trial import PARTIES, policy_text

PEOPLE = tuple(f"person-{i}-zq" for i in range(5))
BUNDLES = (NOTHING, "everything", "searches", "aliased", "only-acme")
LEAST = 3
"""People of a group, at least."""
MADE: dict[str, dict[str, Any]] = {
    "pairs": {"form": "pairs", "sybil_margin": 0},
    "split": {"form": "split", "sybil_margin": 0, "level": 2, "min_text_users": 2, "bucket": "6 h"},
}
"""What an anonymiser is told, by the form of a release."""
POLICIES = {
    form: {
        "first": policy_text(PARTIES, 2, **made),
        "larger": policy_text(PARTIES, 3, **made),
        "one party": policy_text(("acme",), 2, **made),
    }
    for form, made in MADE.items()
}
MORNING = 8 * 3600.0
EXPLAINED = ("clock",)
"""Words of the reasons for which an honest history may be left unchecked."""
HUNG = "was held back"
"""The same where a service stood still beside its calls."""


def accept_all(folder: Path, form: str) -> None:
    """The auditor accepts each policy that a history may come to."""
    file, policies = folder / "auditor/policy.toml", POLICIES[form]
    for text in (*policies.values(), policies["first"]):
        file.write_text(text)
        assert main(["policy", "accept", "--config", str(folder / "auditor/auditor.toml")]) == 0


class History:
    """See the module. Begins with `begin`, and is nothing without `end`.

    Args:
        form: of the release.
    """

    def __init__(self, house: StillHouse, form: str = "pairs") -> None:
        self.house, self.told, self._form = house, Told(), form
        self.parties = {name: StillParty(house.folder, name) for name in PARTIES}
        self.policies: dict[int, bytes] = {}
        """What epochs were found to go by."""
        self.excused = False
        """Whether a day may be over before its end: a clock was wrong for an hour, or both sides' were."""
        self.hung = False
        """Whether an hour passed in which no job went on."""
        self._said = 0

    async def begin(self) -> None:
        for role in ROLES:
            (self.house.folder / role / "policy.toml").write_text(POLICIES[self._form]["first"])
        await self.house.begin((time.time() // DAY + 1) * DAY + MORNING)
        await self.house.compare()

    async def close(self) -> None:
        for party in self.parties.values():
            await party.close()
        await self.house.finish()

    @property
    def living(self) -> list[str]:
        return [person for person in PEOPLE if person not in self.told.erased]

    def _epoch(self, person: str) -> int:
        """Whose key a person's device uses."""
        session = self.house.device._sessions.get(person)
        if session is None:
            return int(self.house.clocks["device"].wall() // DAY)
        route = session.route
        assert self.policies.setdefault(route.epoch, route.policy) == route.policy, "an epoch changed its policy"
        return route.epoch

    # What people do.

    async def choose(self, person: str, bundle: str) -> None:
        house, told = self.house, self.told
        try:
            offered = await house.acting(house.device.offered(person))
        except ProxidError:
            return
        epoch = self._epoch(person)
        assert person not in told.erased, "a device linked a key for somebody who is erased"
        if bundle not in offered.bundles:
            return
        parties = frozenset(grant.party for grant in offered.bundles[bundle] if "general" in grant.types)
        told.chooses(person, epoch, parties)
        try:
            await house.acting(house.device.consent(person, bundle))
        except RefusedError as error:
            if error.remote is Code.OBJECTED:
                told.refused(person, epoch)
        except ProxidError:
            return
        else:
            assert self._epoch(person) == epoch
            told.chose(person, epoch, parties)

    async def ask(self, people: Sequence[str], node: str) -> int:
        """How many were answered."""
        answered, device = 0, self.house.device
        for person in people:
            self._said += 1
            text = f"{node} w{self._said}q"
            with suppress(ProxidError):
                await self.house.acting(device.session(person))
                epoch = self._epoch(person)
                self.told.asks(person, epoch, node, text)
                try:
                    await self.house.acting(device.ask(person, text))
                    answered += 1
                finally:
                    if self._epoch(person) != epoch:  # a refusal, after which nothing was taken of the first epoch
                        self.told.asks(person, self._epoch(person), node, text)
                assert person not in self.told.erased, "somebody who is erased was answered"
        return answered

    async def object(self, person: str, resume: bool = False) -> None:
        told, house = self.told, self.house
        right = Right.RESUME if resume else Right.OBJECT
        if not resume or told.objects(person) is not Objects.NO:
            told.may_object(person)
        with suppress(ProxidError):
            await house.acting(house.rights.exercise(right, person), pumped=True, limit=3.0)
            assert person not in told.erased, "somebody who is erased exercised a right"
            (told.resumed if resume else told.objected)(person)

    async def erase(self, person: str, wait: bool) -> None:
        house = self.house
        with suppress(ProxidError):
            await house.acting(house.rights.accept(person))
            self.told.erases(person)
            if wait:
                await house.acting(house.rights.exercise(Right.ERASE, person), pumped=True, limit=3.0)

    # What parties get.

    async def receive(self, party: str, silent: bool = False) -> None:
        reader, came = self.parties[party], list[Came]()
        with suppress(ProxidError):
            came = await self.house.acting(reader.read(silent))
        came = came or reader.came
        for epoch, number, records, contents in came:
            kind = kind_and_number(number)[0]
            if contents is not None:
                self.told.came_contents(epoch, [(row.text, row.records) for row in contents.rows])
            elif kind == "general":
                self.told.came(party, epoch, number, [_shown(record) for record in records], LEAST)
            elif kind == "entries":
                self.told.came_entries(party, epoch, number, [_shown(record) for record in records])

    # What operators and machines do.

    async def away(self, role: str) -> None:
        if role in self.house.jobs:
            await self.house.halt(role)

    async def back(self, role: str) -> None:
        """A service is started again; the gateway not before the main service, which it would wait for."""
        for name in (MAIN, *([GATEWAY] if role == GATEWAY else [])):
            if name not in self.house.jobs:
                await self.house.serve(name)
                await self.house.ready()
        if role == GATEWAY:
            await self.reconnect()

    async def reconnect(self) -> None:
        """Devices and parties are started again: none waits for its line to be tried again."""
        await self.house.close_device()
        await self.house.open_device()
        for party in self.parties.values():
            await party.close()

    async def wrong(self, role: str, by: float) -> None:
        self.house.clocks[role].set = by
        self.excused |= all(self.house.clocks[one].set for one in SERVICES)

    async def pass_time(self, seconds: float) -> None:
        self.excused |= seconds > 1_000.0 and any(self.house.clocks[one].set for one in SERVICES)
        self.hung |= seconds > 1_000.0
        await self.house.pass_time(seconds)

    async def day(self, after: float) -> None:
        """So many seconds into the next epoch."""
        await self.pass_time(self._until(after))

    def _until(self, after: float) -> float:
        now = self.house.clocks["device"].passed + self.house.clocks["device"].at
        return (now // DAY + 1) * DAY + after - now

    def govern(self, which: str, *roles: str) -> None:
        """Operators change the policy from the next epoch on."""
        epoch = int((self.house.clocks["device"].at + self.house.clocks["device"].passed) // DAY)
        for role in roles:
            (self.house.folder / role / "policy.toml").write_text(POLICIES[self._form][which])
            govern(self.house.config(role), epoch)

    def receipts(self) -> list[Presented]:
        return [one for name in ("devices", "parties") for one in read_receipts(self.house.folder / name)]

    async def audit(self, state: bool) -> Report:
        """An honest history accuses nobody, and what is left unchecked has its reason."""
        report = await self.house.audit(state=state, receipts=self.receipts())
        assert report.violations == [], report.violations[:5]
        explained = (*EXPLAINED, HUNG) if self.hung else EXPLAINED
        unexplained = [one for one in report.reasons if not any(word in one.text for word in explained)]
        assert unexplained == [], unexplained
        return report

    async def end(self) -> None:
        """All clocks are right and all services run; an hour later everybody believes that, and another day comes."""
        house = self.house
        house.fuses.clear()
        for clock in house.clocks.values():
            clock.set = 0.0
        await self.back(GATEWAY)
        await house.compare()
        await house.pass_time(3_700.0)
        await self._rest()
        if self.living and not self.excused:
            await self._served(self.living[0])
        await self._come_out()
        await self._read()
        await house.pass_time(self._until(600.0))
        await self._rest()
        for person in sorted(self.told.erased):
            await house.acting(house.rights.exercise(Right.ERASE, person), pumped=True)
        await self._read()
        if self.living:
            await self._served(self.living[0])
        await house.settle()
        await self.audit(state=False)

    async def _come_out(self) -> None:
        """Nobody objects any more, and all ask where people asked before: what waits there, and must not, comes out."""
        for person in self.living:
            if self.told.objects(person) is not Objects.NO:
                await self.object(person, resume=True)
        await self.ask(self.living, "node0")
        await self.house.settle()

    async def _served(self, person: str) -> None:
        try:
            await self.house.acting(self.house.device.ask(person, "last question"))
        except ProxidError as error:
            raise AssertionError(f"{person} is not served: {error}") from error

    async def _read(self) -> None:
        for name in PARTIES:
            await self.receive(name)

    async def _rest(self) -> None:
        await self.house.due()
        for _ in range(2):
            await self.house.compare()
            for name in ("owed", "depart", "close"):
                await self.house.step(name)
            await self.house.settle()


def _shown(record: Any) -> Shown:
    body = record.body
    return Shown(record.user, record.fidelity == "user_id", "/".join(body.path), body.text)
