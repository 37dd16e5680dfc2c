"""`proxid release --method kbuffer` on files: what comes out, what the manifest says, what never happens (DESIGN 8)."""

import errno
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proxid.classify.semantic_units import semantic_units
from proxid.cli.main import main
from proxid.lab.columns.text import normalise
from proxid.lab.logs import Dictionaries, LogBatch, create_log, layout_of, read_log
from proxid.lab.logs.synth import Shape, synthesise
from proxid.lab.logs.whole import WholeFile
from proxid.lab.release.kbuffer import method as kbuffer


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic log of 12,000 records of 150 people."""
    path, known = tmp_path_factory.mktemp("log") / "log.tsv", Dictionaries()
    with create_log(path, layout_of(path).having("category"), known) as out:
        for batch in synthesise(Shape(12_000, 150, 4), known):
            out.write(batch)
    return path


def release(source: Path, output: Path, *options: str) -> dict[str, Any]:
    """Run the command; the manifest."""
    assert main(["release", str(source), "-o", str(output), *options]) == 0
    return json.loads(output.with_name(output.name + ".manifest.json").read_text())


def read_both(source: Path, output: Path) -> tuple[LogBatch, LogBatch, Dictionaries]:
    """The log and its release with one set of dictionaries."""
    original, reader = read_log(source)
    released, _ = read_log(output, dictionaries=reader.dictionaries)
    return original, released, reader.dictionaries


def read_truth(path: Path) -> np.ndarray:
    """(released row, input row, released at, group) of each line."""
    return np.loadtxt(path, np.int64, delimiter="\t", ndmin=2)


def test_groups_give_and_receive_one_each(log: Path, tmp_path: Path) -> None:
    """Restrictions 4.1 and 4.2 on the file: n distinct people a group, the owners are the people published."""
    manifest = release(log, tmp_path / "out.tsv", "--truth", str(tmp_path / "truth.tsv"), "--k", "4", "--margin", "2")
    original, released, _ = read_both(log, tmp_path / "out.tsv")
    truth = read_truth(tmp_path / "truth.tsv")
    assert truth[:, 0].tolist() == list(range(len(released))) and len(set(truth[:, 1].tolist())) == len(released)
    owners = original.user[truth[:, 1]]
    for group in np.unique(truth[:, 3]).tolist():
        rows = truth[:, 3] == group
        people = set(released.user[rows].tolist())
        assert len(people) == rows.sum() == 4 + 1 + 2 and people == set(owners[rows].tolist())
        assert (released.user[rows] != owners[rows]).all() and len(set(released.time[rows].tolist())) == 1
    assert (np.diff(truth[:, 3]) >= 0).all() and (truth[:, 2] >= truth[:, 1]).all()
    assert manifest["counts"]["out"] == len(released)
    assert manifest["guarantee"]["outsider"]["bound"] == "1/6" and manifest["guarantee"]["members"]["bound"] == "1/4"


def test_everything_is_accounted_for(log: Path, tmp_path: Path) -> None:
    """In = out + suppressed; the manifest names mechanism, parameters, digest and seed policy, and no seed."""
    manifest = release(log, tmp_path / "out.tsv", "--level", "3", "--max-delay-records", "500")
    counts = manifest["counts"]
    assert counts["in"] == 12_000 == counts["out"] + sum(counts["suppressed"].values())
    assert manifest["mechanism"] == "kbuffer" and manifest["parameters"]["level"] == 3
    assert manifest["parameters"]["max_delay_records"] == 500 and len(manifest["input"]["sha256"]) == 64
    assert manifest["seed"] == {"policy": "a fresh secret seed, not written down"}


@pytest.mark.parametrize("options", [(), ("--clicks", "ladder"), ("--min-text-users", "1", "--margin", "0")])
def test_the_ladder_shows_nothing_that_few_issued(log: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    """Every shown text was issued, whole or as a unit, by enough people of the log; so no vanity text is shown."""
    manifest = release(log, tmp_path / "out.tsv", "--no-mask", *options)
    enough = manifest["parameters"]["min_text_users"] + manifest["parameters"]["margin"]
    original, released, known = read_both(log, tmp_path / "out.tsv")
    issuers = defaultdict(set)
    clicks: dict[tuple, set] = defaultdict(set)
    for user, query, rank, url in zip(
        original.user.tolist(), known.query.decode(original.query), original.rank.tolist(), original.url.tolist(),
        strict=True,
    ):  # fmt: skip
        normal = normalise(query)
        for unit in (normal, *semantic_units(normal.split())):
            issuers[unit].add(user)
        clicks[normal, url].add(user)
        clicks[normal, url, rank].add(user)
    shown = Counter(known.query.decode(released.query))
    assert all(len(issuers[text]) >= enough for text in shown if text) and len(shown) > 20
    if "ladder" not in options:
        assert (released.rank < 0).all() and (released.url < 0).all()
    else:
        for query, rank, url in zip(
            known.query.decode(released.query), released.rank.tolist(), released.url.tolist(), strict=True
        ):
            assert url < 0 or len(clicks[query, url]) >= enough
            assert rank < 0 or len(clicks[query, url, rank]) >= enough


def test_raised_groups_show_their_node_alone(log: Path, tmp_path: Path) -> None:
    """A group at a shallow node shows no text, and nobody's category below it (8.6)."""
    release(log, tmp_path / "out.tsv", "--level", "2", "--max-delay-records", "100", "--truth", str(tmp_path / "t"))
    original, released, known = read_both(log, tmp_path / "out.tsv")
    groups, rows = read_truth(tmp_path / "t")[:, 3], read_truth(tmp_path / "t")[:, 1]
    depth, level2 = known.tree.depth, known.tree.ancestors(2)
    raised = 0
    for group in np.unique(groups).tolist():
        nodes = np.maximum(released.category[groups == group], 0)  # the root's path is empty
        if len(set(level2[nodes].tolist())) == 1 and depth[nodes].max() < 2:
            raised += 1
            assert len(set(nodes.tolist())) == 1
            assert set(known.query.decode(released.query[groups == group])) == {""}
        else:
            assert (nodes == original.category[rows[groups == group]]).all()
    assert raised > 10


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet", "out.tsv.gz"])
def test_other_formats_hold_the_same_release(log: Path, tmp_path: Path, name: str) -> None:
    """With one seed all formats hold the same records; JSON lines and Parquet tell the groups as well."""
    release(log, tmp_path / "out.tsv", "--seed", "9", "--columns", "full")
    manifest = release(log, tmp_path / name, "--seed", "9")
    assert manifest["seed"]["seed"] == 9 and manifest["guarantee"]["kind"].startswith("none")
    known = Dictionaries()
    a, _ = read_log(tmp_path / "out.tsv", dictionaries=known)
    b, _ = read_log(tmp_path / name, dictionaries=known)
    for column in ("user", "query", "category", "time") if "tsv" in name else ("user", "query", "category", "group"):
        assert (getattr(a, column) == getattr(b, column)).all()


