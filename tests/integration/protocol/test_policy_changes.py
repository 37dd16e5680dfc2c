"""A policy changes (DESIGN 7, 10.4): parties come and go, k is raised; nobody is convicted, and nothing is weakened.

Services take over what files say when they start, which here is done beside them: they look at their documents
whenever an epoch begins.
"""

import asyncio
import dataclasses
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import gateway.server
import main_service.server
from auditor.checks.c9_receipts import read_receipts
from auditor.findings import Report, Verdict
from gateway.epochs import OpenEpochs
from gateway.upstream import MainServiceClient
from main_service.epochs import EpochKeys
from proxid.cli.main import main
from proxid.crypto.identity import EpochKey
from proxid.errors import Code, ConfigError, RefusedError
from proxid.evidence.events import EpochOpened, EventType
from proxid.runtime.config.terms import document_of
from proxid.runtime.observability.metrics import BEHIND
from proxid.runtime.provision.policies import PolicyFolder, govern
from proxid.runtime.provision.templates import Settings, render_policy
from proxid.runtime.store import connect
from tests.support.lies import GATEWAY, MAIN, Liar
from tests.support.trial import PARTIES, PEOPLE, Trial, running

DAY = 86_400
ROLES = ("gateway", "main-service", "auditor")
SERVICES = ("main-service", "gateway")
CLOCKS = {Code.CLOCK_DOUBTED, Code.UPSTREAM_CLOCK_DOUBTED}


class Days(Trial):
    """A trial whose days pass when a test says so."""

    @property
    def epoch(self) -> int:
        return int(self.clocks["gateway"].wall() // DAY)

    async def next_day(self) -> Code | None:
        """An hour into the next day; nothing is started again. Why nobody is linked then, if nobody is."""
        self.leap(3600.0)
        return await self.linked()

    async def linked(self) -> Code | None:
        """Until somebody is linked; why nobody is."""
        async with asyncio.timeout(20):
            while True:
                try:
                    if (await self.device.session("person-0")).route.epoch == self.epoch:
                        return None
                except RefusedError as error:
                    if error.remote not in CLOCKS:  # each side first hears of the other that time has passed
                        return error.remote
                await asyncio.sleep(0.05)

    def says(self, parties: Sequence[str], k: int, *roles: str, **anonymiser: Any) -> None:
        """Policy files that say something else from now on."""
        text = render_policy(tuple(parties), Settings(anonymiser={"k": k, "min_text_users": 1, **anonymiser}))
        for role in roles or ROLES:
            (self.folder / role / "policy.toml").write_text(text)

    def accept(self) -> None:
        """The auditor accepts what its configuration says."""
        assert main(["policy", "accept", "--config", str(self.folder / "auditor/auditor.toml")]) == 0

    def take_over(self, *roles: str) -> None:
        """What services take over when they start: what their files say counts from the next epoch."""
        for role in roles or SERVICES:
            govern(self.config(role), self.epoch)

    async def dropped(self, party: str) -> None:
        """Until nothing waits for a party any more."""
        client = connect(self.url("gateway"))
        async with asyncio.timeout(20):
            while await client.zcard(f"{{gw}}:o:{party}"):  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.05)
        await client.aclose()

    async def bundles(self) -> list[str]:
        """Parties that a person's choice of everything grants something to."""
        session = await self.device.session("person-0")
        document = await self.device._policies.of(session.route.policy)
        return [grant.party for grant in document.bundles["everything"]]


@pytest.fixture
async def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Days]:
    monkeypatch.setattr("gateway.timekeeping.PAUSE", 0.2)  # nobody waits ten seconds for a word of the time
    async with running(tmp_path, Days) as trial:
        trial.accept()
        yield trial


def texts(report: Report) -> list[str]:
    return [violation.text for violation in report.violations]


