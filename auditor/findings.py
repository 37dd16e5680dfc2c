"""What an audit finds: violations by the number of the check in DESIGN 10.4, and how much was checked."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from auditor.scope import Scope
from proxid.errors import Code, EvidenceOlderError, VersionUnknownError

GATEWAY: Final = "gateway"
MAIN_SERVICE: Final = "main-service"

HEADS: Final = 1
OPENING: Final = 2
SIGNATURES: Final = 3
COMMITS: Final = 4
GROUPS: Final = 5
CONSENT: Final = 6
COMPLETENESS: Final = 7
ERASURE: Final = 8
RECEIPTS: Final = 9

LISTED: Final = 1_000
"""Violations of one check and log that are listed; further ones are counted."""

CHECKS: Final = (HEADS, OPENING, SIGNATURES, COMMITS, GROUPS, CONSENT, COMPLETENESS, ERASURE, RECEIPTS)
"""The checks of DESIGN 10.4; what they prove is said in `words`."""


class Verdict(StrEnum):
    """How an audit ends; exit status 0, 1, 2."""

    CLEAN = "clean"
    VIOLATION = "violation"
    UNCHECKED = "unchecked"


class Basis(StrEnum):
    """What else than the auditor's own computation a comparison rests on.

    COUNTERSIGNED: two parties that do not trust each other signed it. BELIEVED: a service's word alone (`believed`).
    UNREADABLE: what would show it was erased, or has expired.
    """

    COUNTERSIGNED = "countersigned"
    BELIEVED = "believed"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule.

    Attributes:
        rule: number of the check in DESIGN 10.4. log: whose. event: number in that log, 0 if none. text: what is wrong.
        firm: it holds whatever other leaves say.
    """

    rule: int
    log: str
    event: int
    text: str
    firm: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Unchecked:
    """What could not be checked, so that an audit cannot be clean; a later one may be able to.

    Attributes:
        rule: number of the check, 0 if it is all of them. log: whose; empty if both. text: why. code: of the error.
    """

    rule: int
    log: str
    text: str
    code: str = Code.EVIDENCE_UNREADABLE.value


PARTLY: Final = "entries.partly_checked"
"""Count of portions and contents of which what was erased hides something."""

LIMITED: Final = {"pipeline.unknown": COMMITS, "groups.partly_erased": GROUPS, PARTLY: GROUPS}
"""Counts of what a check could make in part alone: such a check never reads as passed."""

MISFILED: Final = "events.misfiled"
"""Count of events that do not open under a link that may have been gone when they were recorded."""
APART: Final = "events.apart"
"""Count of events of the same request, or group, that stand under different links in both logs, and do not open."""

_UNKNOWN: Final = {
    "pipeline.unknown": (COMMITS, MAIN_SERVICE, "requests were read by a version of the pipeline that is not at hand"),
    "events.newer": (COMPLETENESS, "", "events are of a form that this auditor does not know"),
    "refused.unknown": (COMPLETENESS, "", "refusals name rules that this auditor does not know"),
}
"""Counts of what this auditor is not of the version for: whatever else is found, that is not clean."""
OLDER: Final = {
    "consents": (OPENING, GATEWAY, "choices do not name their message and epoch: whose they are was not compared"),
    "enrolled": (SIGNATURES, GATEWAY,
                 "keys took the place of others, and no entry says since when, nor had the authority to say so"),
    "aliases": (SIGNATURES, "", "epochs began at the gateway without feed keys: how names were made was not checked"),
    "feeds": (SIGNATURES, MAIN_SERVICE, "epochs began without feed keys: what their records may hide was not checked"),
    "answered": (HEADS, MAIN_SERVICE, "answers hold no head: whether people are shown the same log was not checked"),
    "pipeline": (COMMITS, MAIN_SERVICE,
                 "requests were withheld for what they said, and what read them is not named: opened, none is judged"),
    "places": (COMPLETENESS, MAIN_SERVICE, "requests were withheld as of a place too many, and do not say of which"),
    "epochs": (GROUPS, "", "epochs began neither by a policy document nor on the gateway's word"),
    "objected": (CONSENT, GATEWAY, "objections do not show that the main service was told of them"),
    "accessed": (SIGNATURES, GATEWAY, "people's data were shown again by a request that had been carried out"),
    "refused": (COMPLETENESS, GATEWAY, "refusals of too many requests do not say whose they were"),
    "suppressed": (COMPLETENESS, MAIN_SERVICE, "requests were withheld by entries that do not say enough of why"),
    "delivered": (COMPLETENESS, GATEWAY,
                  "groups were delivered, and it is not said when they were sent: who had taken them back by then"),
    "held": (COMPLETENESS, MAIN_SERVICE,
             "requests waited while others came, or ticks, long after, in epochs that do not say what is too long"),
    "erased": (ERASURE, GATEWAY, "erasures do not say who was told of them"),
}  # fmt: skip
"""What entries of an earlier release's form leave unchecked: nobody knows of which release a service really is."""
_ASK: Final = "entries of an earlier release: ask the operator until when it ran, no more may have come since"
_FILED: Final = {
    MISFILED: (GATEWAY, "events do not open, and stand under links that may have been gone when they were recorded"),
    APART: ("", "events stand under another person's link in one log than in the other, and nobody can tell which"),
}
"""Counts of what stands under links that it may not be of."""


