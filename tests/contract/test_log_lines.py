"""The plain reader of lines and the laboratory's columnar one read the same records from the same bytes."""

import gzip
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device_sim.corpus import read_events
from proxid.errors import InputError
from proxid.lab.logs import LogBatch, open_log
from proxid.lab.logs.jsonl import named_columns
from proxid.loglines import FIELDS, read_lines

AOL = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
TIMES = [
    b"2006-03-01 07:17:12", b"2006-03-01T07:17:12Z", b"2006-03-01 07:17:12.25", b"2006-03-01 07:17:12+02:00",
    b"2006-03-01 07:17:12.5-11:30", b"0001-01-01 00:00:00", b"9999-12-31 23:59:59", b"0000-01-01 00:00:00", b"",
    b"0001-01-01 00:00:00+01:00", b"9999-12-31 23:59:59-00:01", b"2006-02-29 00:00:00", b"2006-03-01 24:00:00",
    b"2006-03-01 07:17:60", b"2006-03-01 07:17:61", b"2006-03-01", b"yesterday", b"1141197432", b"nan", b"inf",
    b"2006-03-01 07:17:12.", b"2006-03-01 07:17:12.x", b"2006-03-01 07:17:12.123456789xyz", b"2006-03-01 07:17:12+2:00",
    b"2006-03-01 07:17:12+25:00", b"2006-03-01 07:17:12 Z", b"20006-03-01 07:17:12", b"-001-03-01 07:17:12",
]  # fmt: skip
cell = st.one_of(
    st.sampled_from(
        [b"", b"7", b"u1", b"what time is it", b"\r", b"\xff", b"\xed\xa0\x80", b"\xc3\xbc", b"\0", b'"x', b"999999999",
         b"1000000000", b"-1", b"1.5", b" ", *TIMES]
    ),
    st.binary(max_size=6).filter(lambda b: b"\n" not in b and b"\t" not in b),
)  # fmt: skip
row = st.lists(cell, min_size=1, max_size=7).map(b"\t".join)
OBJECTS = [
    b'{"user":"a","query":"x","time":"2006-03-01T07:17:12+02:00"}', b'{"user":5,"query":null,"time":1141197432}',
    b'{"user":"a","query":"x","time":1141197432000}', b'{"user":"a","query":"x","time":NaN}', b"[1]", b"", b"{",
    b"\xff", b'{"user":"a","text":"x"}', b'{"AnonID":"a","Query":"x"}', b'{"user":"a","userid":"b","query":"x"}',
    b'{"user":"a","query":["x"]}', b'{"user":"a","query":5}', b'{"user":true,"query":"x"}', b'{"query":"x"}',
    b'{"user":"a","query":"\\ud800"}', b'{"user":"a","query":"x","time":1e400}', b'{"user":"a","query":"x","rank":1.5}',
    b'{"user":"a","query":"x","rank":3000000000}', b"[" * 100_000, b'{"user":' + b"9" * 5000 + b',"query":"x"}',
    b'{"user":"a","query":"x","time":-62135596801}', b'{"user":"a","query":"x","time":"0001-01-01T00:00:00+01:00"}',
    b'{"user":"a","query":"x","time":9e99}', b'{"user":"a","query":"x","time":true}',
]  # fmt: skip


def columnar(file: Path) -> tuple[list[tuple], list[tuple[int, str]]] | str:
    try:
        with open_log(file) as log:
            try:
                batch = LogBatch.concatenate(list(log))
            except InputError as error:  # of no row
                assert "no row" in error.rule and file.name in error.rule
                return [], log.bad.lines
            columns = named_columns(batch, log.dictionaries, FIELDS)
    except InputError as error:
        return error.rule.removeprefix(f"{file.name}: ")
    return list(zip(*columns.values(), strict=True)), log.bad.lines


def plain(file: Path, data: bytes, kind: str) -> tuple[list[tuple], list[tuple[int, str]]] | str:
    try:
        lines = list(read_lines(data, kind))
    except InputError as error:
        return error.rule
    rows = [tuple(_shown(line.cells[name]) for name in FIELDS) for line in lines if not line.reason]
    # An empty query is one, an empty URL or category is none.
    rows = [(user, query or "", time, *rest) for user, query, time, *rest in rows]
    return rows, [(line.number, line.reason) for line in lines if line.reason]


def _shown(value: object) -> object:
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return None if value in ("", -1) else value


def agree(folder: Path, name: str, data: bytes, kind: str) -> None:
    file = folder / name
    file.write_bytes(data)
    assert columnar(file) == plain(file, data, kind)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_times(tmp_path: Path, mark: bytes, ending: bytes) -> None:
    lines = [
        AOL.strip(),
        *(b"u\tq\t" + time for time in TIMES),
        *(b"u\tq\t" + time + b"\t1\thttp://a" for time in TIMES),
    ]
    agree(tmp_path, "log.tsv", mark + ending.join(lines), "tsv")


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(row, min_size=1, max_size=12), head=st.sampled_from([b"", AOL, b"query\tuser\ttime\n"]))
def test_rows(tmp_path_factory: pytest.TempPathFactory, rows: list[bytes], head: bytes) -> None:
    agree(tmp_path_factory.mktemp("rows"), "log.tsv", head + b"\n".join(rows), "tsv")