async def test_the_form_changes_and_changes_back_and_an_honest_audit_is_clean(trial: Days) -> None:
    """Each epoch in the form of its own document: pairs, then entries and contents, then pairs."""
    await trial.busy(1)
    going_on, got = [await trial.audit(state=True)], []
    for form in ("split", "pairs"):
        trial.says(PARTIES, 2, form=form, level=2, bucket="1 d")
        trial.accept()
        trial.take_over()
        assert await trial.next_day() is None
        await trial.consent()
        for node in ("news", "travel", "health"):
            await trial.ask(f"{node} of {form}")
        await trial.settle()
        got += (await trial.receive("acme"))["acme"]
        going_on.append(await trial.audit(state=True))
    anew = await trial.audit()
    for report in (*going_on, anew):
        assert (report.verdict, texts(report)) == (Verdict.CLEAN, [])
    assert [len(group.contents.rows) > 0 for group in got if group.contents is not None] == [True]
    assert {record.body.mechanism.mode for group in got for record in group.records} == {"mix", "split"}
    assert anew.counts["entries"] == 3 * len(PEOPLE)


async def test_parties_leave_and_join_and_k_is_raised_and_an_honest_audit_is_clean(trial: Days) -> None:
    await trial.busy(1)
    assert await trial.bundles() == ["acme", "globex"]
    going_on = [await trial.audit(state=True)]
    # Globex is to leave tomorrow: what waits for it then is dropped.
    trial.says(["acme"], 2)
    trial.accept()
    trial.take_over()
    await trial.ask("node1 another question")
    await trial.settle()  # in Globex's feed, which it does not read any more
    assert await trial.bundles() == ["acme", "globex"]
    assert await trial.next_day() is None
    await trial.consent()
    assert await trial.bundles() == ["acme"]
    await trial.ask("node2 question")
    await trial.settle()
    await trial.receive("acme")
    await trial.dropped("globex")
    going_on.append(await trial.audit(state=True))
    # Globex comes back, and k is raised.
    trial.says(PARTIES, 4)
    trial.accept()
    trial.take_over()
    assert await trial.next_day() is None
    await trial.consent()
    assert await trial.bundles() == ["acme", "globex"]
    await trial.ask("node3 question")
    await trial.settle()
    await trial.receive()
    going_on.append(await trial.audit(state=True))
    anew = await trial.audit()
    for report in (*going_on, anew):
        assert (report.verdict, texts(report)) == (Verdict.CLEAN, [])
    assert anew.counts["dropped.party_left"] >= 1 and anew.counts["group.size.general.06"] >= 1
    assert [(row.standing, row.k) for row in anew.scope.policies] == [("accepted", k) for k in (2, 2, 4)]
    assert anew.scope.policies == going_on[-1].scope.policies


async def test_a_gateway_that_starts_a_day_behind_drops_nothing_for_a_party_that_joined_today(trial: Days) -> None:
    trial.says(["acme"], 2)
    trial.accept()
    trial.take_over()
    assert await trial.next_day() is None
    trial.says(PARTIES, 2)
    trial.take_over()
    assert await trial.next_day() is None
    await trial.consent()
    await trial.ask("node1 question")
    await trial.settle()
    client = connect(trial.url("gateway"))
    waiting = await client.zcard("{gw}:o:globex")
    assert waiting
    await trial.halt("gateway")
    trial.clocks["gateway"].set -= DAY
    await trial.serve("gateway")
    await asyncio.sleep(2.5)  # it looks for parties that left each second
    assert await client.zcard("{gw}:o:globex") == waiting
    await client.aclose()
    trial.clocks["gateway"].set += DAY
    assert await trial.linked() is None
    await trial.receive()
    report = await trial.audit()
    assert (report.verdict, texts(report)) == (Verdict.CLEAN, [])


@pytest.mark.parametrize("behind", SERVICES)
async def test_a_service_that_lags_keeps_the_old_policy_and_both_say_so(trial: Days, behind: str) -> None:
    ahead = next(role for role in SERVICES if role != behind)
    trial.says(PARTIES, 5, ahead, "auditor")
    trial.accept()
    trial.take_over(ahead)
    old = document_of(trial.config(behind)).digest
    assert await trial.next_day() is None
    await trial.busy(1)
    session = await trial.device.session("person-0")
    assert session.route.policy == old
    found = {role: BEHIND.labels(role)._value.get() for role in SERVICES}
    assert found == {behind: 1, ahead: 0}
    assert (await trial.audit()).verdict is Verdict.CLEAN


