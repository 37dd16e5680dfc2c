"""Epoch keys that were lost (check 3 of DESIGN 10.4; ADR 0039): one of a person in an epoch, in whose place comes one.

That does not count as seasoned, and the gateway's word to the main service names the PROX_ID before: nothing is taken
under that any more, and what waits under it was given up before anything came under the new one.
"""

from collections.abc import Iterable, Set
from typing import Final, NamedTuple, Protocol

from auditor.findings import GATEWAY, SIGNATURES, Report, Unchecked
from proxid.errors import RegistrationError


class Shown(NamedTuple):
    """Of a credential that MS was shown: its digest, and what a person's key may not have two of."""

    digest: bytes
    seasoned: bool
    instead: str


class Replacing(Protocol):
    """Of an epoch key: its PROX_ID, the one whose place it takes, or nothing, and whether it counts as seasoned."""

    @property
    def prox_id(self) -> str: ...
    @property
    def instead(self) -> str: ...
    @property
    def seasoned(self) -> bool: ...


class LostState(NamedTuple):
    """A `LostKeys`, for storing, but for what the people's keys say."""

    unread: dict[int, set[bytes]]
    claims: list[tuple[int, int]]
    two: set[str]
    told: set[str]


_MADE_UP: Final = "epoch key takes the place of one that the person did not have"
_TWO: Final = "the main service was shown another credential of an epoch key, of another season or instead of another"


class LostKeys:
    """Which keys are lost.

    Attributes:
        follows: the gateway's log follows an older one, whose store may have been lost.
    """

    def __init__(self) -> None:
        self.follows = False
        self._unread: dict[int, set[bytes]] = {}
        """By epoch, subject tags whose LINKED cannot be read: the key before may have been in it."""
        self._claims: list[tuple[int, int]] = []
        """LINKED that take the place of a key that may have been in one of these, and epochs."""
        self._two: set[str] = set()
        """PROX_IDs of keys of which the gateway said two things."""
        self._told: set[str] = set()
        """Those of them that were reported."""
        self._taken: dict[str, str] = {}
        self._before: dict[str, str] = {}

    def verify(self, before: Replacing | None, instead: str, epoch: int, event: int = 0) -> None:
        """Check that a person has one key in an epoch, or lost one; raises RegistrationError.

        Args:
            before: the person's key of the epoch that was linked last; None if there is none. instead: whose place the
                one that is linked now is said to take. event: its number.
        """
        if before is None:
            if instead and epoch not in self._unread:
                raise RegistrationError(_MADE_UP)
            if instead:
                self._claims.append((event, epoch))
        elif instead != before.prox_id:
            raise RegistrationError("user has two live epoch keys in one epoch")
        elif before.instead:
            raise RegistrationError("epoch keys of one person were replaced twice in one epoch")

    def linked(self, key: Replacing, shown: Shown | None = None) -> None:
        """A key was linked, of which the main service was shown a credential before, perhaps."""
        if key.instead:
            self._taken[key.instead], self._before[key.prox_id] = key.prox_id, key.instead
        self.compare(key, shown)

    def unread_link(self, epoch: int, tag: bytes) -> None:
        """A LINKED that cannot be read."""
        self._unread.setdefault(epoch, set()).add(tag)

    def compare(self, linked: Replacing | None, shown: Shown | None) -> None:
        """A credential of a key that the main service was shown, and the one that the gateway's log holds."""
        if linked and shown and (shown.seasoned, shown.instead) != (linked.seasoned, linked.instead):
            self._two.add(linked.prox_id)

    def has_two(self, prox_id: str) -> bool:
        """Whether the main service may go by another word of the gateway's than its log holds."""
        return prox_id in self._two

    def finish(self, erased: Set[bytes], report: Report) -> None:
        """At the end of an audit: what the gateway alone can have made up.

        Whoever is erased is so whole, and then the key in the place of theirs cannot be read, either: what does not
        open since somebody was erased was nobody else's lost key.

        Args:
            erased: subject tags that an ERASED covers.
        """
        claims, self._claims = self._claims, []
        doubtful = [epoch for _, epoch in claims if self._unread.get(epoch, set()) - erased]
        for event, epoch in claims:
            if not self._unread.get(epoch, set()) - erased:
                report.add(SIGNATURES, GATEWAY, event, f"LINKED: {_MADE_UP}")
        if doubtful:
            text = f"{len(doubtful)} epoch keys took the place of keys whose links cannot be read any more"
            report.missing.append(Unchecked(SIGNATURES, GATEWAY, text))
        found, self._told = self._two - self._told, set(self._two)
        if found and self.follows:
            text = f"{len(found)} epoch keys have two credentials, which a store that was lost may explain"
            report.missing.append(Unchecked(SIGNATURES, GATEWAY, text))
        else:
            for _ in found:
                report.add(SIGNATURES, GATEWAY, 0, _TWO)

    def state(self) -> LostState:
        """For storing."""
        return LostState(self._unread, self._claims, self._two, self._told)

    def restore(self, state: LostState, keys: Iterable[Replacing]) -> None:
        """Go on from a state."""
        self._unread, self._claims, self._two, self._told = state
        self._taken.clear()
        self._before.clear()
        for key in keys:
            self.linked(key)

    def forget(self, prox_id: str) -> None:
        """Somebody was erased."""
        self._before.pop(self._taken.pop(prox_id, ""), None)
        self._two.discard(prox_id)
        self._told.discard(prox_id)

    def is_lost(self, prox_id: str) -> bool:
        """Whether another key took the place of this one's."""
        return prox_id in self._taken

    def before(self, prox_id: str) -> str:
        """The PROX_ID of the lost key whose place this one's took, as MS was told, too; empty if it took none."""
        return "" if prox_id in self._two else self._before.get(prox_id, "")
