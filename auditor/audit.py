"""The audit: both logs read leaf by leaf, then compared (DESIGN 10.4; the checks' numbers are in `report`).

MS's head is asked for before the gateway's, and the gateway's log is read first: whatever MS did rests on what is then
surely in the gateway's part. What the gateway did after MS's head may rest on what MS has yet to show, so the gateway's
size before it is asked for too (`seen`). Keys are asked for after the heads: who was erased in between is looked for
beyond them (`later`). With a state, an audit reads only what is new since the last one.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from auditor.beyond_heads import BeyondHeads
from auditor.checks.c1_answered import FORKED
from auditor.checks.c2_erasures import Erasures
from auditor.checks.c2_expiry import check_expiry, goes_unsaid
from auditor.checks.c3_deliveries import Deliveries
from auditor.checks.c3_links import People
from auditor.checks.c3_signatures import Signatures
from auditor.checks.c3_tuples import Tuples
from auditor.checks.c3_workers import SignatureWorkers
from auditor.checks.c5_spill import Spill
from auditor.checks.c6_sent import tell
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_counts import period, summarise
from auditor.checks.c7_rules import OWED_SECONDS, Times, check
from auditor.checks.c8_obligations import Obligations
from auditor.checks.c9_promises import Promised
from auditor.checks.c9_receipts import Presented, ReceiptCheck
from auditor.checks.c9_recent import Recent
from auditor.event_log import Log
from auditor.findings import HEADS, RECEIPTS, Report, Unchecked
from auditor.gateway_log import GatewayLog
from auditor.generations import Part, ReadLog
from auditor.policies import Policies
from auditor.reading.belongs import shown_head, stranger
from auditor.reading.damage import count, excuse_compared, excuse_read
from auditor.reading.opening import Unopened
from auditor.reading.source import EvidenceSource, KeySource
from auditor.report.wording import NO_KEY_OF_WITNESS, NO_PIPELINE, NO_RECEIPTS, NO_WITNESS
from auditor.saved import Parts, Saved
from auditor.scope import Hours
from auditor.service_log import ServiceLog
from auditor.skew import longest_skew
from auditor.state import AuditState
from auditor.trust import Trust
from proxid.errors import EvidenceForeignError
from proxid.evidence.checkpoint import generation_of, origin, witness
from proxid.evidence.note import Verifier

SETTLE_SECONDS: Final = 60.0
"""Besides the skew of two clocks: what is older than this must have left a trace on both sides."""

_CLOCK_MS: Final = 120_000
"""By how much a service's clock may move, at least, before it is doubted, and promises nothing."""

Progress = Callable[[str, int, int], None]
"""Called with the log's name, the number of the event just read, and of the last one."""


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """What a single audit goes by besides its trust.

    Attributes:
        settle: seconds that something may be under way (None: `SETTLE_SECONDS`, and the skew of two clocks).
        owed: for which people may ask while a request is owed something (None: `OWED_SECONDS`, and that skew).
        known: heads (signed notes) that somebody else was shown.
        receipts: what devices and parties present. progress: told of every event.
        workers: further processes that check signatures (None: see `SignatureWorkers`); the report is the same with
            any number.
    """

    settle: float | None = None
    owed: float | None = None
    known: Sequence[bytes] = ()
    receipts: Iterable[Presented] = ()
    progress: Progress = lambda log, number, last: None
    workers: int | None = 0


