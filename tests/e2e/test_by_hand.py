"""The trial of docs/operations.md, command by command, and the exit status of each.

It makes pairs, which leave as soon as enough people have asked: entries would wait for the end of an epoch.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.runtime.process.child import Child
from tests.support.addresses import free_address
from tests.support.logs import logging_restored

PEOPLE = [f"user{i}" for i in range(8)]
TEXTS = ("what is the news today", "who is the president of france", "tell me about the weather")


class Run:
    """Runs a command in this process; what it printed last on stderr is in `err`."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture
        self.err = ""

    def __call__(self, *arguments: object) -> tuple[int, str]:
        self._capture.readouterr()
        status = main([str(argument) for argument in arguments])
        out, self.err = self._capture.readouterr()
        return status, out


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    with logging_restored():
        yield Run(capsys)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("hand") / "trial"
    addresses = ("--gateway", free_address(), "--main-service", free_address())
    assert (
        main(["init", str(folder), "--parties", "acme", "--households", "2", "--k", "2", "--form", "pairs", *addresses])
        == 0
    )
    children = []
    for name in ("main-service", "gateway"):
        variable = f"PROXID_{name.upper().replace('-', '_')}__METRICS_LISTEN"
        arguments = ["serve", name, "--config", str(folder / name / f"{name}.toml"), "--json"]
        children.append(Child(name, arguments, folder, {variable: "127.0.0.1:0"}))
        children[-1].start()
    served = {json.loads(child.wait_ready())["serving"] for child in children}
    assert served == {addresses[1], addresses[3]}
    yield folder
    for child in reversed(children):
        assert child.stop() == 0


def receive(run: Run, party: Path) -> list[dict[str, object]]:
    """A feed until nothing new has come for a while; each call goes on where the last one ended."""
    rows: list[dict[str, object]] = []
    deadline, last = time.monotonic() + 60, time.monotonic()
    while not rows or time.monotonic() - last < 2:
        assert time.monotonic() < deadline
        status, feed = run("subscribe", "--config", party, "--json")
        assert status == 0
        last = time.monotonic() if feed else last
        rows += [json.loads(line) for line in feed.splitlines()]
    return rows


