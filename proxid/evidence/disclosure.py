"""What MS and the auditor must compute alike: the context of a seed's disclosure, digests of texts, what waits."""

import hashlib

from proxid.anonymise.mix.types import Record
from proxid.anonymise.slotted.types import SlotRecord
from proxid.anonymise.slotted.visible import time_floor
from proxid.encoding import encode, label
from proxid.evidence.events import BufferedPayload

_DISCLOSURE = label("seed-disclosure")
_UNIT = label("unit")


def disclosure_info(service: str, epoch: int) -> bytes:
    """The context that an epoch's seed is sealed to the auditor in (DESIGN 8.4.1)."""
    return encode(_DISCLOSURE, service, epoch)


def unit_digest(text: str) -> bytes:
    """The name under which the ladder counts a text or unit (DESIGN 8.7): 16 bytes, no text."""
    return hashlib.sha256(encode(_UNIT, text)).digest()[:16]


def mix_record(payload: BufferedPayload) -> Record:
    """What waits in the pool of a general query, from what the evidence holds of it."""
    return Record(
        id=payload.session, person=payload.prox_id, seasoned=payload.seasoned,
        audience=f"{payload.kind}|{payload.audience}", path=payload.path,
        units=tuple(unit_digest(text) for text in payload.texts), time=payload.time_ms / 1000,
    )  # fmt: skip


def slot_record(payload: BufferedPayload) -> SlotRecord:
    """What waits in the slots of a location query or command, from what the evidence holds of it."""
    return SlotRecord(
        id=payload.session, person=payload.prox_id, seasoned=payload.seasoned,
        audience=f"{payload.kind}|{payload.audience}", path=payload.path, intent=payload.texts[0],
        time=payload.time_ms / 1000, floor=time_floor(payload.kind, payload.path),
    )  # fmt: skip
