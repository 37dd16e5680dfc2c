"""Where evidence comes from: a service over gRPC, an exported folder, a list. The auditor knows no store."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from proxid.errors import TreeProofError
from proxid.evidence.leaf import Leaf


@dataclass(frozen=True, slots=True)
class Heads:
    """A log's newest signed head, and for each witness the newest that it cosigned (signed notes).

    Of an exported folder also (a service is asked when it comes to that):

    Attributes:
        time: when they were asked for, in Unix seconds. seen: entries of this log before the other one's head was asked
            for. later: the newest head after both logs and the keys were read.
        first: salt and header of the log's first leaf, which of a successor names the log before it.
    """

    latest: bytes
    cosigned: tuple[bytes, ...] = ()
    time: float | None = None
    seen: int = 0
    later: bytes = b""
    first: Leaf | None = None


class EvidenceSource(Protocol):
    """One service's log."""

    def heads(self) -> Heads:
        """The signed heads, covering everything recorded before the call; raises EvidenceUnreadableError."""
        ...

    def leaves(self, first: int, end: int) -> Iterator[Leaf]:
        """Leaves `first` … `end`−1 in order; raises EvidenceUnreadableError, EvidenceLostError."""
        ...

    def log(self, generation: int) -> "EvidenceSource":
        """Another log of the same service: 1 is the first one, each successor is one more."""
        ...

    def consistency(self, old: int, size: int) -> list[bytes]:
        """Proof that one head is the beginning of another; raises EvidenceUnreadableError."""
        ...

    def inclusion(self, number: int, size: int) -> list[bytes]:
        """Proof that leaf `number` is in the head of `size`; raises EvidenceUnreadableError."""
        ...


class KeySource(Protocol):
    """The Identity Screener's evidence keys."""

    def keys(self, tags: Sequence[bytes]) -> list[bytes]:
        """Private evidence keys of subject tags, empty where there is none (any more)."""
        ...


class LeafList:
    """Leaves at hand, for tests."""

    def __init__(self, leaves: Iterable[Leaf], heads: Heads) -> None:
        self._leaves = list(leaves)
        self._heads = heads

    def heads(self) -> Heads:
        """The heads it was made with."""
        return self._heads

    def leaves(self, first: int, end: int) -> Iterator[Leaf]:
        """Leaves by number."""
        return iter(self._leaves[first - 1 : end - 1])

    def log(self, generation: int) -> EvidenceSource:
        """There is one alone."""
        return self

    def consistency(self, old: int, size: int) -> list[bytes]:
        """None is kept."""
        raise TreeProofError("a list of leaves gives no proofs")

    def inclusion(self, number: int, size: int) -> list[bytes]:
        """None is kept."""
        raise TreeProofError("a list of leaves gives no proofs")
