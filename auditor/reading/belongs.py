"""Whether the auditor's keys and configuration are those of the evidence at all: else nothing is checked (exit 2).

Only what is wrong with everything counts as the auditor's own mistake: both heads of other logs or keys, no seal of
either log for this auditor. Whatever fits in part was made for this auditor, and the rest of it is a violation. So one
service cannot turn what it did into a mistake of the auditor's, and both together can only keep it from being `clean`.
"""

from dataclasses import dataclass

from proxid.errors import EvidenceUnreadableError, NoteInvalidError
from proxid.evidence.checkpoint import Checkpoint, generation_of
from proxid.evidence.note import Note, Verifier


def shown_head(data: bytes, log: str) -> tuple[Note, Checkpoint]:
    """A head as it is shown, its signature not looked at.

    What is no head at all says nothing, as a service says nothing that is away: nobody is accused by it, least of all
    the other service, whose log cannot be judged without this one.

    Raises:
        EvidenceUnreadableError: it is none; names the log.
    """
    try:
        note = Note.decode(data)
        return note, Checkpoint.parse(note.text)
    except (NoteInvalidError, ValueError):
        raise EvidenceUnreadableError(f"{log}: what is shown as the log's newest head is none") from None


def stranger(data: bytes, log: Verifier, other: Verifier) -> str:
    """Why a head cannot be this log's, whatever its signature; empty if it can.

    Args:
        log, other: the verifiers that the auditor has for the first log of this service and of the other one.

    Raises:
        EvidenceUnreadableError: it is no head.
    """
    note, head = shown_head(data, log.name)
    if generation_of(head.origin, other.name):
        return "shows the head of the other log"
    if not generation_of(head.origin, log.name):
        return "shows the head of a log of another service"
    own = Verifier(head.origin, log.key)
    if all((s.name, s.key_id) != (own.name, own.id) for s in note.signatures):
        return "shows a head signed with another key than the configuration names"
    return ""


@dataclass(slots=True)
class Seals:
    """Chain keys that were to be opened, in both logs.

    Attributes:
        seen: seals. ours: whether the auditor's own key opened one. keys: seals to which there was a key of IS's.
        before: an earlier audit opened some under the same keys.
    """

    seen: int = 0
    ours: int = 0
    keys: int = 0
    before: bool = False

    def mistaken(self, exported: bool) -> str:
        """What of the auditor's own must be wrong; empty if nothing must."""
        if not self.seen or self.before:
            return ""
        if not self.ours:
            return "no payload of either log was sealed for the auditor's opening_key: it is another auditor's"
        if exported and not self.keys:
            return "keys.json of the export holds no key of these logs: it is empty, or of another export"
        return ""
