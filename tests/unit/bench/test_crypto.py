"""`proxid bench`: its object, its errors, and the figures of `bench crypto` (speed itself is not tested)."""

import json

import pytest

from bench import find, names
from bench.crypto import BASELINES, crypto_figures
from proxid.cli.main import main
from proxid.errors import InputError


def test_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "crypto", "--json", "-o", "rounds=1", "-o", "times=1"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.keys() == {"bench", "machine", "figures"}
    assert printed["bench"] == "crypto"
    assert printed["machine"].keys() >= {"python", "processor", "cores"}
    for figure in printed["figures"].values():
        assert figure["value"] > 0
        assert figure["unit"] in {"µs", "x", "bytes"}


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "crypto", "-o", "rounds=1", "-o", "times=1"]) == 0
    assert "sanitize_us" in capsys.readouterr().out


def test_every_step_has_microseconds_and_a_ratio_to_plain_ed25519() -> None:
    figures = crypto_figures(rounds=1, times=1)
    wanted = {"ed25519_sign_us", "ed25519_verify_us"} | {f"{n}_{unit}" for n in BASELINES for unit in ("us", "ratio")}
    assert figures.keys() == wanted | {"record_sealed_bytes", "record_keyed_bytes"}
    assert {name: f.get("reach") for name, f in figures.items() if f.get("reach")} == {
        "sign_ratio": 2.7, "sanitize_ratio": 3.2, "verify_ratio": 2.4,
    }  # fmt: skip


def test_could_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert "crypto" in names()
    with pytest.raises(InputError):
        find("nothing")
    assert main(["bench", "nothing"]) == 2
    assert main(["bench", "crypto", "-o", "rounds"]) == 2
    assert "KEY=VALUE" in capsys.readouterr().err
