"""One audit of a simulated day's evidence on disk, measured in a process of its own, for `proxid bench evidence`."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import TYPE_CHECKING

from nacl import bindings

from auditor.audit import Audit, AuditOptions
from auditor.reading.source import Heads
from bench.evidence.known import NOW, Known
from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import InputError
from proxid.evidence.leaf import Leaf
from proxid.evidence.note import Verifier
from proxid.runtime.evidence_log.reading import LogReader

if TYPE_CHECKING:
    from bench.evidence.day import Day

LOGS = ("gateway", "main-service")
EVERY, ROW = 512, 64
"""With every so many events of the audit come so many bare verifies in a row, with nothing in between."""


class DiskLog:
    """A log's folder as a source for the auditor.

    Args:
        head: a signed head to read up to; the newest if None.
    """

    def __init__(self, folder: Path, name: str, key: bytes, head: bytes | None = None) -> None:
        self._reader = LogReader(folder, Verifier(name, key))
        self._head = head

    def heads(self) -> Heads:
        """The signed head."""
        return Heads(self._head or self._reader.checkpoint())

    def leaves(self, first: int, end: int) -> Iterator[Leaf]:
        """Leaves of the folder."""
        # A reader takes a limit of 0 for none.
        return self._reader.leaves(first, end - first) if first < end else iter(())

    def log(self, generation: int) -> "DiskLog":
        """There is one alone."""
        return self

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


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a day had come.

    Attributes:
        events: of both logs. heads: each log's signed head, in the order of LOGS. seeds: evidence keys by subject tag.
    """

    events: int
    heads: tuple[bytes, ...]
    seeds: Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Measured:
    """An audit's cost.

    Attributes:
        seconds, processor: wall and processor time, the latter of the reading process. in_signatures: seconds in
            libsodium's verify there. signatures: how many. bare: processor seconds of a bare Ed25519 verify of 2,000
            bytes, meanwhile. peak, before: MB resident at most, and before the audit; what further processes have of
            their own is part of it, what they share with the reading one (libraries) is not twice.
    """

    seconds: float
    processor: float
    in_signatures: float
    signatures: int
    bare: float
    peak: float
    before: float


def moment_of(day: "Day") -> Moment:
    """The day as it is now, flushed."""
    return Moment(day.events, tuple((day.folder / log / "checkpoint").read_bytes() for log in LOGS), dict(day.seeds))


def measure(folder: Path, moment: Moment, workers: int | None = None) -> Measured:
    """Audit a day up to a moment, in a new process; raises InputError if it is not clean.

    Args:
        workers: further processes; None for what `proxid audit` has without `--workers`.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measure, folder, moment, workers).result()


def _measure(folder: Path, moment: Moment, workers: int | None) -> Measured:
    trust = Known().trust
    keys = (trust.screener, trust.service_key)
    logs = [
        DiskLog(folder / name, f"proxid/main-service/{name}", key, head)
        for name, key, head in zip(LOGS, keys, moment.heads, strict=True)
    ]
    import_module("auditor.commands.audit")  # what `proxid audit` has loaded, it has, too
    before = _resident("VmRSS")
    with verifications() as spent:
        between = _Between(spent)
        start, processor = time.perf_counter(), time.process_time()
        options = AuditOptions(settle=0.0, workers=workers, progress=between)
        report = Audit(trust, DiskKeys(moment.seeds), options, clock=lambda: NOW).run(logs[0], logs[1])
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
    if report.violations:
        raise InputError(f"the simulated day is not clean: {report.violations[0].text}")
    own = (seconds - between.seconds, processor - between.processor)
    bare = between.processor / between.rounds
    return Measured(*own, spent.seconds, spent.calls, bare, _resident("VmHWM") + between.beside, before)


def _resident(field: str, pid: int | None = None) -> float:
    # Not getrusage: across an exec that keeps what the parent had at most.
    try:
        status = Path(f"/proc/{pid or 'self'}/status").read_text(encoding="ascii")
    except OSError:  # it has just ended
        return 0.0
    for line in status.splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    return 0.0


@dataclass(slots=True)
class Spent:
    """Seconds in libsodium's verify, and calls; of bare ones (`timing` is false) neither."""

    seconds: float = 0.0
    calls: int = 0
    timing: bool = True


@contextmanager
def verifications() -> Iterator[Spent]:
    """What is spent on signatures, while it lasts."""
    honest, spent = bindings.crypto_sign_open, Spent()

    def timed(signed: bytes, pk: bytes) -> bytes:
        if not spent.timing:
            return honest(signed, pk)
        start = time.perf_counter()
        try:
            return honest(signed, pk)
        finally:
            spent.seconds += time.perf_counter() - start
            spent.calls += 1

    bindings.crypto_sign_open = timed
    try:
        yield spent
    finally:
        bindings.crypto_sign_open = honest


class _Between:
    """What is measured between the events of an audit: bare verifies, and the memory of further processes.

    What the processor's clock does meanwhile it does to the audit, too.

    Attributes:
        seconds, processor, rounds: of bare verifies. beside: MB at most that further processes have of their own.
    """

    def __init__(self, spent: Spent) -> None:
        self.seconds = self.processor = self.beside = 0.0
        self.rounds = 0
        self._spent = spent
        key, self._message = SigningKey(bytes(range(32))), bytes(2_000)
        self._public, self._signature = key.public, key.sign(self._message)

    def __call__(self, log: str, number: int, last: int) -> None:
        if number % EVERY:
            return
        self.beside = max(self.beside, sum(_resident("RssAnon", child.pid) for child in active_children()))
        self._spent.timing = False
        start, processor = time.perf_counter(), time.process_time()
        for _ in range(ROW):
            ed25519.verify(self._public, self._message, self._signature)
        self.seconds += time.perf_counter() - start
        self.processor += time.process_time() - processor
        self.rounds += ROW
        self._spent.timing = True
