"""What is too new to be missed (check 9 of DESIGN 10.4): its event may have come after the heads that were read.

A receipt says the time of the service that gave it, which may be off by the skew, as the auditor's own clock may. The
witness's is a third one. What came while it has cosigned nothing may be new, if the auditor's clock is ahead; what says
a time that has not come accuses nobody unless the witness agrees that it has not, as the auditor's may be behind.
Without a witness the auditor's clock may be ahead by any time: then what came while it read is new whatever it says,
and is looked at by the next audit. What was there before it began is in the heads: a service shows none that lacks it.
"""

from dataclasses import dataclass
from typing import Final

from auditor.findings import RECEIPTS, Report, Unchecked
from auditor.scope import Hours

_AHEAD: Final = 60.0
"""Seconds by which a receipt may be ahead, at least."""


@dataclass(slots=True)
class Recent:
    """What the times of receipts say.

    Attributes:
        first, last: Unix milliseconds between which what is held is too new to be missed.
        sure: nothing is of later than that. early: how many of these there were, if that is not sure.
    """

    first: int
    last: int
    sure: bool = True
    early: int = 0

    @classmethod
    def by(cls, hours: Hours, settle: float) -> "Recent":
        """What clocks say.

        Args:
            settle: seconds that an event may take, and clocks may differ by.
        """
        first, last = hours.earliest - settle, hours.latest + max(settle, _AHEAD)
        return cls(int(1000 * first), int(1000 * last), hours.agreed)

    def holds(self, time_ms: int, delay_ms: float = 0, late: bool = False) -> bool:
        """Whether what says a time (Unix milliseconds) may have come so long after it, and so after the heads.

        Args:
            late: it was not there yet when the audit began, which no clock has to tell.
        """
        later = time_ms > self.last and not self.sure
        self.early += later
        return later or (late and not self.sure) or self.first - delay_ms <= time_ms <= self.last

    def finish(self, report: Report) -> None:
        """At the end: what says times that have not come, and is in no log."""
        if self.early:
            text = f"{self.early} receipts that no log shows say times that have not come: a clock was wrong"
            report.missing.append(Unchecked(RECEIPTS, "", text))
