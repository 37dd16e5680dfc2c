"""Logs on disk: every format gives back what was written, nothing readable is lost, nothing unreadable is hidden."""

import gzip
import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.errors import InputError
from proxid.lab.logs import Dictionaries, Layout, LogBatch, create_log, layout_of, open_log, read_log
from proxid.lab.logs.tsv.scan import MAX_LINE
from proxid.loglines.layout import FIELDS

NAMES = ("log.tsv", "log.txt.gz", "log.jsonl", "log.jsonl.gz", "log.parquet")
HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
named = text.filter(bool)
path_of = st.lists(st.sampled_from(["Arts", "Music", "é", "Piano 1", "x"]), min_size=1, max_size=4).map("/".join)
record = st.tuples(
    named,
    text,
    st.one_of(st.just(float("nan")), st.integers(0, 4_000_000_000).map(float)),
    st.integers(-1, 500),
    st.one_of(st.just(""), named),
    st.one_of(st.just(""), path_of),
    st.integers(-1, 1000),
)


def make_batch(rows: list[tuple], known: Dictionaries) -> LogBatch:
    """A batch of records in the order of FIELDS."""
    user, query, time, rank, url, category, group = (list(c) for c in zip(*rows, strict=True)) if rows else [[]] * 7
    return LogBatch(
        known.user.encode(user),
        known.query.encode(query),
        np.array([known.tree.add(path) or -1 for path in category], np.int32),
        np.array(time, np.float64),
        np.array(rank, np.int32),
        np.array([known.url.code(one) if one else -1 for one in url], np.int32),
        np.arange(len(rows), dtype=np.int64),
        np.array(group, np.int32),
    )


def same(a: LogBatch, b: LogBatch) -> bool:
    """Whether two batches with the same dictionaries hold the same records."""
    return all(np.array_equal(getattr(a, f), getattr(b, f), equal_nan=f == "time") for f in (*FIELDS, "row"))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(rows=st.lists(record, max_size=30))
def test_round_trip(name: str, rows: list[tuple]) -> None:
    """Written and read again, a log is the same."""
    with tempfile.TemporaryDirectory() as folder:
        known, file = Dictionaries(), Path(folder) / name
        batch = make_batch(rows, known)
        layout = layout_of(file, like=Layout(fields=FIELDS))
        with create_log(file, layout, known) as out:
            out.write(batch.take(slice(0, 5)))
            out.write(batch.take(slice(5, None)))
        again, log = read_log(file, dictionaries=known)
        assert len(log.bad) == 0 and log.rows == len(rows)
        assert same(batch, again)
        assert not rows or not name.startswith("log.t") or log.layout == layout


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(record, max_size=20), size=st.integers(1, 200), ending=st.sampled_from(["\n", "\r\n"]))
def test_blocks_do_not_matter(rows: list[tuple], size: int, ending: str) -> None:
    """However few bytes are read at once, and however lines end, the records are the same."""
    with tempfile.TemporaryDirectory() as folder:
        known, file = Dictionaries(), Path(folder) / "log.tsv"
        with create_log(file, Layout(fields=FIELDS), known) as out:
            out.write(make_batch(rows, known))
        whole, _ = read_log(file, dictionaries=known)
        file.write_bytes(file.read_bytes().replace(b"\n", ending.encode()).rstrip(b"\r\n") if rows else HEADER)
        with open_log(file, dictionaries=known, batch_bytes=size) as log:
            parts = LogBatch.concatenate(list(log))
        assert len(log.bad) == 0 and same(whole, parts)


def lines_of(data: bytes, folder: Path, name: str = "log.tsv", **options: int) -> tuple[list[tuple], list]:
    """(user, query, category) of each record, and the bad lines."""
    (folder / name).write_bytes(data)
    with open_log(folder / name, **options) as log:
        batch, known = LogBatch.concatenate(list(log)), log.dictionaries
    users, queries = known.user.decode(batch.user), known.query.decode(batch.query)
    return list(zip(users, queries, known.category.decode(batch.category), strict=True)), log.bad.lines


def test_quotes_are_text(tmp_path: Path) -> None:
    """An opening quote swallows nothing: AOL's texts hold them unescaped."""
    data = HEADER + b'1\t"new york\t2006-03-01 07:17:12\t\t\n2\tsay "hi" \'\t2006-03-01 07:17:13\t1\thttp://a.b\n'
    rows, bad = lines_of(data, tmp_path)
    assert [row[:2] for row in rows] == [("1", '"new york'), ("2", 'say "hi" \'')] and not bad


