"""What a command says when it could not be done: what, where, why, and what to try; every code has its step."""

import json
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.errors import STEPS, Code
from proxid.runtime.provision import TrialOptions, init_trial
from tests.support.addresses import free_address


def test_every_code_says_what_it_means_and_what_to_try() -> None:
    assert set(STEPS) == set(Code)
    assert all(step.what and step.next for step in STEPS.values())


def failed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    capsys.readouterr()
    assert main([*words, "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    said: dict[str, str] = json.loads(err)["error"]
    assert {"code", "what", "why", "where", "next"} <= set(said)
    return said


def test_a_file_is_named_with_its_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text('name = "gateway"\nlisen = 1')
    said = failed(capsys, "serve", "gateway", "--config", str(path))
    assert (said["code"], said["where"]) == ("config_invalid", str(path)) and "lisen" in said["why"]
    assert main(["serve", "gateway", "--config", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("proxid: config_invalid: gateway.toml: lisen: no such key")
    assert lines[1:] == [f"  where: {path}", f"  try: {STEPS[Code.CONFIG_INVALID].next}"]


def test_words_that_are_wrong_lead_to_the_commands_help(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for words in (("serve", "gatewy", "--config", "x"), ("explain", "1/2/3", "--nonsense")):
        said = failed(capsys, *words)
        assert (said["code"], said["next"]) == ("input_invalid", f"proxid {words[0]} --help")


def test_a_peer_is_named_with_its_address(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datetime

    address = free_address()
    init_trial(tmp_path, TrialOptions(("acme",), ("home",)), datetime.datetime.now(datetime.UTC))
    device = tmp_path / "devices/home/device.toml"
    monkeypatch.setenv("PROXID_DEVICE__GATEWAY", address)
    monkeypatch.setenv("PROXID_DEVICE__ATTEMPTS", "1")
    assert main(["device", "enrol", "--config", str(device), "--ea", str(tmp_path / "ea"), "-u", "ann"]) == 0
    said = failed(capsys, "device", "ask", "--config", str(device), "-u", "ann", "what time is it")
    assert (said["code"], said["where"]) == ("upstream_unreachable", f"the gateway at {address}")
    assert said["why"].endswith("nobody listens there") and said["next"].startswith("see that it is started")
