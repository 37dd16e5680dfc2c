"""Whatever a file holds, a reader of files takes it or refuses it by a typed error that quotes nothing of it."""

import gzip
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.checks import c9_receipts as presented
from device_sim.corpus import read_events
from proxid.clients.household import enrolment
from proxid.clients.household.receipts import read_receipts
from proxid.clients.household.register import FILE as REGISTER
from proxid.clients.household.register import Register
from proxid.clients.household.state import UserState
from proxid.clients.subscriber.kept import read_groups
from proxid.errors import InputError, ProxidError
from proxid.lab.load import Asked, find_mechanism, read_truth
from proxid.lab.logs import LogBatch, read_log
from proxid.lab.logs.batch import empty_batch
from proxid.lab.logs.digest import digest_of_records
from proxid.lab.release.ledger import Ledger
from proxid.lab.release.published import read_published
from proxid.lab.release.semantic.budget import load_stream_budget
from proxid.runtime.config.policy import load_policy
from proxid.runtime.config.population import load_population
from proxid.runtime.entry_file import read_entries
from proxid.runtime.provision import PublicFile
from proxid.runtime.provision.keyfile import load_signing_key

PLANTED = "zanzibarquetzal"
AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
TSV = AOL + "".join(f"u{n}\t{PLANTED} {n}\t2006-03-01 07:17:1{n % 10}\t{n}\thttp://a.example\n" for n in range(9))
JSONL = "".join(json.dumps({"user": f"u{n}", "query": PLANTED, "time": 1141197432 + n}) + "\n" for n in range(9))
PUBLISHED = f"count\tquery\n7\t{PLANTED}\n5\tx\n"
COST = {"epsilon": 1.0, "delta": 1e-6, "delta_kind": "approximate", "relation": "replace"}
ENTRY = {"time": PLANTED, "mechanism": PLANTED, "part": [0, 1], **COST}
LEDGER = {"version": 2, "files": {}, "inputs": {"records:1": {"budget": COST, "declared": True, "entries": [ENTRY]}}}
LINES = json.dumps({"kind": "right", "session": "00", "message": "AAAA", "text": PLANTED}) + "\n"


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


LOG = parquet(pa.table({"user": ["a", "b"], "query": [PLANTED, "x"], "time": pa.array([1.0, float("nan")])}))
ITEMS = parquet(pa.table({"count": [7, 5], "query": [PLANTED, "x"]}))


@dataclass(frozen=True)
class Case:
    """A reader of a file of that name, and what a good one holds."""

    name: str
    good: bytes
    read: Callable[[Path], Any]


TRUTH = b"row\tinput\tat\tgroup\n0\t1\t1\t1\n1\t0\t1\t1\n"


def two_records() -> LogBatch:
    """A log of two records."""
    log = empty_batch()
    ones = {name: np.zeros(2, getattr(log, name).dtype) for name in log.__slots__}
    return LogBatch(**ones | {"row": np.arange(2)})


def everything(reader: Callable[[Path], Iterator[Any]]) -> Callable[[Path], Any]:
    return lambda path: list(reader(path))