def test_the_trial(trial: Path, run: Run, tmp_path: Path) -> None:
    devices, ea = trial / "devices", trial / "ea"
    log = tmp_path / "log.tsv"
    lines = [f"{user}\t{text}" for text in TEXTS for user in PEOPLE]
    log.write_text("userid\ttext\n" + "\n".join(lines) + "\n")
    enrol = ("device", "enrol", "--config", devices, "--ea", ea, "--users-of", log, "--since", "2026-01-01")
    assert run(*enrol) == (0, "8 enrolled\n")
    assert run(*enrol, "--json") == (0, '{"enrolled": 0, "enrolled_before": 8, "erased": 0}\n')

    device = devices / "household-1/device.toml"
    status, answer = run("device", "ask", "--config", device, "-u", "user0", "what is two plus three", "--json")
    assert status == 0
    assert "5" in json.loads(answer)["answer"] or "five" in json.loads(answer)["answer"]
    status, said = run("device", "consent", "--config", device, "-u", "user0", "everything", "--json")
    found = json.loads(said)
    assert (status, found["user"], found["bundle"], found["version"]) == (0, "user0", "everything", 1)
    assert len(bytes.fromhex(found["policy"])) == 32 and found["until"].endswith("T00:00:00+00:00")

    status, done = run("device", "replay", log, "--config", devices, "--bundle", "everything", "--json")
    assert status == 0
    replayed = json.loads(done)
    assert (replayed["answered"], replayed["consents"]) == (len(lines), len(PEOPLE))

    party = trial / "parties/acme/party.toml"
    rows = receive(run, party)
    assert {row["listed_user"] for row in rows} <= set(PEOPLE)
    status, again = run("subscribe", "--config", party, "--format", "tsv")
    assert (status, again.splitlines()) == (0, ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL\tCategory"])
    status, kept = run("subscribe", "--config", party, "--format", "tsv", "--all")
    assert len(kept.splitlines()) == 1 + len(rows) > 1

    status, profiles = run("profile", "--feed", trial / "parties/acme/data", "--json", "--top", "99")
    found = {user: one["records"] for user, one in json.loads(profiles)["profiles"].items()}
    assert (status, found) == (0, Counter(row["listed_user"] for row in rows))

    status, table = run("subscribe", "--config", party, "--all")
    assert status == 0
    assert "time (UTC)" in table and re.search(r"20\d\d-\d\d-\d\d \d\d:\d\dZ", table)

    receipts = ("--receipts", trial / "parties", "--receipts", devices)
    assert run("witness", "--config", trial / "witness/witness.toml", "--once")[0] == 0
    status, report = run("audit", "--config", trial / "auditor/auditor.toml", *receipts, "--json")
    assert (status, json.loads(report)["violations"]) == (0, [])
    acknowledged = (trial / "parties/acme/data/acknowledgements.jsonl").read_text().count("\n")
    assert json.loads(report)["checked"]["9"] > acknowledged > 0


def test_withdrawal_holds(trial: Path, run: Run) -> None:
    device = trial / "devices/household-1/device.toml"
    assert run("device", "enrol", "--config", device, "--ea", trial / "ea", "-u", "zoe")[0] == 0
    for bundle in ("searches", "nothing"):
        assert run("device", "consent", "--config", device, "-u", "zoe", bundle)[0] == 0
    receipts = (trial / "devices/household-1/data/receipts.jsonl").read_text().splitlines()
    assert sum(json.loads(line)["kind"] == "consent" for line in receipts) >= 2


def test_replay_says_what_it_left_out(trial: Path, run: Run, tmp_path: Path) -> None:
    device, log = trial / "devices/household-1/device.toml", tmp_path / "log.jsonl"
    assert run("device", "enrol", "--config", device, "--ea", trial / "ea", "-u", "rex")[0] == 0
    people = ["rex", "zebulon", "zebulon", "rex", "quux", "rex", "zebulon"]
    log.write_text("".join(json.dumps({"user": user, "text": f"hello {i}"}) + "\n" for i, user in enumerate(people)))
    status, said = run("device", "replay", log, "--config", device, "--json")
    done = json.loads(said)
    assert (status, done["answered"]) == (1, 3)
    assert (done["unknown_people"], done["unsent"], done["unsent_lines"]) == (2, 4, "2-3, 5, 7")
    assert "2-3, 5, 7" in run("device", "replay", log, "--config", device)[1]


def test_erased_name_is_not_enrolled_again(trial: Path, run: Run) -> None:
    device = trial / "devices/household-1/device.toml"
    enrol = ("device", "enrol", "--config", device, "--ea", trial / "ea", "-u", "gone", "-u", "stays")
    assert run(*enrol) == (0, "2 enrolled\n")
    assert run("device", "ask", "--config", device, "-u", "gone", "hello")[0] == 0
    assert run("device", "rights", "erase", "--config", device, "-u", "gone", "--yes")[0] == 0
    said = "0 enrolled, 1 enrolled before, 1 erased: an erased name cannot be enrolled again\n"
    assert run(*enrol) == (1, said)
    assert run("device", "ask", "--config", device, "-u", "gone", "hello")[0] == 2
    assert "erased" in run.err


def test_enrolment_by_files(trial: Path, run: Run, tmp_path: Path) -> None:
    device, ea = trial / "devices/household-2/device.toml", trial / "ea"
    request, answer = tmp_path / "ann.json", tmp_path / "ann.enrolled"
    assert run("device", "enrol", "--config", device, "-u", "ann", "--request", request) == (0, "1 requested\n")
    assert run("device", "enrol", "--ea", ea, "--sign", request, "--answer", answer) == (0, "1 signed\n")
    assert run("device", "enrol", "--config", device, "--answer", answer) == (0, "1 enrolled\n")
    assert run("device", "ask", "--config", device, "-u", "ann", "hello")[0] == 0


def test_a_person_gets_a_new_key_in_the_folder_that_they_have(trial: Path, run: Run, tmp_path: Path) -> None:
    device, ea, since = trial / "devices/household-2/device.toml", trial / "ea", ("--since", "2026-01-01")
    at_home, request, answer = ("--config", device, "-u", "kim"), tmp_path / "kim.json", tmp_path / "kim.enrolled"
    assert run("device", "enrol", *at_home, "--ea", ea, *since)[0] == 0
    assert run("device", "consent", *at_home, "everything", "--until-withdrawn")[0] == 0
    # Somebody may have it: revoked at the authority, and then at the gateway.
    revoked = tmp_path / "kim.revoked"
    assert run("device", "enrol", "--ea", ea, "--revoke", "-u", "kim", "--answer", revoked) == (0, "1 revoked\n")
    assert run("init", "--into", trial / "gateway", "--import", revoked)[0] == 0
    deadline = time.monotonic() + 30
    while run("device", "ask", *at_home, "hello")[0] == 0:
        assert time.monotonic() < deadline
    assert "not_registered" in run.err
    # A new one, by files as the first, or with the authority at hand.
    assert run("device", "enrol", *at_home, "--new-key", "--request", request) == (0, "1 requested\n")
    assert run("device", "enrol", "--ea", ea, "--sign", request, *since, "--answer", answer)[0] == 2
    assert "name_alike" in run.err
    signed = run("device", "enrol", "--ea", ea, "--sign", request, "--alike", *since, "--answer", answer)
    assert signed == (0, "1 signed\n")
    assert run("device", "enrol", "--config", device, "--answer", answer) == (0, "1 enrolled\n")
    assert run("device", "ask", *at_home, "hello")[0] == 0
    status, said = run("device", "consent", *at_home, "--json")
    assert (status, json.loads(said)["bundle"]) == (0, "everything")  # what was chosen until it is withdrawn
    assert run("device", "enrol", *at_home, "--new-key", "--ea", ea, *since) == (0, "1 enrolled\n")
    assert run("device", "enrol", "--config", device, "-u", "nobody", "--new-key", "--ea", ea)[0] == 2
    assert "nobody of that name" in run.err
    assert run("witness", "--config", trial / "witness/witness.toml", "--once")[0] == 0
    status, report = run("audit", "--config", trial / "auditor/auditor.toml", "--fresh", "--json")
    assert (status, json.loads(report)["violations"]) == (0, [])


def test_what_cannot_be_done_is_status_2_and_quotes_nothing(trial: Path, run: Run, tmp_path: Path) -> None:
    device = trial / "devices/household-1/device.toml"
    (tmp_path / "bad.jsonl").write_text('{"user": "zebulon quux"')
    for arguments in (
        ("device", "ask", "--config", device, "-u", "zebulon quux", "x"),
        ("device", "consent", "--config", device, "-u", "user0", "zebulon-bundle"),
        ("device", "replay", tmp_path / "bad.jsonl", "--config", device),
        ("device", "ask", "--config", device, "-u", "user0", "zebulon " * 4000),
        ("device", "enrol", "--config", device, "--ea", trial / "ea"),
        ("subscribe", "--config", trial / "gateway/gateway.toml"),
    ):
        assert run(*arguments)[0] == 2
        assert "zebulon" not in run.err
