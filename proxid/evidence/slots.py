"""The bodies of a slot's group, as MS seals them and the auditor expects them (DESIGN 8.8, 8.9)."""

from collections.abc import Mapping

from proxid.anonymise.slotted.types import SlotGroup, SlotSettings
from proxid.anonymise.slotted.visible import shown_path, shown_text
from proxid.errors import RestrictionError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.record import Mechanism, RecordBody, audience_tag

TEXT, CATEGORY = 0, 2


def slot_bodies(
    group: SlotGroup, kind: str, epoch: int, number: int, buffered: Mapping[bytes, BufferedPayload],
    settings: SlotSettings,
) -> dict[bytes, RecordBody]:  # fmt: skip
    """What each record of a group shows, by id.

    Raises:
        RestrictionError: a person stands twice in the group, or fewer than k + m of them are seasoned.
    """
    people = {member.person for member in group.members}
    if len(people) != len(group.members):
        raise RestrictionError("a person stands twice in a group")
    if sum(member.seasoned for member in group.members) < settings.n:
        raise RestrictionError("a group has fewer distinct seasoned people than k + m")
    mechanism = Mechanism("slots", settings.k, settings.margin, settings.depth, len(group.node))
    path, audience = shown_path(kind, group.node), audience_tag(group.audience.partition("|")[2])
    bodies = {}
    for member in group.members:
        text = shown_text(group, buffered[member.id].texts[1])
        bodies[member.id] = RecordBody(
            audience, kind, mechanism, epoch, number, int(group.start), TEXT if text else CATEGORY, path, text
        )
    return bodies
