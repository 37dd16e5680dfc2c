"""What commands say to somebody who uses them for the first time: whole examples, choices that differ, reasons."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from proxid.cli.main import LazyGroup, main, proxid
from proxid.lab.commands.common import facts_table
from proxid.runtime.config.policy import load_policy

ROWS = "".join(f"{100 + n}\thow tall is mount everest\t2006-03-01 07:17:{n:02d}\t\t\n" for n in range(24))


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield (*words, name), found
        if isinstance(found, click.Group):
            yield from commands(found, (*words, name))


def test_an_example_stands_on_one_line_of_the_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert isinstance(proxid, LazyGroup)
    for words, command in commands(proxid):
        capsys.readouterr()
        assert main([*words, "--help"]) == 0
        lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
        examples = [line for line in lines if line.startswith("Example: ")]
        assert len(examples) == 1, words
        if command.epilog:
            assert examples[0] == command.epilog.removeprefix("\b\n").strip(), words


def test_every_option_says_what_it_is() -> None:
    for words, command in commands(proxid):
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.help, (words, parameter.name)


@pytest.mark.parametrize("parties", ["acme", "acme,globex"])
def test_no_two_bundles_of_a_new_policy_are_the_same_choice(tmp_path: Path, parties: str) -> None:
    assert main(["init", str(tmp_path / "trial"), "--parties", parties]) == 0
    bundles = load_policy(tmp_path / "trial/gateway/policy.toml").bundles
    assert len({str(sorted(bundle.items())) for bundle in bundles.values()}) == len(bundles) >= 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), ("split", 1, 21_600, 86_400, None)),
        (("--epoch-seconds", "600"), ("split", 1, 150, 600, 30)),
        (("--form", "pairs"), ("pairs", 2, 21_600, 86_400, None)),
    ],
)
def test_a_new_policy_says_its_form_and_a_short_epoch_has_short_buckets(
    tmp_path: Path, words: tuple[str, ...], said: tuple[object, ...]
) -> None:
    assert main(["init", str(tmp_path / "trial"), "--parties", "acme", *words]) == 0
    policy = load_policy(tmp_path / "trial/gateway/policy.toml")
    rules = policy.anonymiser
    assert rules is not None
    assert (rules.form, rules.level, rules.bucket, policy.epoch_seconds, policy.epoch_grace) == said


def _row(mode: str, kind: str, user: str, text: str) -> dict[str, object]:
    return {
        "user": user, "kind": kind, "rung": "text" if text else "category", "text": text, "category": "News",
        "time": "2026-01-02T12:00:00Z", "mode": mode,
    }  # fmt: skip


@pytest.mark.parametrize("form", ["split", "pairs"])
def test_the_demo_shows_who_asked_beside_what_was_asked(form: str) -> None:
    """Of form `split` in two tables side by side, on a terminal of 80 columns; of pairs in one."""
    from rich.console import Console

    from proxid.cli.demo.result import DemoResult, show

    groups: list[dict[str, object]] = [{"records": [_row("mix", "location", "al1xyz", "")]}]
    if form == "split":
        shown = {"category": "News", "text": "what is new in brazil", "records": 7}
        groups += [
            {"records": [_row("split", "general", "user-17", "")]},
            {"records": [], "contents": {"rows": [shown]}},
        ]
    else:
        groups.append({"records": [_row("mix", "general", "user-17", "what is new")]})
    counts = {"requests": 9, "released": 2}
    result = DemoResult(9, {"verdict": "clean", "counts": counts, "checked": {}, "violations": []}, {"acme": groups})
    console = Console(width=80, record=True, file=io.StringIO())
    show(result, console)
    lines = console.export_text().splitlines()
    (person,) = (line for line in lines if "user-17" in line)
    assert ("what is new" in person) == (form == "pairs") and len(person) > 60
    assert any("al1xyz" in line for line in lines)
    assert any("what is new" in line and "7" in line for line in lines)


def test_a_list_is_told_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    Console(width=100).print(facts_table("", {"not_covered": ["one thing", "another"], "none": []}))
    said = capsys.readouterr().out
    assert "one thing; another" in said and "[" not in said


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A log without a header."""
    path = tmp_path / "bare.tsv"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("release", "--method", "k-query", "--k", "2", "{log}", "-o", "{out}"),
        pytest.param(("attack", "{log}", "{log}", "--attack", "rl3"), marks=pytest.mark.slow),
        pytest.param(("evaluate", "{log}", "{log}"), marks=pytest.mark.slow),
        ("profile", "{log}", "--level", "1"),
        pytest.param(("budget", "{log}", "--ledger", "{out}"), marks=pytest.mark.slow),
        ("study", "thesis", "--log", "{log}", "--out", "{out}", "--seed", "none"),
        pytest.param(("study", "microaggregation", "{log}", "--levels", "1", "--out", "{out}"), marks=pytest.mark.slow),
        ("device", "replay", "{log}", "--config", "{log}"),
    ],
)
def test_which_column_is_taken_for_what_is_said_by_whoever_reads(
    bare: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    main([word.format(log=bare, out=tmp_path / "released") for word in words])
    said = " ".join(capsys.readouterr().err.split())
    assert "bare.tsv has no header: column 1 for user, column 2 for query" in said


@pytest.mark.parametrize("words", [("profile", "{log}"), ("device", "replay", "{log}", "--config", "{log}")])
def test_json_lines_under_another_name_are_told_from_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    log = tmp_path / "said.txt"
    log.write_text('{"user": "ann", "text": "what time is it"}\n' * 5)
    assert main([word.format(log=log) for word in words]) == 2
    assert "JSON objects: give it a name that ends in .jsonl" in capsys.readouterr().err


def test_a_person_who_is_not_there_is_not_erased_and_no_party_is_blamed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "trial"), "--parties", "acme", "--households", "1"]) == 0
    config = str(tmp_path / "trial/devices/household-1/device.toml")
    capsys.readouterr()
    assert main(["device", "rights", "erase", "--config", config, "-u", "zoe", "--yes"]) == 2
    said = capsys.readouterr().err
    assert "nobody of that name" in said and "third parties" not in said


def test_mending_is_told_as_an_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from proxid.runtime.store.embedded import EmbeddedStore

    assert main(["init", str(tmp_path / "trial"), "--parties", "acme"]) == 0
    gateway = tmp_path / "trial/gateway"
    with EmbeddedStore(gateway / "data/store", "always"):
        pass
    capsys.readouterr()
    assert main(["mend", "store", "--config", str(gateway / "gateway.toml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] and all(row["cut"] == 0 for row in found["files"])


@pytest.mark.parametrize("words", [("policy", "show"), ("policy", "activate", "{config}"), ("mend", "store")])
def test_a_command_says_whose_file_it_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert main(["init", str(tmp_path / "trial"), "--parties", "acme", "--households", "1"]) == 0
    config = str(tmp_path / "trial/devices/household-1/device.toml")
    capsys.readouterr()
    assert main([*(word.format(config=config) for word in words), "--config", config]) == 2
    assert "device.toml: is no TOML of a gateway" in capsys.readouterr().err
