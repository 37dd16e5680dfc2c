"""How old accounts were (check 3 of DESIGN 10.4): credentials say what follows from the enrolment and the policy.

A credential says whether the account was of some age when its key was linked. When that was stands in the ENROLLED of
the same step, by the gateway's own word; of another link it is known that it was in its epoch, behind what had been
asked before and before what is asked next. Only what the main service answered counts, which found its time fresh: an
accomplice of the gateway may ask with any time. A gateway that says otherwise had a wrong clock, or lies: nobody can
tell, and that is told for good.
"""

from typing import Final, NamedTuple

from auditor.findings import GATEWAY, SIGNATURES, Report, Unchecked
from auditor.policies import Policies
from proxid.crypto.identity import Credential, Enrolment
from proxid.errors import CredentialError

_MINUTE: Final = 60
"""Seconds: a request says no more than its minute."""
_SKEWS: Final = 2
"""A device's clock and the gateway's may each be off by one."""


class SeasonsState(NamedTuple):
    """A `Seasons`, for storing."""

    latest: int
    early: list[tuple[int, int]]
    doubted: int


class Seasons:
    """Holds credentials against times."""

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._off = _MINUTE + _SKEWS * int(policies.trust.clock_skew)
        self._latest = 0
        """Unix seconds of the latest that was asked, of what has been answered so far."""
        self._early: list[tuple[int, int]] = []
        """From when on accounts are of age that are said to be, where nothing that was asked shows that yet; and the
        number of LINKED."""
        self._doubted = 0

    def linked(self, enrolment: Enrolment, credential: Credential, entered: int | None, event: int = 0) -> None:
        """LINKED; raises CredentialError if it says another season than its epoch, or its ENROLLED, leaves open.

        Args:
            entered: what the ENROLLED of the same step says, Unix seconds; None if there is none, or it says nothing.
            event: number of LINKED.
        """
        judge = self._policies.of(credential.epoch)
        if judge is None:
            return
        first, last = judge.epochs.start(credential.epoch), judge.epochs.end(credential.epoch)
        if entered is not None:
            first, last = max(first, entered - self._off), min(last, entered + self._off)
        ripe = int(enrolment.since + judge.season_seconds)
        if credential.seasoned and ripe > last:
            raise CredentialError("credential says seasoned before the account was")
        if not credential.seasoned and ripe <= first:
            raise CredentialError("credential says unseasoned although the account was seasoned")
        if credential.seasoned and ripe > self._latest:
            self._early.append((ripe, event))
        self._doubted += not credential.seasoned and ripe <= self._latest - self._off

    def answered(self, time_ms: int, forwarded: int) -> None:
        """The main service answered what was asked at a time (Unix milliseconds, by a device's clock).

        Args:
            forwarded: number of FORWARDED. What was linked behind it may have been long after it was asked.
        """
        time = time_ms // 1000
        self._latest = max(self._latest, time)
        if self._early:
            self._doubted += sum(ripe > time + self._off for ripe, event in self._early if event < forwarded)
            self._early = [early for early in self._early if early[1] > forwarded]

    def finish(self, report: Report) -> None:
        """At the end of an audit."""
        if self._doubted:
            text = f"{self._doubted} credentials say another season than what was asked before or behind them shows"
            report.missing.append(Unchecked(SIGNATURES, GATEWAY, f"{text}: its clock was wrong, or they do not hold"))

    def state(self) -> SeasonsState:
        """For storing."""
        return SeasonsState(self._latest, self._early, self._doubted)

    def restore(self, state: SeasonsState) -> None:
        """Go on from a state."""
        self._latest, self._early, self._doubted = state
