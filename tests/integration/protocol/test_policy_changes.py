"""A policy changes (DESIGN 7, 10.4): parties come and go, k is raised; nobody is convicted, and nothing is weakened.

Services take over what files say when they start, which here is done beside them: they look at their documents
whenever an epoch begins.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import read_receipts
from auditor.findings import Verdict
from proxid.cli.main import main
from proxid.errors import Code
from proxid.runtime.config.terms import document_of
from proxid.runtime.observability.metrics import BEHIND
from proxid.runtime.provision.policies import PolicyFolder
from proxid.runtime.store import connect
from tests.support.days import DAY, ROLES, SERVICES, Days, days, texts
from tests.support.lies import GATEWAY, MAIN
from tests.support.trial import PARTIES, PEOPLE


@pytest.fixture
async def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Days]:
    async with days(tmp_path, monkeypatch) as trial:
        yield trial


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


async def test_a_party_leaves_while_entries_and_contents_wait_for_it_and_an_honest_audit_is_clean(trial: Days) -> None:
    await trial.busy(1)
    going_on = [await trial.audit(state=True)]
    for parties in (PARTIES, ["acme"]):
        trial.says(parties, 2, form="split", level=2, bucket="1 d")
        trial.accept()
        trial.take_over()
        assert await trial.next_day() is None
        if parties != PARTIES:
            await trial.dropped("globex")
        await trial.consent()
        for node in ("news", "travel", "health"):
            await trial.ask(f"{node} of {len(parties)}")
        await trial.settle()
        await trial.receive("acme")  # Globex does not read its feed any more
        going_on.append(await trial.audit(state=True))
    anew = await trial.audit()
    for report in (*going_on, anew):
        assert (report.verdict, texts(report)) == (Verdict.CLEAN, [])
    assert anew.counts["dropped.party_left"] >= 2


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
    await trial.dropped("globex")  # before anybody consents anew: that takes back what Globex had, and drops it too
    await trial.consent()
    assert await trial.bundles() == ["acme"]
    await trial.ask("node2 question")
    await trial.settle()
    await trial.receive("acme")
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


async def test_what_an_unknown_policy_lets_clocks_differ_by_convicts_nobody(trial: Days) -> None:
    """A person's clock is a quarter of an hour off, as the new policy allows, which the auditor has not accepted."""
    for role in SERVICES:
        path = trial.folder / role / "policy.toml"
        path.write_text(f"clock_skew = 1200\n{path.read_text()}")
    trial.take_over()
    assert await trial.next_day() is None
    for off in (-1_100.0, 1_100.0):
        trial.clocks["device"].set = off
        await trial.busy(1)
    for state in (False, True):
        report = await trial.audit(state=state)
        assert (report.verdict, texts(report)) == (Verdict.UNCHECKED, [])
