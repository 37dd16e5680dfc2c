"""What a party acknowledged, on disk: `acknowledgements.jsonl`, for the auditor (DESIGN 10.4, check 9).

A line a group, `kind` and the signed `message` in base64, as `auditor.checks.c9_receipts` reads them, and one for the
gateway's promise that it is in its log. They are written once the gateway has taken the acknowledgement: a group that
was taken back because somebody withdrew is not among them.
"""

import base64
from pathlib import Path
from typing import Final, Self

from proxid.clients.subscriber.ledger import GroupId
from proxid.errors import MALFORMED, EncodingError, InputError
from proxid.protocol.receipt import DeliveryAck
from proxid.runtime.entry_file import EntryFile, read_entries

FILE: Final = "acknowledgements.jsonl"
KIND: Final = "acknowledgement"
PROMISE: Final = "promise"


class Acknowledgements:
    """The open file and an index of what is in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = EntryFile(path)
        self._groups: set[GroupId] = set()

    def __enter__(self) -> Self:
        """Read what is there; raises InputError for a damaged file, OutputError if it cannot be written."""
        self._file.__enter__()
        for number, entry in read_entries(self._path):
            try:
                if entry.get("kind") == PROMISE:
                    continue
                ack = DeliveryAck.decode(base64.b64decode(entry["message"], validate=True))
            except (EncodingError, *MALFORMED):
                raise InputError(f"{self._path.name}: line {number} is damaged") from None
            self._groups.add(GroupId(ack.epoch, ack.group))
        return self

    def __exit__(self, *_: object) -> None:
        self._file.__exit__()

    def has(self, group: GroupId) -> bool:
        """Whether the gateway took an acknowledgement of the group."""
        return group in self._groups

    def add(self, ack: DeliveryAck, promise: bytes = b"") -> None:
        """Keep an acknowledgement that the gateway took, and its promise, once; raises OutputError."""
        group = GroupId(ack.epoch, ack.group)
        if group in self._groups:
            return
        kept = {KIND: ack.encode(), **({PROMISE: promise} if promise else {})}
        self._file.extend(
            [{"kind": kind, "message": base64.b64encode(data).decode("ascii")} for kind, data in kept.items()]
        )
        self._groups.add(group)
