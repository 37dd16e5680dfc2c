"""What each record of a group shows: MS seals it, and the auditor expects the very same (DESIGN 8.4-8.9)."""

from collections.abc import Mapping, Sequence
from typing import Final

from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group, Pair, Rung
from proxid.anonymise.slotted.types import SlotGroup, SlotSettings
from proxid.anonymise.slotted.visible import shown_path, shown_text
from proxid.errors import RestrictionError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.record import Mechanism, RecordBody, audience_tag

MAX_SHOWN: Final = 440
"""Bytes of path and text together that surely fit one body (`record.BODY_SIZE`); a longer text is withheld."""

TEXT, CATEGORY = 0, 2
_RUNGS: Final = {Rung.TEXT: TEXT, Rung.UNIT: 1, Rung.CATEGORY: CATEGORY, Rung.NODE: 3}


def shown_texts(path: Sequence[str], texts: Sequence[str]) -> tuple[str, ...] | None:
    """Those of a general query's texts that a body holds beside its path; None if not even that fits."""
    room = MAX_SHOWN - sum(len(part.encode()) + 4 for part in path)
    return None if room < 0 else tuple(text for text in texts if len(text.encode()) <= room)


def mix_body(
    pair: Pair, group: Group, epoch: int, settings: Settings, buffered: BufferedPayload, seed: bytes = b""
) -> RecordBody:
    """What a record of a group of mode mix shows: what the ladder allows of `buffered`, its own.

    Args:
        seed: of the epoch; empty in version 1.
    """
    kind, _, audience = group.audience.partition("|")
    text = "" if pair.unit is None else buffered.texts[pair.unit]
    path = group.node if pair.rung is Rung.NODE else buffered.path
    mechanism = Mechanism("mix", settings.k, settings.margin, settings.level, len(group.node))
    return RecordBody(
        audience_tag(audience, seed), kind, mechanism, epoch, group.number, group.bucket, _RUNGS[pair.rung], path, text
    )


def slot_bodies(
    group: SlotGroup, kind: str, epoch: int, number: int, buffered: Mapping[bytes, BufferedPayload],
    settings: SlotSettings, seed: bytes = b"",
) -> dict[bytes, RecordBody]:  # fmt: skip
    """What each record of a group shows, by id.

    Args:
        seed: of the epoch; empty in version 1.

    Raises:
        RestrictionError: a person stands twice in the group, or fewer than k + m of them are seasoned.
    """
    verify_slot_group(group, settings)
    mechanism = Mechanism("slots", settings.k, settings.margin, settings.depth, len(group.node))
    path, audience = shown_path(kind, group.node), audience_tag(group.audience.partition("|")[2], seed)
    bodies = {}
    for member in group.members:
        text = shown_text(group, buffered[member.id].texts[1])
        bodies[member.id] = RecordBody(
            audience, kind, mechanism, epoch, number, int(group.start), TEXT if text else CATEGORY, path, text
        )
    return bodies


def verify_slot_group(group: SlotGroup, settings: SlotSettings) -> None:
    """The restrictions of a group of a slot; raises RestrictionError as `slot_bodies`."""
    people = {member.person for member in group.members}
    if len(people) != len(group.members):
        raise RestrictionError("a person stands twice in a group")
    if sum(member.seasoned for member in group.members) < settings.n:
        raise RestrictionError("a group has fewer distinct seasoned people than k + m")