CASES = [
    *(
        Case(name, good, read)
        for name, good in {
            "log.tsv": TSV.encode(), "log.tsv.gz": packed(TSV), "log.jsonl": JSONL.encode(),
            "log.jsonl.gz": packed(JSONL), "log.parquet": LOG,
        }.items()
        for read in (read_log, digest_of_records)
    ),
    *(
        Case(name, good, everything(read_events))
        for name, good in {
            "say.tsv": TSV.encode(), "say.tsv.gz": packed(TSV), "say.jsonl": JSONL.encode(),
            "say.jsonl.gz": packed(JSONL),
        }.items()
    ),
    Case("items.tsv", PUBLISHED.encode(), read_published),
    Case("items.tsv.gz", packed(PUBLISHED), read_published),
    Case("items.jsonl", json.dumps({"count": 7, "query": PLANTED}).encode(), read_published),
    Case("items.parquet", ITEMS, read_published),
    Case("ledger.json", json.dumps(LEDGER).encode(), lambda path: Ledger(path).accounts()),
    Case(
        "state.json", json.dumps({"version": 1, "epsilon": 1.0, "maximum": 9, "spent": {PLANTED: 3}}).encode(),
        lambda path: load_stream_budget(path, 1.0, 9),
    ),
    Case("ask.json", json.dumps({"users": [{"user_id": PLANTED, "key": "AAAA"}]}).encode(), enrolment.read_request),
    Case("told.json", json.dumps({"enrolments": ["AAAA"]}).encode(), enrolment.read_answer),
    Case(REGISTER, (json.dumps({"user_id": PLANTED, "key": "00"}) + "\n").encode(), lambda p: Register.open(p.parent)),
    Case("receipts.jsonl", LINES.encode(), everything(read_receipts)),
    Case("receipts.jsonl", LINES.encode(), everything(presented.read_receipts)),
    Case("feed.jsonl", LINES.encode(), everything(read_entries)),
    Case("feed.jsonl", LINES.encode(), read_groups),
    Case(
        "epoch-1.json", json.dumps({"version": 1, "bundle": PLANTED, "pending": ["AA==", "AA=="]}).encode(),
        lambda path: UserState.consent(_user(path.parent), 1),
    ),
    Case(
        "r.tsv.manifest.json", b'{"details": {}, "parameters": {"mode": "mix", "k": 3, "level": 1, "margin": 1}}',
        lambda path: find_mechanism(Asked(), path.with_name("r.tsv"), grouped=True),
    ),
    Case("truth.tsv", TRUTH, lambda path: read_truth(path, 2, two_records())),
    Case("policy.toml", f"parties = ['{PLANTED}']\n".encode(), load_policy),
    Case("public.toml", f"role = 'party'\nname = '{PLANTED}'\n".encode(), PublicFile.read),
    Case("signing.key", b"proxid-signing-key AAAA\n", load_signing_key),
    Case("people.csv", b"cell,people\n8928308280fffff,7\n", load_population.__wrapped__),
]  # fmt: skip


def _user(folder: Path) -> UserState:
    user = UserState.__new__(UserState)
    user._folder = folder
    return user


WORDS = [b"\xff", b"\0" * 40, b"\t", b"\n", b"1e999", b"9" * 5000, b"NaN", b'"', b"null", b"-1"]


VALUES = [
    b"5", b"[]", b'"x"', b"null", b'{"epoch":[],"group":1,"cursor":1}', b'{"notice":[]}', b"\t\t\t\t\t\t\t\t", b"a\tb",
]  # fmt: skip


@st.composite
def damages(draw: st.DrawFn, good: bytes) -> bytes:
    """A good file cut, with bytes changed, put in or repeated, or bytes that never were one."""
    kind = draw(st.sampled_from(["cut", "flip", "insert", "value", "repeat", "random", "deep", "packed"]))
    at = draw(st.integers(0, len(good)))
    if kind == "cut":
        return good[:at]
    if kind == "flip":
        return good[:at] + bytes(draw(st.binary(min_size=1, max_size=3))) + good[at + 1 :]
    if kind == "insert":
        word = draw(
            st.sampled_from([b"\xff", b"\0" * 40, b"\t", b"\n", b"1e999", b"9" * 5000, b"NaN", b'"', b"null", b"-1"])
        )
        return good[:at] + word + good[at:]
    if kind == "value":
        return draw(st.sampled_from(VALUES)) + b"\n" + good
    if kind == "repeat":
        return good[:at] + good
    if kind == "deep":
        return good[:at] + b"[" * 20_000
    return draw(st.binary(max_size=200)) if kind == "random" else gzip.compress(good, mtime=0)[: at + 10]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name} by {getattr(case.read, '__name__', '')}")
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nothing_but_typed_errors_that_quote_nothing(case: Case, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / case.name
        path.write_bytes(data.draw(damages(case.good)))
        path.chmod(0o600)
        try:
            case.read(path)
        except ProxidError as error:
            assert PLANTED not in str(error)


@pytest.mark.parametrize(
    "text", ['{"details": 5}', '{"parameters": []}', '{"parameters": {"k": "x"}}', '{"parameters": {"k": 0}}',
             '{"parameters": {"mode": 7}}', '{"parameters": {"delta": [1]}}', '{"parameters": {"level": true}}']
)  # fmt: skip
def test_a_manifest_that_says_what_cannot_be_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.tsv.manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"r\.tsv"):
        find_mechanism(Asked(), tmp_path / "r.tsv", grouped=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name} by {getattr(case.read, '__name__', '')}")
def test_a_file_that_is_refused_is_named(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.name
    for data in (b"[" * 50_000, b"\xff\xfe\0", b'{"a": 1}\n' * 3, case.good[: len(case.good) // 2] + b"\xff"):
        path.write_bytes(data)
        path.chmod(0o600)
        try:
            case.read(path)
        except ProxidError as error:
            assert case.name in error.rule, error.rule