def test_bad_rows_are_counted_with_their_lines(tmp_path: Path) -> None:
    """Each reason, with the line it stands on; the rows around are read."""
    lines = [
        b"1\tgood\t2006-03-01 07:17:12\t\t",
        b"alone",
        b"1\ta\tb\tc\td\te",
        b"\tno user\t2006-03-01 07:17:12\t\t",
        b"2\tbad \xff\xfe utf\t2006-03-01 07:17:12\t\t",
        b"2\ttime\t2006-02-30 07:17:12\t\t",
        b"2\ttime\tyesterday\t\t",
        b"2\trank\t2006-03-01 07:17:12\t1.5\t",
        b"",
        b"3\tgood too\t\t\t",
    ]
    rows, bad = lines_of(HEADER + b"\n".join(lines), tmp_path)
    assert [row[0] for row in rows] == ["1", "3"]
    reasons = ["too few fields", "too many fields", "no user", "not UTF-8", "time unreadable", "time unreadable"]
    assert bad == [*zip(range(3, 9), reasons, strict=True), (9, "rank not a number"), (10, "too few fields")]


@pytest.mark.parametrize("size", [1 << 10, 1 << 16, 1 << 22])
def test_a_huge_line_is_one_bad_row(tmp_path: Path, size: int) -> None:
    """Longer than a block or not, a line over the limit is bad; what follows is read, memory stays bounded."""
    data = HEADER + b"1\ta\t\t\t\n2\t" + b"x" * (3 * MAX_LINE) + b"\t\t\t\n3\tb\t\t\t\n4\tc\t\t\t"
    rows, bad = lines_of(data, tmp_path, batch_bytes=size)
    assert [row[0] for row in rows] == ["1", "3", "4"] and bad == [(3, "line too long")]
    longest = HEADER + b"1\t" + b"y" * (MAX_LINE - 5) + b"\t\t\t\n2\tb\t\t\t\n"
    rows, bad = lines_of(longest, tmp_path, batch_bytes=size)
    assert [len(row[1]) for row in rows] == [MAX_LINE - 5, 1] and not bad


def test_layouts_of_files_without_header(tmp_path: Path) -> None:
    """Three cells where nothing was clicked, five where something was; six where categories are."""
    for data, fields in [
        (b"1\ta\t2006-03-01 07:17:12\n1\tb\t2006-03-01 07:17:12\t1\thttp://a\n", 5),
        (b"1\ta\t2006-03-01 07:17:12\n", 3),
        (b"1\ta\t2006-03-01 07:17:12\t\t\tArts/Music\n", 6),
    ]:
        (tmp_path / "log.tsv").write_bytes(data)
        with open_log(tmp_path / "log.tsv") as log:
            assert log.layout == Layout(fields=FIELDS[:fields], header=False)
            assert len(next(iter(log))) == data.count(b"\n") and not len(log.bad)


def test_header_decides_the_columns(tmp_path: Path) -> None:
    """Columns in another order, a byte order mark, CR LF; a column that no log has is refused."""
    rows, bad = lines_of(b"\xef\xbb\xbfUser\tCategory\tQuery\r\n7\tA/B\thello\r\n8\t\thi\r\n", tmp_path)
    assert rows == [("7", "hello", "A/B"), ("8", "hi", "")] and not bad
    with pytest.raises(InputError, match="header"):
        lines_of(b"AnonID\tQuery\tPassword\n", tmp_path)


@pytest.mark.parametrize(
    ("name", "data", "missing"),
    [
        ("log.tsv", "who\twhat\twhen\n1\tcats\t2006-03-01 00:00:00\n", "user (AnonID) and query (Query)"),
        ("log.tsv", "AnonID\tText\tQueryTime\n1\tcats\t2006-03-01 00:00:00\n", "query (Query)"),
        ("log.tsv", "Who\tQuery\tQueryTime\n", "user (AnonID)"),
        ("log.tsv", "user_id\ttext\n1\tcats\n", "user (AnonID) and query (Query)"),
        ("log.jsonl", '{"usr": "1", "text": "cats"}\n', "user (AnonID) and query (Query)"),
        ("log.jsonl", '{"user": "1", "text": "cats"}\n', "query (Query)"),
    ],
)
def test_a_log_of_other_columns_is_refused(tmp_path: Path, name: str, data: str, missing: str) -> None:
    """The message says what is missing and nothing of what the file says."""
    (tmp_path / name).write_text(data)
    with pytest.raises(InputError) as caught:
        read_log(tmp_path / name)
    assert str(caught.value).endswith(f"without {missing}: name the columns so")


def test_parquet_of_other_columns_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"AnonID": [1], "text": ["cats"]}), tmp_path / "log.parquet")
    with pytest.raises(InputError, match=r"without query \(Query\): name the columns so$"):
        read_log(tmp_path / "log.parquet")


def test_a_first_row_of_words_is_no_header(tmp_path: Path) -> None:
    """Queries may be called like columns; a first row with a broken time is a bad row of a log of numbers."""
    rows, bad = lines_of(b"alice\ttime\nbob\tquery\n", tmp_path)
    assert [row[:2] for row in rows] == [("alice", "time"), ("bob", "query")] and not bad
    rows, bad = lines_of(b"1\ttime\tyesterday\n2\trank\t2006-03-01 07:17:12\n", tmp_path)
    assert [row[0] for row in rows] == ["2"] and bad == [(1, "time unreadable")]


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_log(tmp_path: Path, name: str) -> None:
    """No records are a log too."""
    known = Dictionaries()
    with create_log(tmp_path / name, layout_of(tmp_path / name), known):
        pass
    batch, log = read_log(tmp_path / name)
    assert len(batch) == 0 and len(log.bad) == 0


