"""`proxid attack`, `evaluate`, `profile` on files, called in process: what they print and their exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proxid.cli.main import main
from proxid.lab.release.registry import METHODS, load_method

Run = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small log and its releases in every mode, with truth files."""
    path = tmp_path_factory.mktemp("lab")
    assert main(["synth", "--rows", "6000", "--users", "300", "--seed", "3", "-o", str(path / "log.tsv")]) == 0
    for mode in ("thesis", "thesis3", "mix"):
        out, truth = str(path / f"{mode}.tsv"), str(path / f"{mode}.truth")
        options = ["--mode", mode, "--k", "3", "--level", "1", "--seed", "1", "--truth", truth]
        assert main(["release", str(path / "log.tsv"), "-o", out, *options]) == 0
    return path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main([str(folder / word) if word.endswith((".tsv", ".truth")) else word for word in words])
        printed = capsys.readouterr()
        return code, json.loads(printed.out) if "--json" in words else printed.out + printed.err

    return call


def test_a_release_of_nothing_is_said(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--method", "k-query", "--k", "100000", str(folder / "log.tsv"), "-o", str(tmp_path / "none.tsv")]
    assert main(["release", *words]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "nothing was released: query of fewer than k users (6000)" in said


def test_attack_with_the_truth(run: Run) -> None:
    code, found = run("attack", "log.tsv", "thesis.tsv", "--attack", "rl3", "--truth", "thesis.truth", "--json")
    assert code == 0
    assert (found["mechanism"]["mode"], found["mechanism"]["k"], found["mechanism"]["level"]) == ("thesis", 3, 1)
    rl3 = found["attacks"]["rl3"]
    assert rl3["same_record"]["exact"]
    low, high = rl3["same_record"]["of_attacked"]["ci95"]
    assert 0 < low < rl3["same_record"]["of_attacked"]["value"] < high < 1
    assert rl3["pair_linkage"]["of_input"]["value"] >= rl3["same_record"]["of_input"]["value"] > 0
    assert rl3["held"]["by_mechanism"] == pytest.approx(1 - found["records_out"] / found["records_in"])


def test_attack_on_the_files_alone(run: Run) -> None:
    code, found = run("attack", "log.tsv", "thesis.tsv", "--attack", "rl3", "--json")
    assert code == 0
    assert "derived" in found["truth"]
    assert 0 < found["known_owner_share"] < 1
    assert not found["attacks"]["rl3"]["same_record"]["exact"]
    assert found["attacks"]["rl3"]["pair_linkage"]["exact"]


def test_attack_on_mix_alone_finds_its_groups_and_claims_no_owners(run: Run) -> None:
    code, found = run("attack", "log.tsv", "mix.tsv", "--attack", "informed", "--attack", "group-random", "--json")
    assert code == 0
    assert found["known_owner_share"] == 0  # the ladder shows parts of texts
    posterior = found["attacks"]["informed"]["posterior"]
    assert (posterior["over_bound"], posterior["group_faults"]) == (0, 0)
    assert posterior["posterior_max"] == pytest.approx(1 / 4)  # k = 3, m = 1
    assert found["attacks"]["group-random"]["guessed"] == found["records_out"]


def test_check_fails_what_the_thesis_claims_and_passes_mix(run: Run) -> None:
    attacks = ["--attack", "informed", "--attack", "neighbour", "--check"]
    assert run("attack", "log.tsv", "thesis.tsv", "--truth", "thesis.truth", *attacks)[0] == 1
    assert run("attack", "log.tsv", "thesis3.tsv", "--truth", "thesis3.truth", *attacks)[0] == 1
    assert run("attack", "log.tsv", "mix.tsv", "--truth", "mix.truth", *attacks)[0] == 0


def test_members_who_help_are_held_to_their_own_bound(run: Run) -> None:
    """With m = 1 member of the group helping the rate is 1/k and not 1/(k+m): that breaks no claim."""
    options = ["--truth", "mix.truth", "--attack", "informed", "--members", "1", "--check", "--json"]
    code, found = run("attack", "log.tsv", "mix.tsv", *options)
    assert code == 0
    informed = found["attacks"]["informed"]
    assert informed["bound"] == informed["posterior"]["bound"] == pytest.approx(1 / 3)
    assert informed["groups"]["test"] is None


@pytest.mark.parametrize("mode", ["thesis", "thesis3", "mix"])
def test_every_attack_and_metric_prints_a_table(run: Run, mode: str) -> None:
    code, text = run("attack", "log.tsv", f"{mode}.tsv", "--truth", f"{mode}.truth")
    assert code == 0
    assert "neighbour" in text
    code, text = run("evaluate", "log.tsv", f"{mode}.tsv", "--truth", f"{mode}.truth")
    assert code == 0
    assert "loss n1" in text


def test_evaluate_as_json(run: Run) -> None:
    code, found = run("evaluate", "log.tsv", "mix.tsv", "--truth", "mix.truth", "--json")
    assert code == 0
    metrics = found["metrics"]
    assert 0.5 < metrics["share"]["released_share"] <= 1
    assert metrics["delay"]["times"] == "recorded by the mechanism"
    assert metrics["delay"]["records"]["p50"] <= metrics["delay"]["records"]["p99"]
    assert 0 < metrics["emd"]["loss_n1"] < metrics["emd"]["loss_n2"] < 1
    assert metrics["memory"]["bytes_per_waiting_record"] > 0


def test_figures(run: Run, folder: Path) -> None:
    files = ["log.tsv", "mix.tsv", "--truth", "mix.truth", "--figure", str(folder / "drawn.png")]
    assert run("attack", *files, "--attack", "rl3", "--attack", "informed")[0] == 0
    assert (folder / "drawn.svg").stat().st_size > 1000
    assert run("evaluate", *files[:5], str(folder / "progress.png"), "--metric", "share")[0] == 0
    assert (folder / "progress.png").stat().st_size > 1000
    assert run("evaluate", "log.tsv", "mix.tsv", "--figure", str(folder / "none.png"), "--metric", "share")[0] == 2


def test_a_log_in_order_of_users_is_attacked_in_order_of_time(run: Run, folder: Path) -> None:
    """AOL's files are sorted by user; the release reads them by time, and so must the attack's replay."""
    head, *lines = (folder / "log.tsv").read_text().splitlines()
    by_user = sorted(lines, key=lambda line: line.split("\t")[0])
    (folder / "users.tsv").write_text("\n".join([head, *by_user]) + "\n")
    options = ["--mode", "thesis", "--k", "3", "--level", "1", "--truth", "users.truth"]
    assert run("release", "users.tsv", "-o", "byuser.tsv", *options)[0] == 0
    code, found = run("attack", "users.tsv", "byuser.tsv", "--attack", "informed", "--truth", "users.truth", "--json")
    assert code == 0
    assert found["attacks"]["informed"]["guessed"] == found["records_out"]


def test_wrong_inputs_cannot_be_done(run: Run, folder: Path) -> None:
    (folder / "broken.truth").write_text("0\tone\n")
    assert run("attack", "log.tsv", "thesis.tsv", "--truth", "broken.truth")[0] == 2
    code, text = run("attack", "log.tsv", "thesis.tsv", "--truth", "mix.truth")
    assert (code, "truth file" in text) == (2, True)
    assert run("attack", "log.tsv", "nothing.tsv")[0] == 2
    assert run("attack", "log.tsv", "thesis.tsv", "--k", "1")[0] == 2
    found = run("attack", "log.tsv", "thesis.tsv", "--attack", "informed", "--k", "4", "--json")[1]
    assert "not that of mode thesis" in found["attacks"]["informed"]["reason"]


def test_exchanged_arguments_are_noticed(run: Run, folder: Path) -> None:
    """By the manifest; without one, by a release that is longer than its original."""
    for command in ("attack", "evaluate"):
        code, text = run(command, "mix.tsv", "log.tsv")
        assert (code, "exchanged" in text) == (2, True)
    (folder / "alone.tsv").write_bytes((folder / "thesis.tsv").read_bytes())
    code, text = run("attack", "alone.tsv", "log.tsv")
    assert (code, "exchanged" in text) == (2, True)


def test_a_release_of_counts_is_not_attacked(run: Run, folder: Path) -> None:
    (folder / "counts.tsv").write_text("count\tquery\n7.5\tcats\n")
    code, text = run("attack", "log.tsv", "counts.tsv")
    assert (code, "items and their counts" in text) == (2, True)


def test_a_log_without_records(run: Run, folder: Path, recwarn: pytest.WarningsRecorder) -> None:
    """Every command says so, prints - for what is nothing of nothing, and null in JSON; nothing warns."""
    (folder / "empty.tsv").write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n")
    code, text = run("release", "empty.tsv", "-o", "none.tsv", "--truth", "none.truth")
    assert (code, "0 records" in text) == (0, True)
    for command in (
        ["attack"],
        ["evaluate"],
        ["attack", "--truth", "none.truth"],
        ["evaluate", "--truth", "none.truth"],
    ):
        code, text = run(command[0], "empty.tsv", "none.tsv", *command[1:])
        assert (code, "0 records" in text) == (0, True)
        assert "nan" not in text.lower() and "None" not in text
        assert run(command[0], "empty.tsv", "none.tsv", *command[1:], "--json")[0] == 0
    code, text = run("profile", "none.tsv")
    assert (code, "0 records" in text) == (0, True)
    assert not [warning for warning in recwarn if issubclass(warning.category, UserWarning)]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_help_of_a_method_ends_with_its_own_example(run: Run, method: str) -> None:
    """The example names the method, and its options are the method's."""
    code, text = run("release", "--method", method, "--help")
    example = " ".join(text.split("Example:")[1].split())
    assert (code, example.startswith(f"proxid release --method {method} ")) == (0, True)
    known = {"--" + option.key.replace("_", "-") for option in load_method(method).options}
    assert {word for word in example.split()[4:] if word.startswith("--")} <= known


def test_profile(run: Run, folder: Path) -> None:
    code, found = run("profile", "thesis.tsv", "--level", "1", "--top", "3", "--json")
    assert code == 0
    assert len(found["profiles"]) == 3
    for profile in found["profiles"].values():
        assert 95 < sum(profile["percent"].values()) <= 100.01  # each is cut off, not rounded
    code, text = run("profile", "thesis.tsv", "--user", "nobody at all")
    assert code == 2
    assert "nobody" not in text  # messages name the rule, never the data