async def test_a_changed_skew_and_grace_convict_nobody_whoever_was_started_again(trial: Days) -> None:
    for skew, grace, again in ((30, 4000, MAIN), (900, 0, GATEWAY), (30, 300, None)):
        await trial.busy(1)
        for role in ROLES:
            path = trial.folder / role / "policy.toml"
            text = re.sub(r"^(clock_skew|epoch_grace) = .*\n", "", path.read_text(), flags=re.M)
            path.write_text(f"clock_skew = {skew}\nepoch_grace = {grace}\n{text}")
        trial.accept()
        trial.take_over()
        if again is not None:
            await trial.halt(again)
            await trial.serve(again)
        assert await trial.next_day() is None
        assert (await trial.device._policies.of((await trial.device.session("person-0")).route.policy)).settings[
            "clock_skew"
        ] == skew
        await trial.busy(1)
        report = await trial.audit(state=True)
        assert (report.verdict, texts(report)) == (Verdict.CLEAN, [])
    assert (await trial.audit()).verdict is Verdict.CLEAN


async def test_without_a_common_policy_nothing_is_served(trial: Days) -> None:
    folder = PolicyFolder(trial.config("gateway").data_dir)
    # The gateway forgot the old document and holds a new one alone.
    for path in folder.folder.glob("*"):
        path.unlink()
    trial.says(PARTIES, 5, "gateway")
    trial.take_over("gateway")
    assert await trial.next_day() is Code.NO_COMMON_POLICY
    folder.add(
        PolicyFolder(trial.config("main-service").data_dir).find(document_of(trial.config("auditor")).digest.hex())
    )
    folder.activate(document_of(trial.config("auditor")).digest, 0)
    assert await trial.linked() is None
    await trial.busy(1)  # without a restart
    assert (await trial.audit()).verdict is Verdict.CLEAN


async def test_what_the_auditor_has_not_accepted_is_unchecked_and_stays_so(
    trial: Days, capfd: pytest.CaptureFixture[str]
) -> None:
    await trial.busy(1)
    trial.says(PARTIES, 4, *SERVICES)
    trial.take_over()
    assert await trial.next_day() is None
    await trial.busy(1)
    report = await trial.audit(state=True)
    assert (report.verdict, texts(report)) == (Verdict.UNCHECKED, [])
    (reason,) = report.missing
    assert f"epoch {trial.epoch} went by policy" in reason.text and "has not accepted" in reason.text
    # What it says to run.
    shown = re.search(r"`proxid (policy show \w+) > policy.json` at a service, `proxid (policy accept) ", reason.text)
    assert shown is not None
    capfd.readouterr()
    assert main([*shown[1].split(), "--config", str(trial.folder / "gateway/gateway.toml")]) == 0
    file = trial.folder / "policy.json"
    file.write_text(capfd.readouterr().out)
    assert main([*shown[2].split(), str(file), "--config", str(trial.folder / "auditor/auditor.toml")]) == 0
    await trial.ask("node7 question")
    await trial.settle()
    report = await trial.audit(state=True)
    assert (report.verdict, texts(report)) == (Verdict.UNCHECKED, [])
    assert (await trial.audit()).verdict is Verdict.CLEAN


async def test_an_auditor_without_the_keys_of_a_party_convicts_nobody_and_says_what_it_lacks(trial: Days) -> None:
    await trial.busy(1)
    path = trial.folder / "auditor/trust.toml"
    whole = path.read_text()
    head, _, rest = whole.partition("[parties.globex]")
    path.write_text(f"{head}[[servers]]{rest.partition('[[servers]]')[2]}")
    receipts = [item for role in ("devices", "parties") for item in read_receipts(trial.folder / role)]
    report = await trial.audit(receipts=receipts)
    assert (report.verdict, texts(report)) == (Verdict.UNCHECKED, [])
    (reason,) = report.missing
    assert "lacks the keys of a party" in reason.text and "import them" in reason.text
    path.write_text(whole)
    assert (await trial.audit(receipts=receipts)).verdict is Verdict.CLEAN


async def test_a_policy_below_the_floors_is_a_violation_whoever_accepted_it(trial: Days) -> None:
    path = trial.folder / "auditor/auditor.toml"
    path.write_text(path.read_text().replace("k = 2", "k = 5"))
    assert main(["policy", "accept", "--config", str(path)]) == 1
    await trial.busy(1)
    assert any("below the auditor's floors (k)" in text for text in texts(await trial.audit()))


def renamed(key: bytes, signer: Any, **changes: Any) -> bytes:
    return dataclasses.replace(EpochKey.decode(key), **changes).issue(signer).encode()


