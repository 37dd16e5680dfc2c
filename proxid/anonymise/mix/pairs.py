"""From a formed group to the pairs that are published (DESIGN 8.4, 8.4.1).

Record i is published under member cycle[i]. Whatever produced the group and the cycle, the thesis's restrictions are
checked again here, at every release: a group that breaks one is withheld as a whole.
"""

from collections.abc import Sequence

from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group, Pair
from proxid.errors import RestrictionError


def release_pairs(group: Group, source: CycleSource, settings: Settings) -> tuple[Pair, ...]:
    """The published pairs of a group in the order in which they are shown; pure in (seed, number, members).

    Raises:
        RestrictionError: a restriction does not hold; nothing of the group may leave.
    """
    n = len(group.members)
    cycle, order = source.draw(group.number, n)
    check_restrictions(group, cycle, settings)
    shown = []
    for i in order:
        member = group.members[i]
        shown.append(Pair(member.record, group.members[cycle[i]].person, member.rung, member.unit))
    return tuple(shown)


def check_restrictions(group: Group, cycle: Sequence[int], settings: Settings) -> None:
    """Check restrictions 4.1 and 4.2 of 002, and what the theorem of `docs/anonymity.md` rests on.

    Raises:
        RestrictionError: people repeat, fewer than n of them are seasoned, the cycle is not one n-cycle over
            the group, a record would be published under its issuer, or fewer than k others may own it.
    """
    people = [member.person for member in group.members]
    if len(set(people)) != len(people) or len({member.record for member in group.members}) != len(people):
        raise RestrictionError("a person or a record stands twice in a group")
    if sum(member.seasoned for member in group.members) < settings.n:
        raise RestrictionError("a group has fewer distinct seasoned people than k + 1 + margin")
    if any(people[target] == people[i] for i, target in enumerate(cycle)):
        raise RestrictionError("a record would be published under its issuer (restriction 4.1)")
    if len(people) - 1 - settings.margin < settings.k:
        raise RestrictionError("a record has fewer than k other candidates (restriction 4.2)")
    if not is_one_cycle(cycle, len(people)):
        raise RestrictionError("the published people are not one cycle over the group")
    if group.raised and any(member.rung != "node" for member in group.members):
        raise RestrictionError("a group with a raised record shows more than its node")


def is_one_cycle(cycle: Sequence[int], n: int) -> bool:
    """Whether the sequence maps 0 … n−1 onto themselves in one cycle of length n."""
    if sorted(cycle) != list(range(n)):
        return False
    at, steps = cycle[0], 1
    while at != 0:
        at, steps = cycle[at], steps + 1
    return steps == n
