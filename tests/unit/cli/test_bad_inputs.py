"""A folder of inputs as they come: each is read, or refused with the reason, and nothing fails unforeseen."""

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
QUERY, N = "how tall is mount everest", 24
ROWS = [f"{100 + n}\t{QUERY}\t2006-03-01 07:17:{n:02d}\t\t\n" for n in range(N)]
OBJECTS = [{"user": str(100 + n), "query": QUERY, "time": 1141197420 + n} for n in range(N)]


def write_inputs(folder: Path) -> None:
    """A file of every kind."""
    text = AOL + "".join(ROWS)
    texts = {
        "good.tsv": text,
        "bare.tsv": "".join(ROWS),
        "three_cells.txt": AOL + "ann\twhat time is it\t2006-03-01 07:17:12\n",
        "lower_case.tsv": text.lower(),
        "no_time.tsv": AOL + "".join(f"{100 + n}\t{QUERY}\t\t\t\n" for n in range(N)),
        "german.tsv": "Benutzer\tAnfrage\n" + "".join(f"{100 + n}\t{QUERY}\n" for n in range(N)),
        "swapped.tsv": "Suchanfrage\tBenutzer\n" + "".join(f"{QUERY}\t{100 + n}\n" for n in range(N)),
        "cr.tsv": text.replace("\n", "\r"),
        "quoted.tsv": AOL + "".join(f'{n}\t"how tall is\tmount everest"\t2006-03-01 07:17:00\t\t\n' for n in range(N)),
        "epoch.jsonl": "".join(json.dumps(row) + "\n" for row in OBJECTS),
        "null.jsonl": '{"user":"ann","text":null}\n',
        "spoken.jsonl": '\ufeff{"user":"ann","text":"what time is it"}\n',
        "speaker.jsonl": '{"speaker":"ann","utterance":"what time is it"}\n',
        "deep.jsonl": "[" * 50_000 + "\n",
        "activity.json": '[{"title": "asked"}]\n',
        "export.csv": "a,b\n1,2\n",
        "tiny.args": "release --method zealous --epsilon 5e-324 --delta 1e-6\nrelease --method partition --m 0\n",
        "program.py": "raise SystemExit\n",
        "said.txt": "what time is it\n",
        "empty.tsv": "",
    }
    for name, held in texts.items():
        (folder / name).write_text(held, "utf-8", newline="")
    (folder / "latin1.tsv").write_bytes((AOL + f"1\t{QUERY} in münchen\t\t\t\n" * N).encode("latin-1"))
    (folder / "utf16.tsv").write_bytes(text.encode("utf-16"))
    (folder / "cut.tsv.gz").write_bytes(gzip.compress(text.encode())[:-20])
    (folder / "good.tsv.gz").write_bytes(gzip.compress(text.encode()))
    times = {
        "ms": pa.array([1141197420000] * N), "nan": pa.array([float("nan")] * N),
        "y20000": pa.array([569_000_000_000] * N, pa.timestamp("s")), "good": pa.array([1141197420.0] * N),
    }  # fmt: skip
    for name, column in times.items():
        users = [str(100 + n) for n in range(N)]
        pq.write_table(pa.table({"user": users, "query": [QUERY] * N, "time": column}), folder / f"{name}.parquet")
    (folder / "no.parquet").write_bytes(b"PAR1" * 20)


EXPECTED = {
    ("good.tsv", "release"): (0, ""),
    ("good.tsv", "device"): (0, ""),
    ("good.tsv.gz", "release"): (0, ""),
    ("bare.tsv", "release"): (0, "has no header: column 1 for user, column 2 for query, column 3 for time"),
    ("three_cells.txt", "release"): (0, "nothing was released"),
    ("three_cells.txt", "device"): (0, ""),
    ("lower_case.tsv", "device"): (0, ""),
    ("no_time.tsv", "release"): (0, ""),
    ("german.tsv", "release"): (2, "header without user (AnonID) and query (Query)"),
    ("german.tsv", "device"): (2, "header without user (AnonID) and query (Query)"),
    ("swapped.tsv", "release"): (2, "header without user"),
    ("cr.tsv", "release"): (2, "lines end in CR alone"),
    ("quoted.tsv", "release"): (2, "too many fields (24 rows, first line 2)"),
    ("epoch.jsonl", "release"): (0, ""),
    ("null.jsonl", "device"): (2, "null.jsonl: line 1 is no event"),
    ("spoken.jsonl", "device"): (0, ""),
    ("spoken.jsonl", "release"): (2, "without query (Query)"),
    ("speaker.jsonl", "device"): (2, "line 1 is no event: no user"),
    ("deep.jsonl", "release"): (2, "not JSON (1 rows, first line 1)"),
    ("activity.json", "release"): (2, "a log's name ends in"),
    ("export.csv", "device"): (2, "JSON lines or tab-separated"),
    ("tiny.args: release --method zealous --epsilon 5e-324 --delta 1e-6", "release"): (2, "epsilon is at least 1e-09"),
    ("tiny.args: release --method partition --m 0", "release"): (2, "m is at least 1"),
    ("said.txt", "classify"): (0, ""),
    ("empty.tsv", "release"): (0, "0 records"),
    ("empty.tsv", "device"): (2, "nobody to enrol"),
    ("latin1.tsv", "release"): (2, "not UTF-8 (24 rows, first line 2)"),
    ("utf16.tsv", "release"): (2, "UTF-16"),
    ("cut.tsv.gz", "release"): (2, "cut.tsv.gz: the log cannot be read to its end"),
    ("cut.tsv.gz", "device"): (2, "damaged or cut short"),
    ("ms.parquet", "release"): (2, "time unreadable (24 rows, first line 1)"),
    ("nan.parquet", "release"): (2, "time unreadable"),
    ("y20000.parquet", "release"): (2, "time unreadable"),
    ("good.parquet", "release"): (0, ""),
    ("no.parquet", "release"): (2, "no.parquet: the log cannot be opened as Parquet"),
}


def script() -> ModuleType:
    path = Path(__file__).parents[3] / "scripts/bad_inputs.py"
    spec = importlib.util.spec_from_file_location("bad_inputs", path)
    assert spec is not None and spec.loader is not None
    sys.modules["bad_inputs"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_input_is_read_or_refused_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_inputs(tmp_path)
    assert script().main([str(tmp_path), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    found = {(row["input"], row["command"]): (row["status"], row["said"]) for row in rows}
    assert not any("program.py" in name for name, _ in found)
    for asked, (status, said) in EXPECTED.items():
        assert found[asked][0] == status and said in found[asked][1], (asked, found[asked])
        assert said or "warning" not in found[asked][1], (asked, found[asked])
    assert all(status in (0, 2) and "everest" not in said for status, said in found.values())
