"""What an audit covered: which logs in which state, which period, and who outside vouched for them (DESIGN 10.4)."""

import base64
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from auditor.reading.source import Heads
from proxid.errors import ProxidError
from proxid.evidence.checkpoint import open_checkpoint, verify_cosignature
from proxid.evidence.note import Note, Verifier


@dataclass(frozen=True, slots=True)
class LogScope:
    """One log in the state that was shown to the auditor.

    Attributes:
        origin: its name in its heads. key: the service's public key, base64. before: entries that earlier audits read.
        size: entries of the newest signed head, and of the logs that this one follows. root: its root hash, base64.
        cosigned: Unix time and size of the newest head that the demanded witness cosigned; None if there is none.
        exported: Unix time of an exported folder's heads; None if the service itself was asked.
        note: the newest signed head, as it was shown.
    """

    origin: str
    key: str
    before: int
    size: int
    root: str
    cosigned: tuple[int, int] | None = None
    exported: float | None = None
    note: bytes = b""


@dataclass(frozen=True, slots=True)
class PolicyScope:
    """Epochs that went by one policy document.

    Attributes:
        first, last: epochs. policy: digest, hexadecimal. standing: whether the auditor could judge by it.
        k, margin: what it says of them; None if nobody knows here.
    """

    first: int
    last: int
    policy: str
    standing: str
    k: int | None = None
    margin: int | None = None


class Hours(NamedTuple):
    """What time it may be, in Unix seconds, by clocks of which one may be wrong.

    Attributes:
        agreed: the auditor's and the witness's say the same, as near as a witness's may be.
    """

    earliest: float
    latest: float
    agreed: bool


@dataclass(slots=True)
class Scope:
    """See the module.

    Attributes:
        logs: by name. started: Unix seconds. requests: Unix milliseconds of the first and the last request that can be
            read. epochs: the first and the last. people: who can be named, with a pseudonym in these epochs.
        witnessed: whether a witness was demanded. known: heads of others that were compared.
        pipeline: version of the rules that were applied again; empty if none were.
        policies: each stretch of epochs that went by one policy document, in order.
    """

    logs: dict[str, LogScope] = field(default_factory=dict)
    started: float = 0.0
    requests: tuple[int, int] | None = None
    epochs: tuple[int, int] | None = None
    people: int = 0
    witnessed: bool = False
    known: int = 0
    pipeline: str = ""
    policies: list[PolicyScope] = field(default_factory=list)

    def shown(self, name: str, log: Verifier, witness: Verifier | None, heads: Heads, before: int, base: int) -> None:
        """A log's heads were shown, behind `base` entries of older logs; one it did not sign is left to check 1."""
        try:
            head, _ = open_checkpoint(heads.latest, log)
        except ProxidError:
            return
        known = self.logs.get(name)
        self.logs[name] = LogScope(
            log.name, _base64(log.key), before if known is None else known.before, base + head.size, _base64(head.root),
            None if witness is None else _cosigned(heads.cosigned, log, witness), heads.time,
            heads.latest,
        )  # fmt: skip

    @property
    def read(self) -> float:
        """When the logs were read, or exported, by the auditor's clock, in Unix seconds."""
        return min([self.started, *(log.exported for log in self.logs.values() if log.exported is not None)])

    def hours(self, lag: float, begun: float) -> Hours:
        """What time it may have been when the logs were read, or exported.

        Args:
            lag: seconds that a cosignature may be old. begun: when the newest epoch began that both services say has.
        """
        read = self.read
        newest = max((log.cosigned[0] for log in self.logs.values() if log.cosigned), default=None)
        if newest is None:
            return Hours(read, max(read, begun), agreed=False)
        return Hours(min(read, newest), max(read, newest, begun), abs(read - newest) <= lag)

    @property
    def continued(self) -> bool:
        """Whether this audit went on from an earlier one."""
        return any(log.before for log in self.logs.values())

    def as_dict(self) -> dict[str, Any]:
        """For JSON; without the time of the audit, so that equal audits give equal reports."""
        return {
            "logs": {
                name: {"origin": log.origin, "size": log.size, "root": log.root, "read_before": log.before}
                for name, log in sorted(self.logs.items())
            },
            "requests_ms": self.requests, "epochs": self.epochs, "people": self.people,
            "policies": [asdict(policy) for policy in self.policies],
            "witness_demanded": self.witnessed, "known_heads": self.known, "pipeline": self.pipeline,
        }  # fmt: skip


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _cosigned(notes: Iterable[bytes], log: Verifier, witness: Verifier) -> tuple[int, int] | None:
    found = []
    for data in notes:
        try:
            found.append((verify_cosignature(Note.decode(data), witness), open_checkpoint(data, log)[0].size))
        except ProxidError:
            continue
    return max(found, default=None)
