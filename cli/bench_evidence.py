"""`proxid bench evidence`: how fast an audit is, what evidence costs the request path, how large it is.

The audit reads the evidence of a simulated day from disk, in one process, all nine checks but the pipeline's (which is
the classifier's speed). The share of it spent in signature checks is what the profiler's clock says of libsodium's
verify; next to it the bare Ed25519 verify rate of the same run. The request path is measured with the evidence writer
and without (plain events left in the store), on two houses in turns.

Options: events (20000), people (300), requests (a round, 1500), rounds (3), path (1; 0 leaves the request path out).
"""

import asyncio
import os
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import uvloop
from nacl import bindings

from auditor.audit import Audit, AuditOptions
from auditor.source import Heads
from cli.bench import Figure
from cli.bench_evidence_day import NOW, Day
from cli.bench_gateway import CONCURRENCY, _processor_seconds
from cli.demo_house import DemoHouse, DemoOptions
from cli.device_common import open_households
from device_sim.load import drive, prepare
from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import InputError
from proxid.evidence.leaf import Leaf
from proxid.evidence.note import Verifier
from proxid.store.evidence.reading import LogReader

COST_REACH: Final = 0.15
_PLAIN: Final = """
import asyncio
from proxid.store.evidence.writer import EvidenceWriter
async def run(self):
    while True:
        await asyncio.sleep(3600)
EvidenceWriter.run = run
"""
"""What a service without an evidence writer is: events stay in its store as they are."""


class DiskLog:
    """A log's folder as a source for the auditor."""

    def __init__(self, folder: Path, name: str, key: bytes) -> None:
        self._reader = LogReader(folder, Verifier(name, key))

    def heads(self) -> Heads:
        """The signed head."""
        return Heads(self._reader.checkpoint())

    def leaves(self, first: int, end: int) -> Iterator[Leaf]:
        """Leaves of the folder."""
        return self._reader.leaves(first, end - first)

    def consistency(self, old: int, size: int) -> list[bytes]:
        """A proof from stored nodes."""
        return self._reader.consistency(old, size)

    def inclusion(self, number: int, size: int) -> list[bytes]:
        """A proof from stored nodes."""
        return self._reader.inclusion(number, size)


class DiskKeys:
    """Evidence keys at hand."""

    def __init__(self, seeds: Mapping[bytes, bytes]) -> None:
        self._seeds = seeds

    def keys(self, tags: Sequence[bytes]) -> list[bytes]:
        """By subject tag."""
        return [self._seeds.get(tag, b"") for tag in tags]


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; raises InputError for an option that is no number."""
    try:
        numbers = {"events": 20_000, "people": 300, "requests": 1500, "rounds": 3, "path": 1}
        numbers |= {key: int(value) for key, value in options.items() if key in numbers}
    except ValueError:
        raise InputError("an option of this benchmark is a number") from None
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        figures = _audit(Path(folder), numbers["events"], numbers["people"])
    if numbers["path"]:
        figures |= _path(numbers["requests"], numbers["rounds"])
    return figures


def _audit(folder: Path, events: int, people: int) -> dict[str, Figure]:
    day = Day(folder, people=people)
    day.run(events)
    if not day.requests:
        raise InputError("events: too few for so many people")
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    trust = day.trust
    logs = [
        DiskLog(folder / name, f"proxid/main-service/{name}", key)
        for name, key in (("gateway", trust.screener), ("main-service", trust.service_key))
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with _verifications() as spent:
        start = time.perf_counter()
        audit = Audit(trust, DiskKeys(day.seeds), AuditOptions(settle=0.0), clock=lambda: NOW)
        report = audit.run(logs[0], logs[1])
        seconds = time.perf_counter() - start
    if report.violations:
        raise InputError(f"the simulated day is not clean: {report.violations[0].text}")
    bare = _bare_rate()
    return {
        "audit_events_per_s": _figure(day.events / seconds, "1/s", f"bare Ed25519 verify, {bare:,.0f}/s"),
        "audit_share_in_signatures": _figure(spent[0] / seconds, "share of time"),
        "audit_signatures_per_s": _figure(spent[1] / seconds, "1/s", f"bare Ed25519 verify, {bare:,.0f}/s"),
        "ed25519_verify_per_s": _figure(bare, "1/s"),
        "audit_memory_mb": _figure((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, "MB grown"),
        "events_audited": _figure(float(day.events), "events"),
        "evidence_bytes_per_request": _figure(size / day.requests, "bytes on both services' disks"),
    }


@contextmanager
def _verifications() -> Iterator[list[float]]:
    """Seconds in libsodium's verify and number of calls, while it lasts."""
    honest, spent = bindings.crypto_sign_open, [0.0, 0.0]

    def timed(signed: bytes, pk: bytes) -> bytes:
        start = time.perf_counter()
        try:
            return honest(signed, pk)
        finally:
            spent[0] += time.perf_counter() - start
            spent[1] += 1

    bindings.crypto_sign_open = timed
    try:
        yield spent
    finally:
        bindings.crypto_sign_open = honest


