"""That MS keeps nothing of whom it says it has forgotten (check 8 of DESIGN 10.4), by headers alone.

What waits of a person-epoch is what was buffered, less what was released (a record an owner), suppressed or withdrawn.
When MS says ERASED, nothing may, and nothing may come afterwards; nor may anything of an epoch that was closed. Nothing
is released under a person of whom nothing waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from proxid.errors import GroupMismatchError
from proxid.evidence.events import Event, Header

KeptState = tuple[dict[str, bytes], dict[bytes, int]]
"""The attributes of `Kept`."""

STRANGERS: Final = "stands under people of whom nothing waits, or who are published and not among the owners"
_NAME = 32


@dataclass(slots=True)
class Kept:
    """Records that wait.

    Attributes:
        whose: first half of the session in hexadecimal → subject tag. waiting: how many, by subject tag.
    """

    whose: dict[str, bytes] = field(default_factory=dict)
    waiting: dict[bytes, int] = field(default_factory=dict)

    def buffered(self, event: Event) -> None:
        """BUFFERED."""
        for tag in filter(None, event.tags):
            self.whose[str(event.fields["session"])[:_NAME]] = tag
            self.waiting[tag] = self.waiting.get(tag, 0) + 1

    def released(self, event: Event, sessions: list[str]) -> bool:
        """RELEASED: its tags are of an open part, the owners, the people published; `sessions` those that it names.

        Returns:
            whether as many records of each owner waited, and the people published are the owners.
        """
        for session in sessions:
            self.whose.pop(session[:_NAME], None)
        own = len(event.tags) // 2
        owners, published = event.tags[1 : 1 + own], event.tags[1 + own :]
        waited = [self._left(tag) for tag in owners]
        return all(waited) and sorted(owners) == sorted(published)

    def ended(self, session: str) -> bytes:
        """SUPPRESSED or WITHDRAWN; the subject tag of whose it was, or empty."""
        self._left(tag := self.whose.pop(session[:_NAME], b""))
        return tag

    def _left(self, tag: bytes) -> bool:
        """Whether something waited of a tag, of which one is gone."""
        left = self.waiting.pop(tag, 0) - 1
        if left > 0:
            self.waiting[tag] = left
        return left >= 0

    def verify_epoch(self, fields: Header, epochs: Mapping[bytes, int]) -> None:
        """An event of a record that waits; raises GroupMismatchError if it waits in another epoch than the event says.

        Args:
            epochs: by subject tag.
        """
        tag, epoch = self.whose.get(str(fields["session"])[:_NAME], b""), fields["epoch"]
        if epochs.get(tag, epoch) != epoch:
            raise GroupMismatchError("event names another epoch than its record waits in")

    def verify_over(self, epoch: int, epochs: Mapping[bytes, int]) -> None:
        """EPOCH_CLOSED; raises GroupMismatchError if something waits in it.

        Args:
            epochs: by subject tag.
        """
        if any(epochs.get(tag) == epoch for tag in self.waiting):
            raise GroupMismatchError("an epoch was closed, and something is said to wait in it still")

    def erased(self, tag: bytes) -> None:
        """ERASED; raises GroupMismatchError if something of the person waits."""
        if self.waiting.get(tag):
            raise GroupMismatchError("records of a person wait whom the main service says it has forgotten")

    def state(self) -> KeptState:
        """For storing."""
        return self.whose, self.waiting

    def restore(self, state: KeptState) -> None:
        """Go on from a state."""
        self.whose, self.waiting = state
