"""A path that is none, or a household's input that cannot be, is one line and a step, status 2, never a traceback."""

import datetime
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.runtime.provision import TrialOptions, init_trial

NOW = datetime.datetime.now(datetime.UTC)
Said = Callable[..., str]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial with two households, of which the first has one person."""
    folder = tmp_path_factory.mktemp("trial")
    init_trial(folder, TrialOptions(("acme",), ("one", "none")), NOW)
    config, authority = folder / "devices/one/device.toml", folder / "ea"
    assert main(["device", "enrol", "--config", str(config), "--ea", str(authority), "-u", "ann"]) == 0
    return folder


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def call(*words: object, code: int = 2) -> str:
        """What a command that is refused says: one line, and in lines of their own where and what to try."""
        capsys.readouterr()
        assert main([*map(str, words)]) == code
        lines = [line for line in capsys.readouterr().err.splitlines() if line]
        assert lines[0].startswith("proxid: ") and len(lines) <= 3, lines
        assert all(line.startswith(("  where: ", "  try: ")) for line in lines[1:]), lines
        assert "internal" not in lines[0]
        return lines[0]

    return call


FOLDER = "FOLDER"
COMMANDS = [
    ("release", FOLDER, "-o", "x.tsv"), ("release", "nowhere.tsv", "-o", "x.tsv"), ("profile", FOLDER),
    ("attack", FOLDER, "nowhere.tsv"), ("evaluate", "nowhere.tsv", FOLDER), ("classify", "--file", FOLDER),
    ("synth", "-o", FOLDER), ("budget", "nowhere.tsv"), ("budget", "--ledger", FOLDER), ("audit", "--config", FOLDER),
    ("subscribe", "--config", FOLDER), ("witness", "--config", FOLDER), ("serve", "gateway", "--config", FOLDER),
    ("device", "ask", "--config", FOLDER, "-u", "ann", "hi"), ("device", "replay", FOLDER, "--config", FOLDER),
    ("device", "replay", "--config", FOLDER), ("device", "enrol", "--config", FOLDER, "-u", "ann"),
    ("device", "rights", "access", "--config", "nowhere.toml", "-u", "ann"),
    ("init", "--sign", FOLDER, "--ca", FOLDER, "--out", "x"), ("init", "--into", FOLDER, "--import", "nowhere"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_folder_for_a_file_and_a_file_that_is_not_there(
    words: tuple[str, ...], said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    said(*(folder if word == FOLDER else word for word in words))


def test_a_request_is_not_signed_without_a_ca(said: Said, trial: Path, tmp_path: Path) -> None:
    request = trial / "gateway/tls.csr"
    assert "ca.crt cannot be read" in said("init", "--sign", request, "--ca", tmp_path, "--out", tmp_path / "x")


@pytest.mark.parametrize("option", ["--answer", "--sign"])
def test_an_enrolment_file_that_is_none(option: str, said: Said, trial: Path, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000)
    words = ["--config", trial / "devices/one/device.toml", "--ea", trial / "ea", option, tmp_path / "deep.json"]
    assert "deep.json" in said("device", "enrol", *words, *(["--answer", tmp_path / "a"] if option == "--sign" else []))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("",), "empty"),
        ((" \n",), "empty"),
        (("a\x1b[31mb",), "control characters"),
        (("a\x00b",), "control characters"),
        (("a\udcffb",), "no UTF-8"),
        (("a" * 100_000,), "longer than"),
        (("hi", "--location", "91,5"), "latitude"),
        (("hi", "--location", "48.85 2.35"), "latitude"),
        (("hi", "--location", "nan,1"), "latitude"),
    ],
)
def test_what_nobody_says_is_refused_at_the_device(
    words: tuple[str, ...], reason: str, said: Said, trial: Path
) -> None:
    """No gateway runs: nothing was sent."""
    assert reason in said("device", "ask", "--config", trial / "devices/one/device.toml", "-u", "ann", *words)


def test_a_file_of_what_nobody_says_is_refused_by_line(said: Said, trial: Path, tmp_path: Path) -> None:
    config = trial / "devices/one/device.toml"
    for line in ('{"user":"ann","text":"a\\u0007"}', '{"user":"ann","text":"hi","time":"yesterday"}'):
        (tmp_path / "say.jsonl").write_text('{"user":"ann","text":"hi"}\n' + line + "\n")
        assert "say.jsonl: line 2 is no event" in said("device", "replay", tmp_path / "say.jsonl", "--config", config)


def test_households_without_people_are_told_what_to_do(said: Said, trial: Path) -> None:
    config = ("--config", trial / "devices/none/device.toml")
    for words in (("ask", *config, "-u", "ann", "hi"), ("consent", *config, "-u", "ann", "x"), ("replay", *config)):
        assert re.search("nobody is enrolled in .* yet: proxid device enrol", said("device", *words))


def test_an_account_older_than_clocks(said: Said, trial: Path) -> None:
    words = ["--config", trial / "devices/none/device.toml", "--ea", trial / "ea", "-u", "bob"]
    assert "1970" in said("device", "enrol", *words, "--since", "0001-01-01")


@pytest.mark.parametrize("locale", ["%%", "e", "en_US", "en-" + "a" * 40])
def test_a_locale_that_is_none(locale: str, said: Said, trial: Path) -> None:
    config = trial / "devices/one/locale.toml"
    config.write_text(f'locale = "{locale}"\n' + (trial / "devices/one/device.toml").read_text())
    assert "locale must" in said("device", "ask", "--config", config, "-u", "ann", "hi")


def test_wrong_certificates_are_called_so(said: Said, trial: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    init_trial(other, TrialOptions((), ("one",)), NOW)
    device = tmp_path / "one"
    words = ("device", "ask", "--config", device / "device.toml", "-u", "ann", "hi")
    for file, source, reason in (
        ("tls.crt", None, "no certificate"),
        ("ca.crt", None, "no certificate"),
        ("tls.key", other / "devices/one/tls.key", "not the key of"),
        ("ca.crt", other / "ca/ca.crt", "not of the CA"),
    ):
        shutil.copytree(trial / "devices/one", device)
        (device / file).write_bytes(b"garbage" if source is None else source.read_bytes())
        assert reason in said(*words)
        shutil.rmtree(device)