async def test_a_service_that_logs_another_policy_than_it_signed_is_convicted(
    trial: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = Liar(trial, monkeypatch)
    signer = main_service.server.service_of(trial.config("main-service")).key

    def other(event: Any) -> Any:
        opened = EpochOpened.decode(event.payload)
        told = EpochOpened(renamed(opened.key, signer, policy=bytes(32)), opened.sealed)
        return dataclasses.replace(event, fields=told.header, payload=told.payload)

    liar.changes(MAIN, EventType.EPOCH_OPENED, other)
    assert await trial.next_day() is None
    await trial.busy(1)
    report = await trial.audit()
    assert any("another key or policy than the gateway was given" in text for text in texts(report))


async def test_a_gateway_that_hides_the_key_or_logs_one_of_its_own_is_convicted(
    trial: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = Liar(trial, monkeypatch)
    liar.drops(GATEWAY, EventType.EPOCH_OPENED)
    assert await trial.next_day() is None
    await trial.busy(1)
    assert any("does not hold its key" in text for text in texts(await trial.audit()))


async def test_a_gateway_cannot_make_a_key_of_its_own(trial: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    liar = Liar(trial, monkeypatch)
    signer = gateway.server.screener_of(trial.config("gateway")).key

    def own(event: Any) -> Any:
        made = EpochOpened(renamed(EpochOpened.decode(event.payload).key, signer, policy=bytes(32)))
        return dataclasses.replace(event, fields=made.header, payload=made.payload)

    liar.changes(GATEWAY, EventType.EPOCH_OPENED, own)
    assert await trial.next_day() is None
    await trial.busy(1)
    assert 5 in {violation.rule for violation in (await trial.audit()).violations}


async def test_an_epoch_opened_under_a_document_that_nobody_else_knows_is_not_served(
    trial: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A main service that signs whatever it likes: the gateway takes no key of a document that does not count there."""
    trial.says(PARTIES, 3, "main-service")
    folder = PolicyFolder(trial.config("main-service").data_dir)
    document = document_of(trial.config("main-service"))
    folder.add(document)
    monkeypatch.setattr(EpochKeys, "_chosen", lambda *_: document.digest)
    monkeypatch.setattr(EpochKeys, "_tell", lambda *_: None)
    assert await trial.next_day() is Code.NO_COMMON_POLICY


@pytest.mark.parametrize("liar", SERVICES)
async def test_neither_service_goes_back_to_a_policy_that_both_had_left(
    trial: Days, monkeypatch: pytest.MonkeyPatch, liar: str
) -> None:
    """Whoever opened an epoch under the newer one holds it: it cannot say that it lags."""
    old = document_of(trial.config("gateway")).digest
    trial.says(PARTIES, 4)
    trial.accept()
    trial.take_over()
    assert await trial.next_day() is None
    if liar == "main-service":
        monkeypatch.setattr(EpochKeys, "_chosen", lambda *_: old)
        monkeypatch.setattr(EpochKeys, "_tell", lambda *_: None)
    else:
        honest = MainServiceClient.epoch
        monkeypatch.setattr(MainServiceClient, "epoch", lambda self, opening, held: honest(self, opening, [old]))
    assert await trial.next_day() is Code.NO_COMMON_POLICY


async def test_a_gateway_that_drops_for_a_party_that_is_here_is_convicted(
    trial: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = OpenEpochs.latest

    async def without(self: OpenEpochs) -> Any:
        found = await honest(self)
        document = dataclasses.replace(found.document, parties=PARTIES[:1]) if found else None
        return None if found is None else dataclasses.replace(found, document=document)

    monkeypatch.setattr(OpenEpochs, "latest", without)
    await trial.consent()
    await trial.ask("node1 question")
    await trial.settle()
    assert any("a party that has not left" in text for text in texts(await trial.audit()))


async def test_a_policy_that_demands_another_pipeline_does_not_start(trial: Days) -> None:
    for role in ROLES:
        path = trial.folder / role / "policy.toml"
        path.write_text(f"pipeline = 'another-2'\n{path.read_text()}")
    trial.take_over()
    assert await trial.next_day() is None
    await trial.halt(MAIN)
    with pytest.raises(ConfigError, match="pipeline"):
        await trial.serve(MAIN)