def test_jsonl_says_what_is_wrong(tmp_path: Path) -> None:
    """Each line that is no record, with its number; times of every ISO form are read."""
    lines = [
        '{"user": "a", "query": "x", "time": "2006-03-01T07:17:12Z", "category": "A/B", "extra": [1]}',
        '{"user": "a"', "[1]", '{"query": "x"}', '{"user": "a", "query": 7}', '{"user": "a", "query": "x", "rank": -5}',
        '{"user": "a", "query": "x", "time": "soon"}', '{"user": true, "query": "x"}',
        '{"user": "\\ud800", "query": ""}',
        '{"user": "a", "text": ["x"]}', '{"user": 12, "query": null, "time": "2006-03-01 08:17:12+01:00"}',
    ]  # fmt: skip
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    batch, log = read_log(tmp_path / "log.jsonl")
    assert batch.time.tolist() == [1_141_197_432.0] * 2 and log.layout.fields == (*FIELDS[:4], "category")
    reasons = ["not JSON", "not a JSON object", "no user", "query of the wrong type", "a number out of range"]
    reasons += ["time unreadable", "user of the wrong type", "not UTF-8", "no query"]
    assert log.bad.lines == list(zip(range(2, 11), reasons, strict=True))


def test_parquet_of_other_makers(tmp_path: Path) -> None:
    """AOL's names, whole-number users, timestamps, dictionary columns; a release keeps the types."""
    table = pa.table({
        "AnonID": pa.array([7, None, 8], pa.int64()),
        "Query": pa.array(["a", "b", None]).dictionary_encode(),
        "QueryTime": pa.array([1_141_197_432_500, 0, None], pa.timestamp("ms")),
        "other": pa.array([1.0, 2.0, 3.0]),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "in.parquet")
    batch, log = read_log(tmp_path / "in.parquet")
    assert log.dictionaries.user.decode(batch.user) == ["7", "8"] and log.bad.lines == [(2, "no user")]
    assert batch.time[0] == 1_141_197_432.5 and np.isnan(batch.time[1])
    with create_log(tmp_path / "out.parquet", log.layout.having("category"), log.dictionaries) as out:
        out.write(batch)
    again = pq.read_table(tmp_path / "out.parquet")
    assert again.column("user").to_pylist() == [7, 8] and again.column_names == ["user", "query", "time", "category"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("log.tsv.gz", gzip.compress(HEADER * 1000)[:-20]),
        ("log.jsonl.gz", b"not gzip at all"),
        ("log.parquet", b"PAR1 nothing"),
        ("log.csv", b"1,2"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, name: str, data: bytes) -> None:
    """A file that cannot be read to its end is an error, not a short log; the message holds nothing of it."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_log(tmp_path / name)
    assert "1,2" not in str(caught.value) and "nothing" not in str(caught.value)


def test_text_that_tsv_cannot_hold(tmp_path: Path) -> None:
    """Tabs and line breaks of JSON become spaces; the number of rows stays."""
    (tmp_path / "log.jsonl").write_text(json.dumps({"user": "a\tb", "query": "line\nbreak\ttab\r " + "x" * 40}))
    batch, log = read_log(tmp_path / "log.jsonl")
    with create_log(tmp_path / "out.tsv", layout_of(tmp_path / "out.tsv"), log.dictionaries) as out:
        out.write(batch)
    rows, bad = lines_of((tmp_path / "out.tsv").read_bytes(), tmp_path)
    assert rows == [("a b", "line break tab  " + "x" * 40, "")] and not bad


def test_an_abandoned_log_leaves_nothing(tmp_path: Path) -> None:
    """An error while writing removes what was written and keeps an older file."""
    for name in NAMES:
        (tmp_path / name).write_bytes(b"older")
        with pytest.raises(RuntimeError), create_log(tmp_path / name, layout_of(tmp_path / name), Dictionaries()):
            raise RuntimeError
        assert (tmp_path / name).read_bytes() == b"older"
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(NAMES)


def test_the_classifier_files_what_has_no_category(tmp_path: Path) -> None:
    """Each text is asked once; what it cannot file stays without."""
    asked: list[str] = []

    def classify(query: str) -> str:
        asked.append(query)
        return "" if query == "?" else "Arts/Music"

    (tmp_path / "log.tsv").write_bytes(b"1\ta\t\t\t\tSports\n1\tb\t\t\t\t\n2\tb\t\t\t\t\n2\t?\t\t\t\t\n")
    batch, log = read_log(tmp_path / "log.tsv", classifier=classify)
    assert log.dictionaries.category.decode(batch.category) == ["Sports", "Arts/Music", "Arts/Music", ""]
    assert asked == ["b", "?"]