def test_the_structure_of_the_input_is_kept(tmp_path: Path) -> None:
    """Order of columns and header; --columns input adds nothing."""
    rows = [f"{time}\tword{i % 3}\tu{i % 9}" for i, time in enumerate(["2006-03-01 07:17:12"] * 90)]
    (tmp_path / "in.tsv").write_text("QueryTime\tQuery\tAnonID\n" + "\n".join(rows) + "\n")
    options = ("--k", "2", "--margin", "0", "--level", "0", "--no-classify")
    manifest = release(tmp_path / "in.tsv", tmp_path / "out.tsv", *options)
    assert manifest["counts"]["suppressed"] == {"no category": 90}
    assert (tmp_path / "out.tsv").read_text() == "QueryTime\tQuery\tAnonID\tCategory\n"
    release(tmp_path / "in.tsv", tmp_path / "out.tsv", *options, "--columns", "input")
    assert (tmp_path / "out.tsv").read_text() == "QueryTime\tQuery\tAnonID\n"


def test_thesis_modes_release_whole_records(log: Path, tmp_path: Path) -> None:
    """Text, rank and URL stay together; the user is another one; the guarantee is none."""
    for mode in ("thesis", "thesis3"):
        manifest = release(log, tmp_path / "out.tsv", "--mode", mode, "--level", "1", "--truth", str(tmp_path / "t"))
        original, released, _ = read_both(log, tmp_path / "out.tsv")
        rows = read_truth(tmp_path / "t")[:, 1]
        for column in ("query", "rank", "url", "category"):
            assert (getattr(released, column) == getattr(original, column)[rows]).all()
        assert mode == "thesis3" or (released.user != original.user[rows]).all()
        assert manifest["guarantee"]["kind"] == "none" and len(released) > 10_000


