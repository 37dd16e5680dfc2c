"""A party gets all kinds of a person under one name (DESIGN 7, 9); epochs of older documents name as they say."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Verdict
from proxid.protocol.policy import PolicyDocument
from proxid.runtime.config.terms import document_of
from proxid.runtime.provision.policies import PolicyFolder
from tests.support.commands import SHORT_SLOTS, CommandTrial
from tests.support.days import DAY, ROLES, SERVICES, Days, texts
from tests.support.trial import PEOPLE, running

NAMED, HIDDEN = PEOPLE[:4], PEOPLE[4:]


class Upgraded(Days, CommandTrial):
    """Services that have run until now under a document in which places and commands come under an alias of the day."""

    async def start(self, stack: AsyncExitStack) -> None:
        for role in ROLES:
            config = self.config(role)
            now = document_of(config)
            before = PolicyDocument(now.parties, now.bundles, {**now.settings, "alias_period": 30 * DAY})
            folder = PolicyFolder(config.data_dir)
            folder.add(before)
            if role in SERVICES:
                folder.activate(before.digest, 0)
        await super().start(stack)

    async def day(self) -> dict[tuple[str, str], set[str]]:
        """People consent, ask and command; the names that a party gets, by audience and kind."""
        await self.consent("everything", NAMED)
        await self.consent("aliased", HIDDEN)
        await self.ask("news question")
        await self.commands(await self.made() + 4)
        await self.slots_over()
        names: dict[tuple[str, str], set[str]] = {}
        for group in (await self.receive())["acme"]:
            for record in group.records:
                names.setdefault((record.body.audience, record.body.kind), set()).add(record.user)
        return names


def by_kind(names: dict[tuple[str, str], set[str]], kind: str) -> list[set[str]]:
    """Of the two audiences, who are named first."""
    found = [people for (_, said), people in names.items() if said == kind]
    return sorted(found, key=lambda people: not people & set(PEOPLE))


def all_aliases(names: set[str]) -> bool:
    return all(name.startswith("al1") for name in names)


async def test_one_name_for_all_kinds_and_consents_of_an_older_policy_stay_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.timekeeping.PAUSE", 0.2)
    options: dict[str, Any] = {"anonymiser": SHORT_SLOTS}
    async with running(tmp_path, Upgraded, **options) as trial:
        assert isinstance(trial, Upgraded)
        trial.accept()
        before = await trial.day()
        first = await trial.audit(state=True)
        assert await trial.next_day() is None
        after = await trial.day()
        reports = [first, await trial.audit(state=True), await trial.audit()]
    for report in reports:
        assert (report.verdict, texts(report)) == (Verdict.CLEAN, [])
    named, hidden = by_kind(before, "general")
    assert named == set(NAMED) and all_aliases(hidden)
    # Two names of one person, at one party: of the day, whatever was granted.
    assert all(all_aliases(people) and not people & hidden for people in by_kind(before, "command"))
    (named, aliases), (commanding, hidden_commanding) = by_kind(after, "general"), by_kind(after, "command")
    assert named == commanding == set(NAMED)
    assert aliases == hidden_commanding and all_aliases(aliases) and len(aliases) == len(HIDDEN)
    assert not aliases & hidden