class Audit:
    """One audit of both services.

    Args:
        trust: what is known beforehand. keys: IS's evidence keys. clock: Unix seconds.
        state: where the last audit left off, and this one will.
    """

    def __init__(
        self, trust: Trust, keys: KeySource, options: AuditOptions | None = None,
        clock: Callable[[], float] = time.time, state: AuditState | None = None,
    ) -> None:  # fmt: skip
        self.report = Report()
        self._trust, self._keys, self._clock = trust, keys, clock
        self._options = options or AuditOptions()
        self._state = state
        loaded = None if state is None else state.load()
        self._sets = Sets(None if state is None else state.working)
        self._policies = Policies(trust)
        self._people = People(self._policies)
        self._erasures = Erasures(trust)
        self._obligations = Obligations(trust, self._people, self._sets)
        self._signatures = Signatures()
        self._deliveries = Deliveries(self._policies, self._people, self._signatures)
        self._unopened = Unopened()
        tuples = Tuples(self._policies, self._people, self._signatures)
        self._gateway = GatewayLog(
            self._people, tuples, self._deliveries, self._sets, self._erasures, self._obligations, self._policies,
            self.report,
        )  # fmt: skip
        self._service = ServiceLog(
            self._policies, self._people, tuples, self._sets, self._erasures, self._obligations, Spill(self._sets),
            self.report, lambda: self._gateway.consents,
        )  # fmt: skip
        self._service.unlinked = self._gateway.unlinked
        self._reads = [self._reader(self._gateway, trust.screener), self._reader(self._service, trust.service_key)]
        if loaded is not None:
            self._restore(loaded)

    def _reader(self, log: Log, signer: bytes) -> ReadLog:
        trust, first = self._trust, Verifier(origin(self._trust.service, log.name), signer)
        verifier = witness(trust.witness_name, trust.witness) if trust.witness else None
        return ReadLog(
            log, first, verifier, trust.witness_lag, self.report, self._clock, trust.opening, self._keys,
            self._unopened,
        )  # fmt: skip

    def run(self, gateway: EvidenceSource, service: EvidenceSource) -> Report:
        """Read and compare.

        Raises:
            EvidenceForeignError: the auditor's keys, configuration or folder are not those of this evidence.
            ProxidError: a log cannot be read.
        """
        self.report.scope.started = self._clock()
        workers, before = SignatureWorkers(self._options.workers), len(self.report.violations)
        generation, size = self._verify_heads_belong(gateway, service)
        self._reads[1].begin(service, self._options.known)
        self._reads[0].begin(gateway, self._options.known)
        seen = max(self._read_before, self._reads[0].base_of(generation) + size)
        try:
            whole = all(self._read(read, part, workers) for read in self._reads for part in read.parts)
            covered = self._covered() if whole else self._erasures
        finally:
            workers.close()
            for read in self._reads:
                for part in read.parts:
                    part.opener.forget()
        self._verify_seals_belong(covered)
        for read in self._reads:
            self.report.missing += [reason for part in read.parts for reason in part.check.missing]
            if self._trust.unwitnessed:
                self.report.missing.append(Unchecked(HEADS, read.log.name, NO_KEY_OF_WITNESS))
        damage = {read.log.name: read.log.damage for read in self._reads}
        excuse_read(self.report, damage, before)
        self._found = list(self.report.violations)
        # What goes over the whole of both logs each time (the sets, the keys of the erased) is not added up.
        self._counted = self.report.checked + self.report.checked_before
        if whole:  # a log without a head to go by is a violation of its own, and no measure of the other one
            self._compare(seen, covered)
        excuse_compared(self.report, damage, len(self._found))
        count(self.report, damage)
        for read in self._reads:
            read.accuse_silent(self._hours())
        self._counted[RECEIPTS] += self.report.checked[RECEIPTS]
        summarise(self._sets, max(self._policies.told, default=0), self.report.counts)
        for (epoch, bundle), changes in sorted(self._gateway.consents.timeline.items()):
            self.report.counts[f"consent.{epoch}.{bundle}"] = changes
        self._cover()
        self._remark()
        self._save()
        self.report.sort()
        return self.report

    def _covered(self) -> Erasures:
        """What covers that something does not open: up to the heads, and beyond them if that is not enough."""
        if self._erasures.cover_all(self._unopened):
            return self._erasures
        beyond = BeyondHeads(self._erasures, self.report)
        for read in self._reads:
            beyond.read(read.log.name, read.parts[-1])
        return beyond.erasures

    def _hours(self) -> Hours:
        """What time it may have been: MS opens no epoch without the gateway's signed word that it has begun."""
        begun = self._trust.epochs.start(max(self._policies.opened, default=0))
        return self.report.scope.hours(self._trust.witness_lag, begun)

    def _compare(self, seen: int, covered: Erasures) -> None:
        """What goes over both logs, and what outsiders hold of them."""
        settle, hours, read_ms = self._options.settle, self._hours(), int(self.report.scope.read * 1000)
        if settle is None:
            settle = SETTLE_SECONDS + 2 * longest_skew(self._policies)
        times = Times(read_ms, read_ms - int(settle * 1000), *map(self._owed, (math.inf, 0.0)))
        self._sets.answered_heads.finish(self._reads[1], self.report)
        check(self._sets, times, seen, self.report)
        self._service.finish(seen, hours.latest)
        self._people.ended.finish(self.report)
        self._people.seasons.finish(self.report)
        self._people.lost.finish(covered.erased.keys(), self.report)
        self._gateway.finish()
        self._policies.check(self._erasures.epochs.values(), seen, self.report)
        check_expiry(self._policies, self._erasures, seen, self.report)
        self._obligations.check(seen, covered.erased, self._policies, self.report)
        tell(self._sets, self._people, self._erasures.erased, self._obligations, self.report)
        self._obligations.told.finish(self._policies, self.report)
        covered.check_cover(self._unopened, self.report, lambda at: goes_unsaid(self._policies, at, self.report))
        self._erasures.check_keys(self._keys, self.report)
        recent = Recent.by(hours._replace(latest=max(hours.latest, self._clock())), settle)
        logs = {read.log.name: read for read in self._reads}
        moved = max(_CLOCK_MS, int(1000 * longest_skew(self._policies)))
        promised = Promised(self._trust, self._sets, logs, self.report, recent, moved)
        self._obligations.restrictions.compare(promised.is_kept)
        known = self._policies, self._sets, self._gateway.acknowledged, self._erasures
        ReceiptCheck(*known, self.report, recent, promised, self._people.is_in_use).run(self._options.receipts)
        promised.finish()

    def _owed(self, unknown: float) -> float:
        """For how long something may be owed (ms), if a policy that is not known says so many seconds of skew."""
        owed = self._options.owed
        if owed is None:
            owed = OWED_SECONDS + 2 * self._policies.longest(lambda trust: trust.clock_skew, unknown)
        return 1000 * owed

    def _verify_heads_belong(self, gateway: EvidenceSource, service: EvidenceSource) -> tuple[int, int]:
        """The gateway's log, and how long it is, before MS's head is asked for; raises EvidenceForeignError."""
        first, logs = gateway.heads(), [read.first for read in self._reads]
        head, why = shown_head(first.latest, logs[0].name)[1], list[str]()
        seen = generation_of(head.origin, logs[0].name), head.size if first.time is None else first.seen
        self._read_before = self._reads[0].base + self._reads[0].heads.frontier.size
        for at, heads in enumerate((lambda: first, service.heads)):
            wrong = stranger(heads().latest, logs[at], logs[1 - at])
            if not wrong:
                return seen
            why.append(f"{self._reads[at].log.name} {wrong}")
        raise EvidenceForeignError(f"configuration or folders are not of this evidence: {'; '.join(why)}")

    def _verify_seals_belong(self, covers: Erasures) -> None:
        """A head that is forked is so under any key: then what does not open is no excuse."""
        exported = any(read.heads.exported is not None for read in self._reads)
        wrong = self._unopened.seals.mistaken(exported)
        covered = all(covers.covers(tag) for tag in self._unopened.by_tag)
        if wrong and not covered and all(v.rule != HEADS for v in self.report.violations):
            raise EvidenceForeignError(wrong)

    def _read(self, read: ReadLog, part: Part, workers: SignatureWorkers) -> bool:
        """Read what is new of one log; whether it has a head to go by."""
        log, source, size = read.log, part.source, part.size
        if size is None:
            return False
        log.begin(part.generation, part.base)
        first = part.check.frontier.size + 1
        if log is self._service:
            part.check.expect(self._sets.answered_heads.after(part.check.origin, first - 1), FORKED)
        events = part.opener.events(source, first, size + 1, part.check.leaf)
        for batch, proven in workers.batches(events, size + 1 - first):
            self._signatures.proven = proven
            for event in batch:
                log.take(event)
                self._options.progress(log.name, event.number, part.base + size)
        if part.old and part.lost():
            log.damage.give_up(part.lost())
        else:
            part.check.end(source, size, part.heads.latest)
        return True

    def _cover(self) -> None:
        scope, epochs, classifier = self.report.scope, self._erasures.epochs.values(), self._trust.classifier
        scope.requests = period(self._sets)
        scope.epochs = (min(epochs), max(epochs)) if epochs else None
        scope.people = self._people.count
        scope.witnessed = self._trust.witness is not None
        scope.known = len(self._options.known)
        scope.policies = self._policies.stretches()
        scope.pipeline = "" if classifier is None else classifier.version

    def _remark(self) -> None:
        if self._trust.witness is None:
            self.report.remarks.append(NO_WITNESS)
        if self._trust.classifier is None:
            self.report.remarks.append(NO_PIPELINE)
        if not self.report.checked[RECEIPTS]:
            self.report.remarks.append(NO_RECEIPTS)

    def _save(self) -> None:
        self._sets.save()
        if self._state is None:
            return
        saved = Saved(
            {read.log.name: read.state() for read in self._reads}, self._parts(), self._found, self._counted,
            self.report.counts,
        )  # fmt: skip
        self._sets.close()
        self._state.save(saved)

    def _parts(self) -> Parts:
        return Parts(
            self._policies.state(), self._people.state(), self._deliveries.state(), self._gateway.state(),
            self._obligations.state(), self._service.state(), self._erasures.state(), self._unopened.state(),
        )  # fmt: skip

    def _restore_parts(self, parts: Parts) -> None:
        self._policies.restore(parts.policies)
        self._people.restore(parts.people)
        self._deliveries.restore(parts.deliveries)
        self._gateway.restore(parts.gateway)
        self._obligations.restore(parts.obligations)
        self._service.restore(parts.service)
        self._erasures.restore(parts.erasures)
        self._unopened.restore(parts.unopened)

    def _restore(self, saved: Saved) -> None:
        for read in self._reads:
            read.restore(saved.reads[read.log.name])
        self._restore_parts(saved.parts)
        # What was found before stays found: an audit that reads only what is new must not come out clean.
        self.report.violations += saved.violations
        self.report.checked_before.update(saved.checked)
        self.report.counts.update({name: n for name, n in saved.counts.items() if name.partition(".")[0] in _LOGS})


_LOGS: Final = (
    "gateway", "main-service", "events", "groups", "group", "epochs", "pipeline", "rights", "consents", "unlisted",
    "basis", "believed", "refused", "older", "entries", "contents", "aliases",
)  # fmt: skip
