"""The audit: both logs read event by event, then compared (DESIGN 10.4).

The gateway's log is read first, then MS's, then what the gateway added meanwhile: a request that MS has is then
surely in the gateway's part.
"""

import time
from collections.abc import Callable
from typing import Final

from auditor.completeness import Sets, check, summarise
from auditor.deliveries import Deliveries
from auditor.gateway_log import GatewayLog
from auditor.people import People
from auditor.report import COMPLETENESS, Report
from auditor.service_log import ServiceLog
from auditor.source import EvidenceSource
from auditor.trust import Trust
from auditor.tuples import Tuples

SETTLE_SECONDS: Final = 60.0
"""A request older than this must have left a trace on both sides."""


class Audit:
    """One audit of both services.

    Args:
        trust: what is known beforehand. clock: Unix seconds. settle: seconds a request may be under way.
        progress: called with the log's name and the number of the event just read.
    """

    def __init__(
        self, trust: Trust, clock: Callable[[], float] = time.time, settle: float = SETTLE_SECONDS,
        progress: Callable[[str, int], None] | None = None,
    ) -> None:  # fmt: skip
        self.report = Report()
        self._sets = Sets()
        people = People(trust)
        tuples = Tuples(trust, people)
        self._gateway = GatewayLog(people, tuples, Deliveries(trust, people), self._sets, self.report)
        self._service = ServiceLog(trust, people, tuples, self._sets, self.report)
        self._clock = clock
        self._settle = settle
        self._progress = progress or (lambda log, number: None)

    def run(self, gateway: EvidenceSource, service: EvidenceSource) -> Report:
        """Read and compare; raises ProxidError when a log cannot be read."""
        now_ms = int(self._clock() * 1000)
        self._read(self._gateway, gateway)
        self._read(self._service, service)
        self._read(self._gateway, gateway)
        check(self._sets, now_ms, int(self._settle * 1000), self.report)
        self._service.finish()
        summarise(self._sets, self.report.counts)
        return self.report

    def _read(self, log: "GatewayLog | ServiceLog", source: EvidenceSource) -> None:
        for event in source.events(log.next_number):
            if event.number != log.next_number:
                self.report.add(COMPLETENESS, log.name, event.number, "numbers of the log have a gap or repeat")
            log.next_number = event.number + 1
            log.take(event)
            self._progress(log.name, event.number)
