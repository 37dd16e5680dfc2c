"""`proxid witness`: what is wrong with one log leaves the other its witness; a damaged memory signs nothing."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from auditor.reading.source import Heads
from auditor.witness import Witness
from proxid.cli.main import main
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import EvidenceUnreadableError, InputError
from proxid.evidence.checkpoint import Checkpoint, verify_cosignature, witness
from proxid.evidence.merkle import EMPTY_ROOT
from proxid.evidence.note import Note, Verifier
from tests.support.scene import MALLORY, SCREENER, SERVICE, key

KEYS = {"gateway": SCREENER, "main-service": SERVICE}
WITNESS = key("witness")


class Log:
    """An empty log whose heads are signed with a key; away without one."""

    def __init__(self, name: str, signer: SigningKey | None) -> None:
        self._name, self._signer = f"proxid/ms/{name}", signer
        self.cosigned = b""

    def heads(self) -> Heads:
        if self._signer is None:
            raise EvidenceUnreadableError("the log is away")
        return Heads(Checkpoint(self._name, 0, EMPTY_ROOT).sign(self._signer).encode())

    def consistency(self, old: int, size: int) -> list[bytes]:
        return []

    def cosign(self, note: bytes) -> None:
        self.cosigned = note

    def show(self, heads: list[bytes]) -> None:
        pass

    def close(self) -> None:
        pass


def watcher(folder: Path, name: str) -> Witness:
    return Witness(folder, "witness", WITNESS, Verifier(f"proxid/ms/{name}", KEYS[name].public))


@pytest.mark.parametrize("signer", [None, MALLORY])
@pytest.mark.parametrize("bad", ["gateway", "main-service"])
def test_one_log_that_is_away_or_not_signed_leaves_the_other_cosigned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], bad: str,
    signer: SigningKey | None,
) -> None:  # fmt: skip
    logs = {name: Log(name, signer if name == bad else KEYS[name]) for name in KEYS}
    monkeypatch.setattr("auditor.commands.witness.load", lambda *_: SimpleNamespace())
    monkeypatch.setattr(
        "auditor.commands.witness._logs", lambda _: {n: (watcher(tmp_path, n), log) for n, log in logs.items()}
    )
    config = tmp_path / "witness.toml"
    config.touch()
    assert main(["witness", "--config", str(config), "--once", "--json"]) == 2
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["log"]: "waiting" in row for row in said} == {name: name == bad for name in KEYS}
    (good,) = (log.cosigned for name, log in logs.items() if name != bad)
    assert verify_cosignature(Note.decode(good), witness("witness", WITNESS.public)) > 0
    assert logs[bad].cosigned == b""


def test_a_damaged_memory_signs_nothing_and_is_named(tmp_path: Path) -> None:
    log = Log("gateway", SCREENER)
    watcher(tmp_path, "gateway").cosign(log, 1)
    (memory,) = tmp_path.glob("*.head")
    memory.write_bytes(memory.read_bytes()[:-9])
    log.cosigned = b""
    with pytest.raises(InputError, match=f"{memory.name}: the witness's memory is damaged"):
        watcher(tmp_path, "gateway").cosign(log, 2)
    assert log.cosigned == b""
