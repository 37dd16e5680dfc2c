"""Requests that a person opens (check 4 of DESIGN 10.4): whether they had to be withheld is computed then.

The pipeline of the recorded version reads what was said once more: it must withhold it for the reason that the main
service gave. A classifier that failed, and does not fail again, may have: nobody can tell, and that is `unchecked`.
"""

from collections.abc import Callable
from typing import Final

from auditor.checks.c7_reasons import TEXTS
from auditor.checks.c7_texts import WithheldTexts
from auditor.findings import COMMITS, MAIN_SERVICE, Report, Unchecked
from auditor.policies import Policies
from proxid.anonymise.slotted.places import parse_location
from proxid.classify import Classification, Classifier
from proxid.errors import InputError
from proxid.evidence.bodies import MAX_SHOWN
from proxid.protocol.opened import OpenedRequest

FAILED: Final = "classifier_failed"
_ONCE: Final = (
    "{} opened requests were withheld since a classifier failed, and this auditor's does not fail on them, or on what "
    "was withheld for another reason it does"
)
_NEVER: Final = "a request that was withheld as {} is opened by who asked it, and is not {}"


class Openings:
    """Judges what is presented."""

    def __init__(self, policies: Policies, texts: WithheldTexts, report: Report) -> None:
        self._policies = policies
        self._texts = texts
        self._report = report
        self._reasons: dict[str, Callable[[Classification, OpenedRequest], bool]] = {
            "rejected": lambda found, _: found.type is None,
            "no_category": lambda found, _: _is(found, "general") and not found.path,
            "no_shape": lambda found, _: _is(found, "command") and not found.shape,
            "no_place": lambda found, opened: _is(found, "location") and not self._has_place(opened),
            "unprocessable": self._is_unprocessable,
        }

    def judge(self, data: bytes) -> None:
        """One opened request; raises ProxidError if whoever presents it made it up."""
        trust, opened = self._policies.trust, OpenedRequest.decode(data)
        opened.verify(trust.service, trust.screener)
        fate = self._texts.fate(opened.signed.session_id)
        if fate.fate not in TEXTS:
            return
        classifier, reason = trust.classifier, fate.fate
        if classifier is None or not (fate.pipeline or reason == FAILED):
            self._report.counts["openings.believed"] += 1
        elif fate.pipeline not in ("", classifier.version):
            self._report.counts["pipeline.unknown"] += 1
        else:
            self._report.checked[COMMITS] += 1
            self._report.counts["openings.recomputed"] += 1
            found = _read(classifier, opened.utterance.text)
            if (found is None) != (reason == FAILED):
                self._texts.doubt(opened.signed.session_id)
            elif found is not None and not self._reasons[reason](found, opened):
                self._report.add(COMMITS, MAIN_SERVICE, fate.event, f"SUPPRESSED: {_NEVER.format(reason, reason)}")

    def finish(self) -> None:
        """What nobody can tell is so in every audit that goes on from here."""
        if doubted := self._texts.doubted():
            self._report.missing.append(Unchecked(COMMITS, MAIN_SERVICE, _ONCE.format(doubted)))

    def _has_place(self, opened: OpenedRequest) -> bool:
        """Whether it was surely asked from a place that may be named: noise and empty places are MS's to judge."""
        judge = self._policies.of(opened.signed.header.epoch)
        if judge is None or judge.noise is not None:
            return False
        try:
            point = parse_location(opened.utterance.location)
        except InputError:
            return False
        return point is not None and bool(judge.places.path(*point, opened.signed.header.time_ms / 1000))

    def _is_unprocessable(self, found: Classification, opened: OpenedRequest) -> bool:
        """Another pipeline than the policy demands reads nothing; a text or a node may be too long for a body."""
        judge, classifier = self._policies.of(opened.signed.header.epoch), self._policies.trust.classifier
        if judge is None or classifier is None or judge.pipeline not in ("", classifier.version):
            return True
        if found.type is None:
            return False
        long = sum(len(part.encode()) + 4 for part in found.path) > MAX_SHOWN
        return not _is(found, "general") or found.masked is None or found.normalised is None or long


def _is(found: Classification, kind: str) -> bool:
    return found.type is not None and found.type.value == kind


def _read(classifier: Classifier, text: str) -> Classification | None:
    """What a pipeline makes of a text; None if it fails: by whatever error, as at the main service."""
    try:
        return classifier.classify(text)
    except Exception:
        return None
