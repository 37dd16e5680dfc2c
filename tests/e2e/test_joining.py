"""A house of many folders, set up by invitations: as many commands as docs/operations.md says, and real services."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from proxid.cli.main import main
from proxid.runtime.process.child import Child
from tests.support.addresses import free_address
from tests.support.logs import logging_restored

PARTIES = ("acme", "globex", "initech")


class Desk:
    """Somebody at a machine of their own: commands are counted, and run in their folder."""

    commands: ClassVar[Counter[str]] = Counter()

    def __init__(self, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]):
        self.name, self.folder = name, folder / name
        self.folder.mkdir()
        self._monkeypatch, self._capture = monkeypatch, capture

    def __call__(self, *words: object) -> str:
        self.commands[self.name] += 1
        self._capture.readouterr()
        self._monkeypatch.chdir(self.folder)
        status = main([str(word) for word in words])
        out, err = self._capture.readouterr()
        assert status == 0, (self.name, words, err)
        return out

    def send(self, file: str, to: "Desk") -> None:
        """A file travels by hand: one folder never reads another's."""
        (to.folder / Path(file).name).write_bytes((self.folder / file).read_bytes())


@pytest.fixture
def served() -> Iterator[list[Child]]:
    children: list[Child] = []
    with logging_restored():
        yield children
    for child in reversed(children):
        assert child.stop() == 0


def serve(children: list[Child], role: str, folder: Path) -> None:
    variable = f"PROXID_{role.upper().replace('-', '_')}__METRICS_LISTEN"
    arguments = ["serve", role, "--config", str(folder / f"{role}.toml"), "--json"]
    children.append(Child(role, arguments, folder, {variable: "127.0.0.1:0"}))
    children[-1].start()


@pytest.mark.slow
def test_a_house_of_many_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], served: list[Child]
) -> None:
    names = ("operator", "main-service", "auditor", "witness", *PARTIES, "home")
    desks = {name: Desk(name, tmp_path, monkeypatch, capsys) for name in names}
    operator, home = desks["operator"], desks["home"]
    Desk.commands.clear()

    addresses = ("--gateway", free_address(), "--main-service", free_address())
    operator("init", "house", "--only", "ea,gateway", "--parties", ",".join(PARTIES), "--k", 2, *addresses)
    invited = {}
    for who, role in (
        ("main-service",) * 2,
        ("auditor",) * 2,
        ("witness",) * 2,
        (PARTIES, "party"),
        ("home", "device"),
    ):
        several = who if isinstance(who, tuple) else (who,)
        files = operator("invite", role, *several, "--house", "house").split()
        invited.update(dict(zip(several, files, strict=True)))
    said = []
    for name, file in invited.items():
        desk = desks[name]
        operator.send(file, desk)
        users = ("-u", "ann", "-u", "bob") if name == "home" else ()
        done = json.loads(desk("join", Path(file).name, "--into", ".", *users, "--json"))
        desk.send(done["written"][0], operator)
        said += ["--words", done["words"]]
    requests = sorted(path.name for path in operator.folder.glob("*.request"))
    admissions = operator("admit", *requests, "--house", "house", "--since", "2026-01-01", *said).split()
    for name, file in zip(sorted(invited, key=lambda name: Path(invited[name]).name), sorted(admissions), strict=True):
        operator.send(file, desks[name])
        desks[name]("join", Path(file).name, "--into", ".", "--yes")

    operator.commands["operator"] += 1
    serve(served, "main-service", desks["main-service"].folder)
    serve(served, "gateway", operator.folder / "house/gateway")
    for child in served:
        child.wait_ready()
    home("device", "consent", "--config", "device.toml", "-u", "ann", "everything")
    assert operator.commands["operator"] <= 12 and home.commands["home"] <= 3
    assert "4" in home("device", "ask", "--config", "device.toml", "-u", "bob", "what is two plus two")
    for party in PARTIES:
        desks[party]("subscribe", "--config", "party.toml")
    desks["witness"]("witness", "--config", "witness.toml", "--once")
    desks["auditor"]("audit", "--config", "auditor.toml")
