"""`proxid policy`: what is held, what differs, what counts from when, what an auditor accepts."""

import json
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from auditor.config import AuditorConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.cli.main import main
from proxid.errors import ConfigError
from proxid.runtime.config.loading import load
from proxid.runtime.config.terms import document_of
from proxid.runtime.provision.policies import PolicyFolder, govern

TODAY = int(time.time() // 86_400)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trial")
    assert main(["init", str(folder), "--parties", "acme,globex", "--households", "0", "--k", "5"]) == 0
    return folder


@pytest.fixture
def trial(made: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(made, tmp_path / "trial"))


class Terminal:
    """Runs commands in this process."""

    def __init__(self, trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.trial, self._capsys = trial, capsys

    def run(self, role: str, *arguments: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        command, *rest = arguments
        status = main(["policy", command, *rest, "--config", str(self.trial / role / f"{role}.toml")])
        out, err = self._capsys.readouterr()
        return status, out, err

    def object(self, role: str, *arguments: str) -> Any:
        status, out, err = self.run(role, *arguments, "--json")
        assert err == "" and status in (0, 1)
        return json.loads(out)


@pytest.fixture
def terminal(trial: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(trial, capsys)


def changed(trial: Path, old: str, new: str, name: str = "new.toml") -> Path:
    """A policy file that says something else."""
    text = (trial / "gateway" / "policy.toml").read_text()
    assert old in text
    path = trial / name
    path.write_text(text.replace(old, new, 1))
    return path


def test_init_writes_a_policy_that_the_auditor_has_accepted(trial: Path, terminal: Terminal) -> None:
    (row,) = terminal.object("auditor", "show")["policies"]
    config = load(MainServiceConfig, trial / "main-service/main-service.toml")
    assert row["policy"] == document_of(config).digest.hex() and row["state"] == "accepted"
    folder = PolicyFolder(load(AuditorConfig, trial / "auditor/auditor.toml").data_dir)
    assert [digest.hex() for digest in folder.digests()] == [row["policy"]]


def test_a_policy_is_activated_from_an_epoch_to_come(trial: Path, terminal: Terminal) -> None:
    config = load(GatewayConfig, trial / "gateway/gateway.toml")
    govern(config, TODAY)
    new = changed(trial, "k = 5", "k = 7")
    done = terminal.object("gateway", "activate", str(new), "--from", str(TODAY + 2))
    rows = terminal.object("gateway", "show")["policies"]
    assert [(row["state"], row["from"]) for row in rows] == [("in force", 0), ("coming", TODAY + 2)]
    assert rows[1]["policy"] == done["policy"]
    held = govern(config, TODAY)
    assert [d.hex() for d in held.usable(TODAY + 1)] == [rows[0]["policy"]]
    assert [d.hex() for d in held.usable(TODAY + 2)] == [rows[1]["policy"], rows[0]["policy"]]
    assert held.coming(TODAY) == [(TODAY + 2, bytes.fromhex(done["policy"]))]
    status, out, _ = terminal.run("gateway", "show")
    assert status == 0 and f"coming    from epoch {TODAY + 2}" in out


def test_what_is_activated_before_the_first_start_leaves_todays_policy_in_force(
    trial: Path, terminal: Terminal
) -> None:
    config = load(GatewayConfig, trial / "gateway/gateway.toml")
    done = terminal.object("gateway", "activate", str(changed(trial, "k = 5", "k = 7")))
    held = govern(config, TODAY)
    assert held.in_force(TODAY).digest == document_of(config).digest
    assert held.coming(TODAY) == [(TODAY + 1, bytes.fromhex(done["policy"]))]


def test_of_two_activated_for_one_epoch_the_later_one_counts(trial: Path, terminal: Terminal) -> None:
    held = govern(load(GatewayConfig, trial / "gateway/gateway.toml"), TODAY)
    first, second = (changed(trial, "k = 5", f"k = {k}", f"{k}.toml") for k in (7, 9))
    for path in (first, second):
        terminal.object("gateway", "activate", str(path))
    states = [row["state"] for row in terminal.object("gateway", "show")["policies"]]
    assert states == ["in force", "overruled", "coming"]
    assert held.terms(held.usable(TODAY + 1)[0]).settings.k == 9


def test_what_an_epoch_was_opened_under_is_not_gone_back_behind(trial: Path, terminal: Terminal) -> None:
    config = load(GatewayConfig, trial / "gateway/gateway.toml")
    held = govern(config, TODAY)
    (first,) = held.usable(TODAY)
    second = bytes.fromhex(terminal.object("gateway", "activate", str(changed(trial, "k = 5", "k = 7")))["policy"])
    assert held.usable(TODAY + 1) == [second, first]  # the other side may lag
    held.folder.go_by(TODAY + 1, second)
    held.folder.go_by(TODAY, first)
    assert held.usable(TODAY + 1) == [second, first] and held.usable(TODAY + 2) == [second]
    held.folder.activate(first, TODAY + 3)  # for good reasons
    assert held.usable(TODAY + 2) == [second] and held.usable(TODAY + 3) == [first, second]


@pytest.mark.parametrize(
    ("role", "arguments", "why"),
    [
        ("gateway", ["--from", str(TODAY)], "an epoch to come"),
        ("auditor", [], "an auditor accepts"),
    ],
)
def test_what_cannot_be_activated_is_said(
    trial: Path, terminal: Terminal, role: str, arguments: list[str], why: str
) -> None:
    status, _, err = terminal.run(role, "activate", str(trial / "gateway/policy.toml"), *arguments)
    assert status == 2 and why in err


@pytest.mark.parametrize("role", ["gateway", "main-service"])
def test_a_party_without_keys_here_is_neither_activated_nor_started_with(
    trial: Path, terminal: Terminal, role: str
) -> None:
    new = changed(trial, '"globex",', '"globex", "hooli", "initech",')
    status, _, err = terminal.run(role, "activate", str(new))
    said = "trust.parties lacks the keys of hooli, initech: import the public.toml of each first"
    assert status == 2 and said in err and "proxid init --into" in err
    assert terminal.object(role, "show")["policies"] == []
    (trial / role / "policy.toml").write_text(new.read_text())
    kind = GatewayConfig if role == "gateway" else MainServiceConfig
    with pytest.raises(ConfigError, match="lacks the keys of hooli, initech"):
        load(kind, trial / role / f"{role}.toml")


def test_a_document_that_is_held_without_its_parties_keys_is_not_gone_by(trial: Path, terminal: Terminal) -> None:
    config = load(GatewayConfig, trial / "gateway/gateway.toml")
    new = changed(trial, "k = 5", "k = 7")
    govern(config, TODAY, config.trust.parties)
    terminal.object("gateway", "activate", str(new))
    with pytest.raises(ConfigError, match=r"can be used: trust\.parties lacks globex"):
        govern(config, TODAY, {"acme"})


def test_the_same_document_twice_is_one_activation(trial: Path, terminal: Terminal) -> None:
    config = load(GatewayConfig, trial / "gateway/gateway.toml")
    folder = govern(config, TODAY).folder
    seven, nine = (changed(trial, "k = 5", f"k = {k}", f"{k}.toml") for k in (7, 9))
    for _ in range(2):
        assert terminal.object("gateway", "activate", str(seven), "--from", str(TODAY + 2))["from"] == TODAY + 2
    assert [row["state"] for row in terminal.object("gateway", "show")["policies"]] == ["in force", "coming"]
    # It counts already by then.
    assert terminal.object("gateway", "activate", str(seven), "--from", str(TODAY + 5))["from"] == TODAY + 2
    status, out, _ = terminal.run("gateway", "activate", str(seven), "--from", str(TODAY + 5))
    assert status == 0 and f"counts already from epoch {TODAY + 2}" in out
    # Another one in between: now it says something.
    terminal.object("gateway", "activate", str(nine), "--from", str(TODAY + 3))
    assert terminal.object("gateway", "activate", str(seven), "--from", str(TODAY + 5))["from"] == TODAY + 5
    rows = terminal.object("gateway", "show")["policies"]
    assert [row["state"] for row in rows] == ["in force", "coming", "coming", "coming"]
    # A folder in which it was written twice, before this was looked at.
    with (folder.folder / "activations").open("a") as file:
        file.write(f"{TODAY + 5} {rows[-1]['policy']}\n")
    assert terminal.object("gateway", "show")["policies"] == rows


def test_a_file_brings_nothing_forward_that_is_to_count_later(trial: Path, terminal: Terminal) -> None:
    path = trial / "gateway/gateway.toml"
    govern(load(GatewayConfig, path), TODAY)
    seven, nine = (changed(trial, "k = 5", f"k = {k}", f"{k}.toml") for k in (7, 9))
    terminal.object("gateway", "activate", str(seven), "--from", str(TODAY + 4))
    terminal.object("gateway", "activate", str(nine), "--from", str(TODAY + 9))
    rows = terminal.object("gateway", "show")["policies"]
    for file in (seven, nine):
        (trial / "gateway/policy.toml").write_text(file.read_text())
        govern(load(GatewayConfig, path), TODAY)
        assert terminal.object("gateway", "show")["policies"] == rows


def test_an_older_policy_that_a_file_says_again_is_told_of(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, file = trial / "gateway/gateway.toml", trial / "gateway/policy.toml"
    first = govern(load(GatewayConfig, path), TODAY).in_force(TODAY).digest.hex()
    text = file.read_text()
    file.write_text(text.replace("k = 5", "k = 7"))
    govern(load(GatewayConfig, path), TODAY)
    capsys.readouterr()
    file.write_text(text)
    govern(load(GatewayConfig, path), TODAY + 1)
    said = "".join(capsys.readouterr())  # where the log goes is settled by whoever set it up first
    assert "older policy counts again" in said and first in said and str(TODAY + 2) in said
    govern(load(GatewayConfig, path), TODAY + 1)
    assert "older policy counts again" not in "".join(capsys.readouterr())


def test_the_length_of_epochs_never_changes(trial: Path, terminal: Terminal) -> None:
    config = load(GatewayConfig, trial / "gateway/gateway.toml")
    govern(config, TODAY)
    new = changed(trial, "epoch_seconds = 86400", "epoch_seconds = 43200")
    status, _, err = terminal.run("gateway", "activate", str(new))
    assert status == 2 and "epoch_seconds" in err
    (trial / "gateway/policy.toml").write_text(new.read_text())
    with pytest.raises(ConfigError, match="epoch_seconds"):
        govern(load(GatewayConfig, trial / "gateway/gateway.toml"), TODAY)


def test_differences_are_named(trial: Path, terminal: Terminal) -> None:
    new = changed(trial, "k = 5", "k = 7")
    old = str(trial / "gateway/policy.toml")
    status, out, _ = terminal.run("gateway", "diff", old, str(new))
    assert (status, out) == (1, "settings.anonymiser.k: 5 -> 7\n")
    assert terminal.object("gateway", "diff", old, str(new))["differences"] == [
        {"name": "settings.anonymiser.k", "old": 5, "new": 7}
    ]
    assert terminal.run("gateway", "diff", old, old)[:2] == (0, "")


def test_an_auditor_accepts_a_text_and_nothing_below_its_floors(trial: Path, terminal: Terminal) -> None:
    govern(load(GatewayConfig, trial / "gateway/gateway.toml"), TODAY)
    higher, lower = changed(trial, "k = 5", "k = 7", "7.toml"), changed(trial, "k = 5", "k = 3", "3.toml")
    done = terminal.object("gateway", "activate", str(higher))
    text = trial / "policy.json"
    text.write_text(terminal.run("gateway", "show", done["policy"][:12])[1])
    found = terminal.object("auditor", "accept", str(text))
    assert found == {"policy": done["policy"], "accepted": True, "below": []}
    assert terminal.object("auditor", "accept", str(lower)) | {"policy": ""} == {
        "policy": "", "accepted": False, "below": ["k"],
    }  # fmt: skip
    status, _, err = terminal.run("auditor", "accept", str(lower))
    assert status == 1 and "floors: k" in err
    held = {row["policy"] for row in terminal.object("auditor", "show")["policies"]}
    assert len(held) == 2 and done["policy"] in held


def test_a_service_accepts_nothing_and_unknown_digests_are_said(trial: Path, terminal: Terminal) -> None:
    assert terminal.run("gateway", "accept")[0] == 2
    status, _, err = terminal.run("gateway", "show", "ffff")
    assert status == 2 and "no policy document" in err


def test_a_changed_file_counts_from_the_next_epoch(trial: Path) -> None:
    path = trial / "gateway/gateway.toml"
    before = govern(load(GatewayConfig, path), TODAY).in_force(TODAY)
    file = trial / "gateway/policy.toml"
    file.write_text(file.read_text().replace("k = 5", "k = 7"))
    held = govern(load(GatewayConfig, path), TODAY)
    assert held.in_force(TODAY) == before and held.in_force(TODAY + 1).settings.k == 7
    assert held.coming(TODAY) == [(TODAY + 1, held.in_force(TODAY + 1).digest)]
    # Started again it is no other change; taken back, the old one counts again.
    assert govern(load(GatewayConfig, path), TODAY).coming(TODAY) == held.coming(TODAY)
    file.write_text(file.read_text().replace("k = 7", "k = 5"))
    assert govern(load(GatewayConfig, path), TODAY).in_force(TODAY + 1) == before


def started(path: Path) -> tuple[list[str], list[str]]:
    """What a worker that starts goes by today and tomorrow."""
    held = govern(load(GatewayConfig, path), TODAY)
    return [d.hex() for d in held.usable(TODAY)], [d.hex() for d in held.usable(TODAY + 1)]


def test_workers_that_start_together_with_a_changed_file_go_by_one_policy(trial: Path) -> None:
    path, file = trial / "gateway/gateway.toml", trial / "gateway/policy.toml"
    with ProcessPoolExecutor(4, get_context("spawn")) as workers:
        assert len({str(found) for found in workers.map(started, [path] * 4)}) == 1
        file.write_text(file.read_text().replace("k = 5", "k = 7"))
        found = list(workers.map(started, [path] * 8))
    today, tomorrow = found[0]
    assert found == [found[0]] * 8 and len(today) == 1 and tomorrow[1:] == today
    lines = (load(GatewayConfig, path).data_dir / "policies/activations").read_text().splitlines()
    assert lines == [f"0 {today[0]}", f"{TODAY + 1} {tomorrow[0]}"]
