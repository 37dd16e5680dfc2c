"""Valid files of every kind that somebody hands over or a disk gives back: what the fuzzer of readers changes."""

import base64
import contextlib
import gzip
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from auditor.reading.export import FolderLog
from proxid.classify.weights import to_bytes
from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.people import Tokens
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.state import ConsentState, HouseholdState, Lasting
from proxid.clients.subscriber.acknowledgements import Acknowledgements
from proxid.clients.subscriber.profiles import Profiles
from proxid.crypto.revocation import Revocation
from proxid.evidence.checkpoint import origin
from proxid.lab.studies.thesis.plan import Cell
from proxid.protocol.receipt import DeliveryAck
from proxid.runtime.config import load
from proxid.runtime.evidence_log.admitted import Admitted, Damage
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.provision.policies import PolicyFolder
from proxid.runtime.provision.revocations import bring_revocations, write_revocations
from tests.support.exports import GOOGLE, alexa_export, google_export

PLANTED: Final = "zanzibarquetzal"
RECORDED: Final = Path(__file__).parents[2] / "vectors/evidence_v1"
AOL: Final = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
TSV: Final = AOL + "".join(f"u{n}\t{PLANTED} {n}\t2006-03-01 07:17:1{n}\t{n}\thttp://a.example\n" for n in range(9))
ROWS: Final = [
    {"user": f"u{n}", "query": f"{PLANTED} {n}", "time": 1141197432 + n, "category": "Arts/A"} for n in range(9)
]
COST: Final = {"epsilon": 1.0, "delta": 1e-6, "delta_kind": "approximate", "relation": "replace"}
EPOCH: Final = 20_454
CELL: Final = Cell("thesis", 3, 1)


def said(*words: str) -> tuple[int, str, str]:
    """A command's exit status, output and errors."""
    from proxid.cli.main import main

    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(list(words))
    return status, out.getvalue(), errors.getvalue()


def _done(*words: str) -> None:
    status, _, errors = said(*words)
    assert status == 0, (words, errors)


def make_stock(folder: Path) -> Path:
    """Write all of it into a folder."""
    joined = folder / "joined"
    _joined(joined)
    _household(joined / "home")
    _party(joined / "acme")
    _evidence(folder, joined / "house/gateway/signing.key")
    _store(folder / "store")
    _laboratory(folder / "lab")
    return folder


def _joined(folder: Path) -> None:
    """A host that runs its own services, a party and a household that joined."""
    house = folder / "house"
    roles = "ea,gateway,main-service,auditor,witness"
    _done("init", str(house), "--only", roles, "--parties", "acme")
    for role, name, more in (("party", "acme", ()), ("device", "home", ("-u", f"{PLANTED}-ann"))):
        into = folder / name
        _done("invite", role, name, "--house", str(house))
        _done("join", str(house / f"invited/{role}-{name}.invitation"), "--into", str(into), *more)
        _done("admit", str(into / f"{role}-{name}.request"), "--house", str(house), "--yes")
        _done("join", str(house / f"admitted/{role}-{name}.admission"), "--into", str(into), "--yes")


def _household(folder: Path) -> None:
    config = load(DeviceConfig, folder / "device.toml")
    data = config.data_dir
    (name, user), *_ = HouseholdState(data).users().items()
    user.epoch_key(EPOCH)
    user.save_consent(EPOCH, ConsentState(3, "everything", (b"vector", b"message")))
    user.keep_choice(Lasting("everything", frozenset({"acme"})))
    user.keep_objection(1_767_225_600.0)
    user.history.start()
    for at in range(3):
        user.history.add(1_767_225_600.0 + at, f"{PLANTED} {at}")
    Tokens(data, [name]).make(name)
    Codes(data, [name]).make(name)
    shutil.copy(RECORDED / "receipts/receipts.jsonl", data / "receipts.jsonl")
    (data / "receipts.jsonl.presented").write_text(json.dumps({"auditor": "127.0.0.1:7445", "offset": 0}))
    (folder / "ask.json").write_text(
        json.dumps({"users": [{"user_id": name, "key": base64.b64encode(user.key.public).decode()}]})
    )
    authority = load_signing_key(folder.parent / "house/ea/signing.key")
    revoked = [Revocation.issue(name, user.key.public, 1, authority)]
    write_revocations(folder / "ann.revoked", revoked)
    bring_revocations(data, revoked, authority.public)
    enrolled = base64.b64encode(user.enrolment.encode()).decode()
    (folder / "told.json").write_text(json.dumps({"enrolments": [enrolled]}))


