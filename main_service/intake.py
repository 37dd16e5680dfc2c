"""From an answered request to a waiting record (DESIGN 5.3, 6, 7): classify, ask consent, submit; or say why not.

Fail closed: whatever cannot be decided is suppressed with its reason, and nothing of the utterance stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import structlog

from main_service.identity import EpochSecrets
from main_service.store.counts import UNKNOWN
from main_service.store.requests import Pending
from proxid.anonymise.mix.types import Record
from proxid.anonymise.slotted.places import parse_location
from proxid.anonymise.slotted.types import SlotRecord
from proxid.anonymise.slotted.visible import COMMAND_RESOLUTION, command_path, location_text
from proxid.classify import Classification, Classifier, RequestType
from proxid.errors import ProxidError
from proxid.evidence.bodies import MAX_SHOWN, shown_texts
from proxid.evidence.disclosure import mix_record, slot_record
from proxid.evidence.events import BufferedPayload
from proxid.protocol.consent import audience, audience_id
from proxid.protocol.request import Utterance
from proxid.runtime.observability.logging import described

_log = structlog.get_logger(__name__)


class NotLogged(StrEnum):
    """Why an answered request never waits for a group."""

    NO_CONSENT = "no_consent"
    REJECTED = "rejected"
    NO_CATEGORY = "no_category"
    UNPROCESSABLE = "unprocessable"
    CLASSIFIER_FAILED = "classifier_failed"
    NO_PLACE = "no_place"
    NO_SHAPE = "no_shape"
    PLACE_BUDGET = "place_budget"
    CONSENT_CHANGED = "consent_changed"
    EPOCH_OVER = "epoch_over"
    UNSEASONED = "unseasoned"
    RESTRICTED = "restricted"


@dataclass(frozen=True, slots=True)
class Submission:
    """A record for the pool, and what the evidence holds of it."""

    record: Record
    payload: BufferedPayload


@dataclass(frozen=True, slots=True)
class SlotSubmission:
    """A record for the slots, and what the evidence holds of it."""

    record: SlotRecord
    payload: BufferedPayload
    place: bytes = b""
    """The name of the reported place, if places are reported under noise: it must be paid for first."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """A request that never waits for a group: why, and of which type it is, as far as that is known."""

    reason: NotLogged
    kind: str = UNKNOWN


Decision = Submission | SlotSubmission | Withheld
_Decided = Submission | SlotSubmission | NotLogged


def _failed(error: Exception) -> Withheld:
    _log.error("classifier failed", **described(error))
    return Withheld(NotLogged.CLASSIFIER_FAILED)


class Anonymiser:
    """Decides what becomes of one pending request.

    Args:
        classifier: of requests and identifiers.
    """

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier
        self.pipeline = classifier.version

    def decide(self, pending: Pending, secrets: EpochSecrets) -> Decision:
        """The record to submit, or why there is none; never raises.

        Args:
            secrets: of the epoch in which it was asked, with its settings.
        """
        return self.decide_all([(pending, secrets)])[0]

    def decide_all(self, asked: Sequence[tuple[Pending, EpochSecrets]]) -> list[Decision]:
        """The same of several, which takes less time; one that fails costs no other one anything."""
        utterances = [self._utterance(pending, secrets) for pending, secrets in asked]
        texts = [said.text for said in utterances if isinstance(said, Utterance)]
        found = iter(self._classified(texts))
        return [
            self._decided(pending, secrets, said, next(found)) if isinstance(said, Utterance) else said
            for (pending, secrets), said in zip(asked, utterances, strict=True)
        ]

    def _utterance(self, pending: Pending, secrets: EpochSecrets) -> Utterance | Withheld:
        if secrets.terms.pipeline not in ("", self.pipeline):
            return Withheld(NotLogged.UNPROCESSABLE)
        try:
            return Utterance.from_opening(pending.opening)
        except Exception as error:
            return _failed(error)

    def _classified(self, texts: list[str]) -> list[Classification | Withheld]:
        try:
            found = [*self._classifier.pipe(texts)]
        except Exception as error:
            return [self._classified([text])[0] for text in texts] if len(texts) > 1 else [_failed(error)]
        return [*found] if len(found) == len(texts) else [Withheld(NotLogged.CLASSIFIER_FAILED)] * len(texts)

    def _decided(
        self, pending: Pending, secrets: EpochSecrets, utterance: Utterance, found: Classification | Withheld
    ) -> Decision:
        if isinstance(found, Withheld):
            return found
        kind = UNKNOWN if found.type is None else found.type.value
        try:
            decided = self._submission(pending, found, utterance.location, secrets)
        except ProxidError as error:
            _log.error("record not made", code=error.code.value)
            return Withheld(NotLogged.UNPROCESSABLE, kind)
        return Withheld(decided, kind) if isinstance(decided, NotLogged) else decided

    def _submission(self, pending: Pending, found: Classification, location: str, secrets: EpochSecrets) -> _Decided:
        if found.type is None:
            return NotLogged.REJECTED
        terms = secrets.terms
        pairs = audience(terms.bundles.get(pending.bundle, ()), found.type.value)
        if not pairs:
            return NotLogged.NO_CONSENT
        if found.type is RequestType.GENERAL:
            if terms.split is not None and not pending.seasoned:
                return NotLogged.UNSEASONED
            return self._general(pending, found, audience_id(pairs))
        point, name = parse_location(location), b""
        if point is not None and terms.noise is not None:
            report = terms.noise.report(secrets.seed, pending.prox_id, *point)
            point, name = (report.latitude, report.longitude), report.name
        cells = () if point is None else terms.places.path(*point, pending.time_ms / 1000)
        submit = self._location if found.type is RequestType.LOCATION else self._command
        decided = submit(pending, found, audience_id(pairs), cells)
        return replace(decided, place=name) if isinstance(decided, SlotSubmission) else decided

    def _general(self, pending: Pending, found: Classification, audience: str) -> Submission | NotLogged:
        if found.masked is None or found.normalised is None:
            return NotLogged.UNPROCESSABLE
        if not found.path:
            return NotLogged.NO_CATEGORY
        texts = (found.normalised, *found.units)
        shown = shown_texts(found.path, texts)
        if shown is None:
            return NotLogged.UNPROCESSABLE
        payload = BufferedPayload(
            session=pending.session, prox_id=pending.prox_id, seasoned=pending.seasoned, audience=audience,
            kind="general", opening=pending.opening, pipeline=self.pipeline, path=found.path, texts=shown,
            time_ms=pending.time_ms,
        )  # fmt: skip
        return Submission(mix_record(payload), payload)

    def _location(
        self, pending: Pending, found: Classification, audience: str, cells: tuple[str, ...]
    ) -> SlotSubmission | NotLogged:
        if not cells:
            return NotLogged.NO_PLACE
        intent = found.intent or ""
        text = location_text(intent, ((slot.kind, slot.value) for slot in found.slots)) if intent else ""
        return self._slot(pending, ("location", audience), cells, (intent, text))

    def _command(
        self, pending: Pending, found: Classification, audience: str, cells: tuple[str, ...]
    ) -> SlotSubmission | NotLogged:
        if not found.shape:
            return NotLogged.NO_SHAPE
        place = cells[min(COMMAND_RESOLUTION, len(cells) - 1)] if cells else ""
        return self._slot(pending, ("command", audience), command_path(found.shape, place), ("", ""))

    def _slot(
        self, pending: Pending, label: tuple[str, str], path: tuple[str, ...], texts: tuple[str, str]
    ) -> SlotSubmission | NotLogged:
        kind, audience = label
        if sum(len(part.encode()) + 4 for part in (*path[-4:], texts[1])) > MAX_SHOWN:
            return NotLogged.UNPROCESSABLE
        payload = BufferedPayload(
            session=pending.session, prox_id=pending.prox_id, seasoned=pending.seasoned, audience=audience,
            kind=kind, opening=pending.opening, pipeline=self.pipeline, path=path, texts=texts,
            time_ms=pending.time_ms,
        )  # fmt: skip
        return SlotSubmission(slot_record(payload), payload)
