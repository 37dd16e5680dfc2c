"""Epoch keys that were lost (check 3 of DESIGN 10.4; ADR 0039): one of a person in an epoch, in whose place comes one.

That does not count as seasoned, and the gateway's word to the main service names the PROX_ID before: nothing is taken
under that any more, and what waits under it was given up before anything came under the new one.
"""

from collections.abc import Iterable
from typing import Protocol

from proxid.errors import RegistrationError


class Replacing(Protocol):
    """Of an epoch key: its PROX_ID, and the one whose place it takes, or nothing."""

    @property
    def prox_id(self) -> str: ...
    @property
    def instead(self) -> str: ...


class LostKeys:
    """Which keys are lost.

    Attributes:
        unread: epochs of which some LINKED cannot be read: the key before may have been in it.
    """

    def __init__(self) -> None:
        self.unread: set[int] = set()
        self._taken: dict[str, str] = {}
        self._before: dict[str, str] = {}

    def verify(self, before: Replacing | None, instead: str, epoch: int) -> None:
        """Check that a person has one key in an epoch, or lost one; raises RegistrationError.

        Args:
            before: the person's key of the epoch that was linked last; None if there is none. instead: whose place the
                one that is linked now is said to take.
        """
        if before is None:
            if instead and epoch not in self.unread:
                raise RegistrationError("epoch key takes the place of one that the person did not have")
        elif instead != before.prox_id:
            raise RegistrationError("user has two live epoch keys in one epoch")
        elif before.instead:
            raise RegistrationError("epoch keys of one person were replaced twice in one epoch")

    def linked(self, key: Replacing) -> None:
        """A key was linked."""
        if key.instead:
            self._taken[key.instead], self._before[key.prox_id] = key.prox_id, key.instead

    def restore(self, unread: set[int], keys: Iterable[Replacing]) -> None:
        """Go on from a state."""
        self.unread = unread
        self._taken.clear()
        self._before.clear()
        for key in keys:
            self.linked(key)

    def forget(self, prox_id: str) -> None:
        """Somebody was erased."""
        self._before.pop(self._taken.pop(prox_id, ""), None)

    def is_lost(self, prox_id: str) -> bool:
        """Whether another key took the place of this one's."""
        return prox_id in self._taken

    def before(self, prox_id: str) -> str:
        """The PROX_ID of the lost key whose place this one's took; empty if it took none."""
        return self._before.get(prox_id, "")
