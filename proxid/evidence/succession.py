"""A successor log (DESIGN 10.2): its first leaf, SUCCEEDED, names the last signed head of the log that it follows.

It is begun on purpose alone, when a log cannot be gone on with. What it names is what its auditors and witnesses hold
it to: leaves that anybody has seen and that the named head does not cover are hidden by it.
"""

from dataclasses import dataclass

from proxid.errors import EncodingError
from proxid.evidence.events import EventType, Header, encode_header
from proxid.evidence.leaf import Leaf


@dataclass(frozen=True, slots=True)
class Succession:
    """What SUCCEEDED says.

    Attributes:
        note: the old log's last head, signed by the service. store_lost: the store knows less than the old log holds.
        held: entries that the old log had, by the store's count, where its files are gone and the head covers fewer;
            else 0. The entries between are admitted as lost.
    """

    note: bytes
    store_lost: bool
    held: int = 0

    def header(self) -> bytes:
        """The event's header."""
        held = {"held": self.held} if self.held else {}
        return encode_header(head=self.note.decode("utf-8"), store="lost" if self.store_lost else "kept", **held)

    @classmethod
    def of(cls, fields: Header) -> "Succession":
        """What a header says; raises EncodingError."""
        head, store, held = fields.get("head"), fields.get("store"), fields.get("held", 0)
        if not isinstance(head, str) or store not in {"lost", "kept"} or type(held) is not int or held < 0:
            raise EncodingError("SUCCEEDED is malformed")
        return cls(head.encode("utf-8"), store == "lost", held)

    @classmethod
    def of_leaf(cls, leaf: Leaf) -> "Succession":
        """What a successor's first leaf says; raises EncodingError."""
        header = leaf.known
        if (header.number, header.type) != (1, EventType.SUCCEEDED):
            raise EncodingError("the first leaf of a successor is not SUCCEEDED")
        return cls.of(header.values)