def test_a_log_in_order_of_users_is_sorted(log: Path, tmp_path: Path) -> None:
    """AOL's files are in order of users: the release is that of the log in order of time."""
    batch, reader = read_log(log)
    known = reader.dictionaries
    moved = batch.take(np.lexsort((batch.row, batch.time, batch.user)))
    with create_log(tmp_path / "users.tsv", reader.layout, known) as out:
        out.write(moved)
    one = release(log, tmp_path / "a.tsv", "--seed", "3", "--level", "1")
    two = release(tmp_path / "users.tsv", tmp_path / "b.tsv", "--seed", "3", "--level", "1")
    assert two["details"]["order"] == "time" and one["details"]["order"] == "file"
    assert one["counts"]["out"] > 3000
    assert abs(one["counts"]["out"] - two["counts"]["out"]) < 100  # records of one second may change places
    kept = release(tmp_path / "users.tsv", tmp_path / "c.tsv", "--order", "file")
    assert kept["details"]["steps_back_in_time"] > 100


def test_bad_rows_are_reported(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counted in the manifest with their lines, named on the terminal, never with what they held."""
    lines = log.read_bytes().split(b"\n")
    lines.insert(10, b"shibboleth without tabs")
    lines.insert(20, b"7\tshibboleth\tnot a time\t\t")
    (tmp_path / "in.tsv").write_bytes(b"\n".join(lines))
    manifest = release(tmp_path / "in.tsv", tmp_path / "out.tsv")
    assert manifest["counts"]["bad_rows"] == {"too few fields": 1, "time unreadable": 1}
    assert manifest["bad_lines"] == [
        {"line": 11, "reason": "too few fields"},
        {"line": 21, "reason": "time unreadable"},
    ]
    said = capsys.readouterr()
    assert "line 11: too few fields" in said.err and "shibboleth" not in said.err + said.out + json.dumps(manifest)


def test_nothing_half_written_stays(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk ends with a clear message and no file, whenever it comes; an older release stays."""
    (tmp_path / "old.tsv").write_text("older")
    put, left = WholeFile._put, [0]

    def full(self: WholeFile, data: bytes) -> None:
        left[0] -= len(data)
        if left[0] < 0:
            monkeypatch.setattr(self, "file", _Full())
        put(self, data)

    class _Full:
        def write(self, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(WholeFile, "_put", full)
    for room in (0, 100, 60_000):
        left[0] = room
        assert main(["release", str(log), "-o", str(tmp_path / "old.tsv"), "--truth", str(tmp_path / "t")]) == 2
        assert [file.name for file in tmp_path.iterdir()] == ["old.tsv"]
        assert (tmp_path / "old.tsv").read_text() == "older"


@pytest.mark.parametrize(
    "options",
    [
        ("--k", "0"), ("--level", "-1"), ("--epoch", "tomorrow"), ("--mode", "mox"), ("--max-delay", "0"),
        ("--method", "unheard"), ("--margin", "70000"), ("--nonsense", "1"), ("--time-bucket", "never"),
    ],
)  # fmt: skip
def test_unusable_options_are_refused(log: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    """Exit status 2, no file."""
    assert main(["release", str(log), "-o", str(tmp_path / "out.tsv"), *options]) == 2
    assert not list(tmp_path.iterdir())


def test_one_file_does_not_overwrite_another(log: Path, tmp_path: Path) -> None:
    """The release is not the log, the truth is not the release."""
    before = log.read_bytes()
    assert main(["release", str(log), "-o", str(log)]) == 2
    assert main(["release", str(log), "-o", str(tmp_path / "a"), "--truth", str(tmp_path / "a")]) == 2
    assert log.read_bytes() == before


def test_queries_without_category_are_filed(tmp_path: Path) -> None:
    """Without a Category column the classifier files the queries; the release tells where."""
    queries = ["who won the world cup final", "best hotels in paris", "symptoms of the flu", "stock market today"]
    rows = [f"u{i % 40}\t{queries[i % 4]} {i % 7}\t2006-03-01 07:{i // 60:02}:{i % 60:02}\t\t" for i in range(2000)]
    (tmp_path / "in.tsv").write_text("\n".join(rows) + "\n")
    manifest = release(tmp_path / "in.tsv", tmp_path / "out.tsv", "--k", "3", "--level", "1")
    released, reader = read_log(tmp_path / "out.tsv")
    assert reader.layout.fields[-1] == "category" and len(released) == manifest["counts"]["out"] > 100
    assert (released.category > 0).all()


def test_epochs_start_over(log: Path, tmp_path: Path) -> None:
    """A text is counted, and may be repeated, anew in every epoch: more records, fewer texts."""
    whole = release(log, tmp_path / "a.tsv", "--seed", "1")
    parts = release(log, tmp_path / "b.tsv", "--seed", "1", "--epoch", "10min")
    assert parts["counts"]["suppressed"]["repeated"] < whole["counts"]["suppressed"]["repeated"]
    assert parts["counts"]["suppressed"]["epoch_end"] > whole["counts"]["suppressed"]["epoch_end"]


@pytest.mark.parametrize(
    "options",
    [
        (),
        pytest.param(("--no-ladder",), marks=pytest.mark.slow),
        pytest.param(("--mode", "thesis", "--level", "1"), marks=pytest.mark.slow),
    ],
)
def test_memory_follows_what_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]) -> None:
    """Texts of records that left are forgotten, and the release is the same, byte for byte."""
    known, most = Dictionaries(), []
    with create_log(tmp_path / "in.tsv", layout_of(tmp_path / "in.tsv").having("category"), known) as out:
        for batch in synthesise(Shape(300_000, 5000, 4), known, fresh_texts=True):
            out.write(batch)
    release(tmp_path / "in.tsv", tmp_path / "a.tsv", "--seed", "1", "--no-mask", "--order", "file", *options)
    tidy = kbuffer._Run.tidy

    def watch(run: Any, texts: Dictionaries) -> None:
        tidy(run, texts)
        most.append(len(texts.query) - 2 * run.engine.waiting)

    monkeypatch.setattr(kbuffer, "_TEXTS", 2000)
    monkeypatch.setattr(kbuffer, "_LADDER_TEXTS", 2000)
    monkeypatch.setattr(kbuffer._Run, "tidy", watch)
    release(tmp_path / "in.tsv", tmp_path / "b.tsv", "--seed", "1", "--no-mask", "--order", "file", *options)
    assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()
    assert len(most) > 5 and max(most) <= 2000


def test_help_names_methods_and_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    """--help has an example, the methods, and the options of the chosen one."""
    assert main(["release", "--method", "kbuffer", "--help"]) == 0
    said = capsys.readouterr().out
    assert "Example: proxid release" in said and "--max-delay-records" in said and "zealous" in said
