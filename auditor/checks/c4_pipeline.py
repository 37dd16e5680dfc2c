"""The pipeline run again (check 4 of DESIGN 10.4): the disclosed utterance must give what was buffered.

Only the version that the auditor has can be run; records of another version are counted as not checked.
"""

from functools import lru_cache

from proxid.anonymise.slotted.visible import PLACE_MARK, location_text
from proxid.classify import Classification, Classifier
from proxid.errors import CommitMismatchError
from proxid.evidence.bodies import shown_texts
from proxid.evidence.events import BufferedPayload
from proxid.protocol.request import Utterance

_CACHED = 8192


class Pipeline:
    """Classifies utterances again.

    Args:
        classifier: the auditor's own.
    """

    def __init__(self, classifier: Classifier) -> None:
        self.version = classifier.version
        self._classify = lru_cache(_CACHED)(classifier.classify)

    def verify(self, payload: BufferedPayload) -> bool:
        """Check one record; False if it is of a version that is not at hand. Raises CommitMismatchError."""
        if payload.pipeline != self.version:
            return False
        found = self._classify(Utterance.from_opening(payload.opening).text)
        if found.type is None or found.type.value != payload.kind:
            raise CommitMismatchError("record is of another type than the utterance")
        if payload.kind == "general":
            self._general(found, payload)
        elif payload.kind == "location":
            self._location(found, payload)
        else:
            self._command(found, payload)
        return True

    @staticmethod
    def _general(found: Classification, payload: BufferedPayload) -> None:
        if found.path != payload.path or found.normalised is None:
            raise CommitMismatchError("record is filed elsewhere than the pipeline files it")
        if shown_texts(found.path, (found.normalised, *found.units)) != payload.texts:
            raise CommitMismatchError("record shows a text that the pipeline does not give")

    @staticmethod
    def _location(found: Classification, payload: BufferedPayload) -> None:
        intent = found.intent or ""
        text = location_text(intent, ((slot.kind, slot.value) for slot in found.slots)) if intent else ""
        if payload.texts != (intent, text):
            raise CommitMismatchError("record shows a text that the pipeline does not give")

    @staticmethod
    def _command(found: Classification, payload: BufferedPayload) -> None:
        # The place in the path's first part is checked against the one that was asked from (`places`).
        shape = (payload.path[0].partition(PLACE_MARK)[0], *payload.path[1:]) if payload.path else ()
        if not found.shape or shape != found.shape or payload.texts != ("", ""):
            raise CommitMismatchError("record shows a shape that the pipeline does not give")