def _bare_rate() -> float:
    key, message = SigningKey(bytes(range(32))), bytes(2_000)
    signature = key.sign(message)
    count, start = 4_000, time.perf_counter()
    for _ in range(count):
        ed25519.verify(key.public, message, signature)
    return count / (time.perf_counter() - start)


def _path(requests: int, rounds: int) -> dict[str, Figure]:
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        plain = Path(folder) / "plain"
        plain.mkdir()
        (plain / "sitecustomize.py").write_text(_PLAIN, encoding="utf-8")
        houses = {name: DemoHouse(Path(folder) / name, DemoOptions(people=40, k=10)) for name in ("with", "without")}
        try:
            for name, house in houses.items():
                house.folder.mkdir()
                house.provision()
                with _python_path(plain if name == "without" else None):
                    house.start()
            rates, busy = uvloop.run(_measure(houses, requests, rounds))
        finally:
            for house in houses.values():
                house.stop()
    ratios = [w / p for w, p in zip(rates["with"], rates["without"], strict=True)]
    baseline = f"plain events, {median(rates['without']):,.0f}/s"
    return {
        "request_path_cost": _figure(1 - median(ratios), "share of throughput", baseline, COST_REACH),
        "throughput_with_evidence_per_s": _figure(median(rates["with"]), "1/s", baseline),
        # On a machine that does other things too, processor time says more than throughput.
        "request_path_processor_cost": _figure(
            1 - busy["without"] / busy["with"], "share of both services' processor time",
            f"plain events, {1e6 * busy['without'] / (rounds * requests):,.0f} µs a request",
        ),
    }  # fmt: skip


@contextmanager
def _python_path(folder: Path | None) -> Iterator[None]:
    """Processes started within find this folder's modules first."""
    before = os.environ.get("PYTHONPATH")
    if folder is not None:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), before)))
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONPATH", None)
        else:
            os.environ["PYTHONPATH"] = before


def _busy(house: DemoHouse) -> float:
    """Processor seconds of both services and their stores so far."""
    return sum(spent for part, spent in _processor_seconds(house).items() if part != "client")


async def _measure(
    houses: Mapping[str, DemoHouse], requests: int, rounds: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    rates: dict[str, list[float]] = {name: [] for name in houses}
    busy = dict.fromkeys(houses, 0.0)
    for turn in range(rounds + 1):
        for name, house in houses.items():
            async with open_households(house.devices()) as speakers:
                if turn == 0:
                    for user, household in speakers.items():
                        await household.consent(user, "everything")
                count = requests if turn else requests // 4  # warm up
                prepared = await prepare(speakers, count)
                before = _busy(house)
                done = await drive(house.devices()[0], prepared, CONCURRENCY)
                if turn:
                    await asyncio.sleep(1.0)  # what the writer still has to do counts too
                    rates[name].append(done.per_second)
                    busy[name] += _busy(house) - before
    return rates, busy


def _figure(value: float, unit: str, baseline: str | None = None, reach: float | None = None) -> Figure:
    return {"value": round(value, 4), "unit": unit, "baseline": baseline, "reach": reach}