def _party(folder: Path) -> None:
    data = folder / "data"
    data.mkdir(exist_ok=True)
    row = {"user": f"{PLANTED}-ann", "kind": "general", "category": "Arts/A", "time": 1, "text": PLANTED}
    lines = [
        {
            "epoch": EPOCH,
            "group": at,
            "cursor": at,
            "digest": "ab" * 32,
            "records": [{**row, "user": f"{PLANTED}-{at}"}],
        }
        for at in range(1, 5)
    ]
    lines.append({"notice": "ab" * 32, "kind": "object", "user": f"{PLANTED}-1", "time_ms": 1})
    lines.append({"epoch": EPOCH, "group": 2, "cursor": 2, "retracted": True})
    (data / "feed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Profiles(data / "feed.jsonl"):
        pass
    key = load_signing_key(folder / "signing.key")
    with Acknowledgements(data / "acknowledgements.jsonl") as taken:
        for at in range(1, 4):
            taken.add(DeliveryAck("acme", "main-service", EPOCH, at, b"d" * 32).sign(key))


def _evidence(folder: Path, signing_key: Path) -> None:
    """An auditor's export, state, reports, heads and policies; a service's log, and what it holds of heads."""
    recorded = folder / "recorded"
    shutil.copytree(RECORDED, recorded)
    for key in recorded.glob("*/*.key"):
        key.chmod(0o600)
    config = recorded / "auditor/auditor.toml"
    config.write_text(f"require_witness = false\n{config.read_text()}")
    for _ in range(2):
        status, out, errors = said(
            *audit_of(recorded), "--out", str(recorded / "reports"), "--receipts", str(recorded / "receipts")
        )
        assert status == 2, out + errors  # unchecked: of a release that said less
    log, key = folder / "log/evidence", load_signing_key(signing_key)
    leaves = LeafLog(log, origin("main-service", "gateway"), key)
    leaves.append(list(FolderLog(recorded / "export/gateway").leaves(1, 12)))
    leaves._segments.rotate()
    leaves.append(list(FolderLog(recorded / "export/gateway").leaves(12, 20)))
    leaves.close()
    Admitted((Damage(3, 4, "disk", True),)).write(log)
    shutil.copy(signing_key, folder / "log/signing.key")
    (folder / "log/heads").mkdir()
    shutil.copy(log / "checkpoint", folder / "log/heads/own.head")
    shutil.copytree(recorded / "reports/000001", recorded / "heads")
    presented = recorded / "presented/device/home"
    presented.mkdir(parents=True)
    rows = map(json.loads, (RECORDED / "receipts/receipts.jsonl").read_text().splitlines())
    lines = "".join(json.dumps({**row, "time_ms": 1}) + "\n" for row in rows)
    (presented / "receipts.jsonl").write_text(lines)
    policies = PolicyFolder(recorded / "auditor/data")
    digest = policies.digests()[0]
    policies.add(policies.find(digest.hex()), {"8928308280fffff": 7})
    shutil.copy(policies.folder / f"{digest.hex()}.json", recorded / "policy.json")
    policies.activate(digest, 3)
    policies.go_by(3, digest)


def _store(folder: Path) -> None:
    """What a store appends to."""
    (folder / "appendonlydir").mkdir(parents=True)
    commands = b"".join(b"*3\r\n$3\r\nSET\r\n$1\r\n%d\r\n$3\r\nxyz\r\n" % at for at in range(5))
    (folder / "appendonlydir/appendonly.aof.1.incr.aof").write_bytes(commands)


def audit_of(recorded: Path, *more: str) -> tuple[str, ...]:
    """The words of a command that audits the recorded export."""
    config = str(recorded / "auditor/auditor.toml")
    return "audit", "--config", config, "--from", str(recorded / "export"), "--no-pipeline", "--json", *more


def _laboratory(folder: Path) -> None:
    folder.mkdir()
    for name, data in (_logs() | _released() | _others()).items():
        (folder / name).write_bytes(data)
    (folder / "cells").mkdir()
    (folder / f"cells/{CELL.name}.json").write_bytes(_text({"fingerprint": "mark", "rows": [1, 2]}))


def _logs() -> dict[str, bytes]:
    tsv, jsonl = TSV.encode(), "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    table = pa.table({name: [row[name] for row in ROWS] for name in ("user", "query", "category")})
    return {
        "log.tsv": tsv, "log.tsv.gz": gzip.compress(tsv, mtime=0), "log.jsonl": jsonl,
        "log.jsonl.gz": gzip.compress(jsonl, mtime=0), "log.parquet": _parquet(table),
        "utterances.txt": b"play jazz\nwhat is the time\n",
    }  # fmt: skip


def _released() -> dict[str, bytes]:
    items = f"count\tquery\n7\t{PLANTED}\n5\tx\n".encode()
    entry = {"time": "2026-01-01", "mechanism": "zealous", "part": [0, 1], **COST}
    account = {"budget": COST, "declared": True, "entries": [entry]}
    parameters = {"mode": "mix", "k": 3, "level": 1, "margin": 1}
    return {
        "items.tsv": items, "items.tsv.gz": gzip.compress(items, mtime=0),
        "items.jsonl": b'{"count": 7, "query": "x"}\n{"count": 5, "query": "y"}\n',
        "items.parquet": _parquet(pa.table({"count": [7, 5], "query": [PLANTED, "x"]})),
        "ledger.json": _text({"version": 2, "files": {}, "inputs": {"records:1": account}}),
        "spent.json": _text({"version": 1, "epsilon": 1.0, "maximum": 9, "spent": {PLANTED: 3}}),
        "r.tsv.manifest.json": _text({"mechanism": "kbuffer", "details": {}, "parameters": parameters}),
        "truth.tsv": b"row\tinput\tat\tgroup\n0\t1\t1\t1\n1\t0\t1\t1\n",
        "groups.tsv": b"u1\ta\nu2\tb\n",
    }  # fmt: skip


def _others() -> dict[str, bytes]:
    google, name = google_export(GOOGLE), "Takeout/My Activity/Assistant/MyActivity.json"
    alexa = alexa_export([("play jazz", "2024-01-01T00:00:00Z"), ("what time is it", "2024-01-02")])
    return {
        "ontology.csv": b"id,parent,name\n1,,Arts\n2,1,Music & Audio\n3,,Sports\n",
        "odp.txt": b"Top/Arts/Music\t3\nTop/Sports\t4\n",
        "patterns.jsonl": b'{"label": "BADGE", "pattern": [{"SHAPE": "dd"}]}\n{"label": "DOG", "pattern": "rex"}\n',
        "MyActivity.json": google, "takeout.zip": _zip(name, google), "alexa.zip": _zip("Alexa/Intent-2-1.csv", alexa),
        "population.tsv": b"8928308280fffff\t7\n8928308280bffff,9\n", "upstream.key": b"sk-zanzibarquetzal\n",
        "weights.npz": to_bytes({"a": np.arange(6.0), "b": np.ones((2, 3), np.int8)}),
    }  # fmt: skip


def _text(value: object) -> bytes:
    return json.dumps(value).encode()


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _zip(name: str, data: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return sink.getvalue()
