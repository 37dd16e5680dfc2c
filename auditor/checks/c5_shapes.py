"""Groups that cannot be replayed (check 5 of DESIGN 10.4): what is left of them to see."""

from auditor.policies import Policies
from proxid.errors import GroupMismatchError
from proxid.evidence.events import ReleasedPayload


def verify_shape(policies: Policies, epoch: int, kind: str, payload: ReleasedPayload) -> None:
    """RELEASED that cannot be replayed: enough people, each once as owner and once as published.

    A general group permutes them without a fixed point; in a slot each record keeps its user.

    Raises:
        GroupMismatchError: what can be read contradicts that.
    """
    owners, published = payload.owners or payload.published, payload.published
    readable = [{p for p in side if p} for side in (owners, published)]
    if len(published) < _smallest(policies, epoch, kind) or len(owners) != len(published):
        raise GroupMismatchError("group is smaller than k and the margin")
    if any(len(found) != sum(1 for p in side if p) for found, side in zip(readable, (owners, published), strict=True)):
        raise GroupMismatchError("group counts a person twice")
    if not payload.owners:
        return
    known = [owner == person for owner, person in zip(owners, published, strict=True) if owner and person]
    if kind == "general" and any(known):
        raise GroupMismatchError("somebody is published with their own query")
    if kind != "general" and not all(known):
        raise GroupMismatchError("a record of a slot is filed under another person than asked")


def _smallest(policies: Policies, epoch: int, kind: str) -> int:
    judge = policies.of(epoch)
    if judge is None:
        return 2
    slots = judge.slots.get(kind)
    return judge.settings.n if slots is None else slots.n
