"""The audit: both logs read leaf by leaf, then compared (DESIGN 10.4; the checks' numbers are in `report`).

The gateway's log is read first, then MS's, then what the gateway added meanwhile: a request that MS has is then
surely in the gateway's part.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from auditor.completeness import Sets, check, summarise
from auditor.deliveries import Deliveries
from auditor.gateway_log import GatewayLog
from auditor.heads import HeadCheck, HeadRules
from auditor.log import Log
from auditor.opening import Opener, Unopened
from auditor.people import People
from auditor.report import COMPLETENESS, Report
from auditor.service_log import ServiceLog
from auditor.source import EvidenceSource, KeySource
from auditor.trust import Trust
from auditor.tuples import Tuples
from proxid.evidence.checkpoint import origin, witness
from proxid.evidence.merkle import Frontier
from proxid.evidence.note import Verifier

SETTLE_SECONDS: Final = 60.0
"""A request older than this must have left a trace on both sides."""

Progress = Callable[[str, int, int], None]
"""Called with the log's name, the number of the event just read, and of the last one."""


@dataclass(slots=True)
class ReadLog:
    """One log as it is read: its handlers, its heads, its payloads."""

    log: Log
    heads: HeadCheck
    opener: Opener


class Audit:
    """One audit of both services.

    Args:
        trust: what is known beforehand. clock: Unix seconds. settle: seconds a request may be under way.
        known: heads (signed notes) that somebody else was shown, of either log.
    """

    def __init__(
        self, trust: Trust, keys: KeySource, clock: Callable[[], float] = time.time, settle: float = SETTLE_SECONDS,
        progress: Progress | None = None, known: Sequence[bytes] = (),
    ) -> None:  # fmt: skip
        self.report = Report()
        self._trust = trust
        self._clock = clock
        self._settle = settle
        self._progress = progress or (lambda log, number, last: None)
        self._known = known
        self._sets = Sets()
        people = People(trust)
        tuples = Tuples(trust, people)
        self._unopened = Unopened()
        gateway = GatewayLog(people, tuples, Deliveries(trust, people), self._sets, self.report)
        self._service = ServiceLog(trust, people, tuples, self._sets, self.report)
        self._gateway_read = self._reader(gateway, keys, trust.screener)
        self._service_read = self._reader(self._service, keys, trust.service_key)

    def _reader(self, log: Log, keys: KeySource, signer: bytes) -> ReadLog:
        trust, name = self._trust, origin(self._trust.service, log.name)
        verifier = witness(trust.witness_name, trust.witness) if trust.witness else None
        rules = HeadRules(Verifier(name, signer), verifier, trust.witness_lag)
        heads = HeadCheck(log.name, rules, Frontier(), self.report, self._clock)
        return ReadLog(log, heads, Opener(log.name, name, trust.opening, keys, self.report, self._unopened))

    def run(self, gateway: EvidenceSource, service: EvidenceSource) -> Report:
        """Read and compare; raises ProxidError when a log cannot be read."""
        now_ms = int(self._clock() * 1000)
        try:
            self._read(self._gateway_read, gateway)
            self._read(self._service_read, service)
            self._read(self._gateway_read, gateway)
        finally:
            for read in (self._gateway_read, self._service_read):
                read.opener.forget()
        check(self._sets, now_ms, int(self._settle * 1000), self.report)
        self._service.finish()
        summarise(self._sets, self.report.counts)
        return self.report

    def _read(self, read: ReadLog, source: EvidenceSource) -> None:
        log, heads = read.log, source.heads()
        known = [note for note in self._known if note.startswith(f"{read.heads.origin}\n".encode())]
        size = read.heads.begin(source, heads, known)
        if size is None:
            return
        first = read.heads.frontier.size + 1
        for event in read.opener.events(source, first, size + 1, read.heads.leaf):
            if event.number != log.next_number:
                self.report.add(COMPLETENESS, log.name, event.number, "numbers of the log have a gap or repeat")
            log.next_number = event.number + 1
            log.take(event)
            self._progress(log.name, event.number, size)
        read.heads.end(source, size, heads.latest)