@dataclass(slots=True)
class Report:
    """Violations, counts of what each check looked at, and counts of what happened."""

    violations: list[Violation] = field(default_factory=list)
    checked: Counter[int] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    checked_before: Counter[int] = field(default_factory=Counter)
    """What earlier audits checked, whose state this one goes on from."""
    unchecked: str = ""
    """Why the evidence could not be read."""
    unchecked_code: str = Code.EVIDENCE_UNREADABLE.value
    missing: list[Unchecked] = field(default_factory=list)
    """What alone could not be checked, of evidence that could be read."""
    remarks: list[str] = field(default_factory=list)
    """What this audit did not ask for, in words: a verdict says nothing about it."""
    scope: Scope = field(default_factory=Scope)
    _listed: Counter[tuple[int, str]] = field(default_factory=Counter)

    @property
    def verdict(self) -> Verdict:
        """Clean, violated, or not checked."""
        if self.violations:
            return Verdict.VIOLATION
        return Verdict.UNCHECKED if self.reasons else Verdict.CLEAN

    @property
    def reasons(self) -> list[Unchecked]:
        """Everything that could not be checked, and why."""
        whole = [Unchecked(0, "", self.unchecked, self.unchecked_code)] if self.unchecked else []
        unknown = [
            Unchecked(rule, log, f"{self.counts[name]} {text}", VersionUnknownError.code.value)
            for name, (rule, log, text) in _UNKNOWN.items()
            if self.counts[name]
        ]
        filed = [
            Unchecked(OPENING, log, f"{self.counts[name]} {text}")
            for name, (log, text) in _FILED.items()
            if self.counts[name]
        ]
        older = [
            Unchecked(rule, log, f"{self.counts[name]} {text} ({_ASK})", EvidenceOlderError.code.value)
            for what, (rule, log, text) in OLDER.items()
            if self.counts[name := f"older.{what}"]
        ]
        return [*whole, *self.missing, *unknown, *older, *filed]

    @property
    def partly(self) -> list[int]:
        """Checks that could be made of something in part alone."""
        return sorted({rule for name, rule in LIMITED.items() if self.counts[name]})

    def add(self, rule: int, log: str, event: int, text: str, firm: bool = False) -> None:
        """Record a violation, or count it if there are many of its check."""
        self._listed[rule, log] += 1
        if self._listed[rule, log] > LISTED:
            self.counts[f"unlisted.{log}.{rule}"] += 1
        else:
            self.violations.append(Violation(rule, log, event, text, firm))

    def rests(self, rule: int, basis: Basis, comparisons: int = 1) -> None:
        """Comparisons of a check that were made rest on something else than the auditor's own computation."""
        self.counts[f"basis.{rule}.{basis.value}"] += comparisons

    def older(self, what: str) -> None:
        """An entry is of a form from before it said what would have to be checked (`OLDER`): not clean (ADR 0040)."""
        self.counts[f"older.{what}"] += 1

    def believe(self, rule: int, row: str, claims: int = 1) -> None:
        """Claims of a service were taken at its word; `row` names what they are about (`wording.BELIEVED`)."""
        self.rests(rule, Basis.BELIEVED, claims)
        self.believe_beside(row, claims)

    def believe_beside(self, row: str, claims: int = 1) -> None:
        """The same of claims that no comparison rests on: whatever else the event says was recomputed."""
        self.counts[f"believed.{row}"] += claims

    def resting(self, rule: int) -> dict[str, int]:
        """How many comparisons of a check, in all audits, rest on what; the rest was recomputed."""
        said = {basis.value: self.counts[f"basis.{rule}.{basis.value}"] for basis in Basis}
        made = self.checked[rule] + self.checked_before[rule]
        if rule == RECEIPTS:
            said[Basis.COUNTERSIGNED.value] = made
        return {"recomputed": max(0, made - sum(said.values())), **said}

    @property
    def believed(self) -> dict[str, int]:
        """Claims that were taken at a service's word, by what they are about (`wording.BELIEVED`)."""
        prefix = "believed."
        rows = {name.removeprefix(prefix): n for name, n in self.counts.items() if name.startswith(prefix) and n}
        cut = rows.get("possibly_held", 0)
        also = {
            "answers": self.counts["gateway.ANSWERED"] + self.counts["gateway.ACCESSED"],
            "keys": self.counts["gateway.ENROLLED"],
            "possibly_held": cut + self.counts["possibly_held"] + self.counts["unsent"],
            "notices": self.counts["notices"],
            "turned_away": rows.get("turned_away", 0) + self.counts["unanswered"],
        }  # fmt: skip
        return dict(sorted({**rows, **{row: n for row, n in also.items() if n}}.items()))

    def once(self, rule: int, log: str, text: str) -> None:
        """Record a violation of a log as a whole, unless it is known already: of this audit, or of an earlier one."""
        if Violation(rule, log, 0, text) not in self.violations:
            self.add(rule, log, 0, text)

    def sort(self) -> None:
        """By check, log and leaf, so that a report does not depend on how it was made."""
        self.violations.sort(key=lambda v: (v.rule, v.log, v.event, v.text))

    def as_dict(self) -> dict[str, Any]:
        """For JSON: verdict, checked and on what it rests by check number, which checks were made in part, the rest."""
        return {
            "verdict": self.verdict.value,
            "checked": {str(rule): self.checked[rule] for rule in CHECKS},
            "checked_before": {str(rule): self.checked_before[rule] for rule in CHECKS},
            "checks": {str(rule): self.resting(rule) for rule in CHECKS},
            "partly": self.partly,
            "believed": self.believed,
            "violations": [{"rule": v.rule, "log": v.log, "leaf": v.event, "text": v.text} for v in self.violations],
            "unchecked": [
                {"check": r.rule or None, "log": r.log or None, "text": r.text, "code": r.code} for r in self.reasons
            ],
            "counts": dict(sorted(self.counts.items())),
            "remarks": self.remarks,
            "scope": self.scope.as_dict(),
        }
