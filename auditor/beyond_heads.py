"""What the logs say after the heads that an audit goes by: who was erased, and what expired, while it read (check 2).

A key is there or not when it is asked for, which is after the heads. So whatever was not to be read and nothing up to
the heads covers may be covered by what came after them. Only events that open without anybody's evidence key are read
here; the next audit reads all of them.
"""

from collections.abc import Sequence

from auditor.checks.c1_heads import HeadCheck, HeadRules
from auditor.checks.c2_erasures import Erasures
from auditor.findings import Report
from auditor.generations import Part
from auditor.reading.belongs import shown_head
from auditor.reading.opening import Opener, Unopened
from auditor.reading.source import Heads
from proxid.errors import MALFORMED, EvidenceUnreadableError, ProxidError
from proxid.evidence.events import Event, EventType
from proxid.evidence.merkle import Frontier


class _NoKeys:
    """Nothing is opened that is anybody's."""

    def keys(self, tags: Sequence[bytes]) -> list[bytes]:
        return [b"" for _ in tags]


class BeyondHeads:
    """Reads on in both logs.

    Args:
        erasures: what is known up to the heads; not changed.
    """

    def __init__(self, erasures: Erasures, report: Report) -> None:
        self._report = report
        self.erasures = Erasures(
            erasures.trust, erasures.owner_commitments.copy(), erasures.erased.copy(), erasures.expired.copy(), set(),
            erasures.epochs.copy(), erasures.links.copy(),
        )  # fmt: skip
        """What is known with what came later."""

    def read(self, log: str, part: Part) -> None:
        """Read what one log holds beyond what an audit has read; it must continue that (check 1).

        Args:
            part: the log, as it was read.

        Raises:
            EvidenceUnreadableError: the log cannot be read.
        """
        source, heads, own = part.source, part.heads, part.rules.log
        shown = Heads(source.heads().latest if heads.time is None else heads.later)
        if shown_head(shown.latest, log)[1].origin != own.name:
            raise EvidenceUnreadableError(f"{log}: a successor was begun meanwhile; audit again")
        frontier = Frontier.decode(part.check.frontier.encode())
        on = HeadCheck(log, HeadRules(own), frontier, self._report, part.check.clock)
        size = on.begin(source, shown)
        if size is None:
            return
        opener = Opener(log, own.name, self.erasures.trust.opening, _NoKeys(), Report(), Unopened(), base=part.base)
        for event in opener.events(source, on.frontier.size + 1, size + 1, on.leaf):
            self._take(log, event, part.base)
        on.end(source, size, shown.latest)

    def _take(self, log: str, event: Event, base: int) -> None:
        try:
            if event.type is EventType.LINKED:
                self.erasures.linked(event)
            elif event.type is EventType.ERASED and not event.hidden:
                self.erasures.took_effect(event)
            elif event.type is EventType.EXPIRED:
                self.erasures.expiry(log, event, base)
        except (ProxidError, *MALFORMED):
            return  # covers nothing; the next audit names it