def test_objects(tmp_path: Path) -> None:
    agree(tmp_path, "log.jsonl", b'{"user":"first","query":"x"}\n' + b"\n".join(OBJECTS), "jsonl")
    for one in OBJECTS:
        agree(tmp_path, "one.jsonl", b'{"user":"first","query":"x"}\n' + one + b"\n", "jsonl")


REFUSED = {
    "utf-16": "AnonID\tQuery\n1\tmünchen\n2\tx\n".encode("utf-16"),
    "utf-16 without a mark": "AnonID\tQuery\n1\ta b\n2\tx\n".encode("utf-16-le"),
    "another language": b"Benutzer\tAnfrage\n" + b"".join(b"%d\thow tall\n" % i for i in range(100, 110)),
    "another language, cyrillic": "Имя\tЗапрос\n".encode() + b"".join(b"u%d\thow tall\n" % i for i in range(9)),
    "swapped, named otherwise": b"Suchanfrage\tBenutzer\n" + b"".join(b"how tall\t%d\n" % i for i in range(9)),
    "swapped, without names": b"".join(b"how tall is it\t%d\n" % i for i in range(9)),
    "times for queries": b"".join(b"%d\t2006-03-01 07:17:12\tx\n" % i for i in range(9)),
    "times for queries under names": AOL + b"".join(b"%d\t2006-03-01 07:17:12\t\n" % i for i in range(9)),
    "two columns of users": b"AnonID\tuser\tQuery\n1\t2\tx\n",
    "CR alone": AOL.replace(b"\n", b"\r") + b"1\tx\t\t\t\r2\ty\t\t\t\r",
    "header without a log's names": b"who\ttext\nann\tx\n",
}


@pytest.mark.parametrize("name", [n for n in REFUSED if n != "header without a log's names"])
def test_what_is_no_log_is_refused_by_both_with_the_same_words(tmp_path: Path, name: str) -> None:
    file = tmp_path / "log.tsv"
    file.write_bytes(REFUSED[name])
    found = columnar(file)
    assert isinstance(found, str) and found == plain(file, REFUSED[name], "tsv")
    with pytest.raises(InputError, match=r"log\.tsv"):
        list(read_events(file))


def test_a_first_row_like_the_others_is_no_header(tmp_path: Path) -> None:
    data = b"".join(b"u%d\twhat is the answer\n" % i for i in range(9))
    agree(tmp_path, "log.tsv", data, "tsv")
    assert sum(not line.reason for line in read_lines(data, "tsv")) == 9


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (AOL + "1\tmünchen\t\t\t\n".encode("latin-1"), "not UTF-8"),
        (AOL + b'1\t"how tall\tis it"\t2006-03-01 07:17:12\t\t\n', "too many fields"),
        (AOL + b"1\tx\tyesterday\t\t\n" * 3, r"time unreadable \(3 rows, first line 2\)"),
    ],
)
def test_the_reasons_are_said_when_no_row_can_be_read(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "log.tsv").write_bytes(data)
    with open_log(tmp_path / "log.tsv") as log, pytest.raises(InputError, match=f"log.tsv: no row .*{reason}"):
        list(log)


def test_replay_reads_a_log_as_release_does(tmp_path: Path) -> None:
    """A byte order mark, AOL's three cells, names in any case, CR LF, gzip; other types are refused by line."""
    for data in (
        b"\xef\xbb\xbfuserid\ttext\nann\thi\n", b"anonid\tquery\tquerytime\nann\thi\t2006-03-01 07:17:12\n",
        AOL + b"ann\thi\t2006-03-01 07:17:12\n", AOL + b"ann\thi\t2006-03-01 07:17:12\t\t\r\n",
    ):  # fmt: skip
        (tmp_path / "x.tsv").write_bytes(data)
        (tmp_path / "x.tsv.gz").write_bytes(gzip.compress(data))
        for name in ("x.tsv", "x.tsv.gz"):
            (event,) = read_events(tmp_path / name)
            assert (event.user, event.text) == ("ann", "hi")
    (tmp_path / "x.jsonl").write_bytes(b'\xef\xbb\xbf{"user":"ann","text":"hi"}\n\n{"AnonID":7,"query":"hi"}\n')
    assert [event.user for event in read_events(tmp_path / "x.jsonl")] == ["ann", "7"]
    for value in (b"null", b"5", b"[1]", b'{"a":1}', b'""', b'" "', b"true"):
        (tmp_path / "x.jsonl").write_bytes(b'{"user":"ann","text":"hi"}\n{"user":"ann","text":' + value + b"}")
        with pytest.raises(InputError, match=r"x\.jsonl: line 2"):
            list(read_events(tmp_path / "x.jsonl"))
