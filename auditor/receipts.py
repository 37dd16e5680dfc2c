"""What outsiders hold (check 9 of DESIGN 10.4): devices' receipts and parties' acknowledgements must be in the logs.

Receipts are JSON lines: `kind` (`response`, `consent`, `rights` or `acknowledgement`), `session` (hexadecimal), and
`message` (base64): the message as the service signed it for the device, or what the party signed. Receipts that
services cannot deny are the only thing that shows what both of them keep silent about. A receipt that these services
or parties did not sign shows nothing: it is counted and accuses nobody.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from auditor.completeness import Sets
from auditor.erasures import Erasures
from auditor.report import GATEWAY, MAIN_SERVICE, RECEIPTS, Report
from auditor.trust import Trust
from proxid.crypto.sansig import Role, SignedMessage
from proxid.crypto.sansig.scheme import verify_signatures
from proxid.errors import InputError, ProxidError, RecordMismatchError
from proxid.protocol import consent, response
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.rights import RightsReceipt


@dataclass(frozen=True, slots=True)
class Presented:
    """One receipt as it was presented."""

    kind: str
    session: bytes
    message: bytes


def read_receipts(path: Path) -> Iterator[Presented]:
    """The receipts of a file, or of all `receipts.jsonl` and `acknowledgements.jsonl` below a folder.

    A last line without an end, which a crash left, is skipped unless it is whole.

    Raises:
        InputError: naming the file, and the line if one is no receipt; never what it holds.
    """
    for file in _files(path):
        *lines, rest = _read(file).split(b"\n")
        for number, line in enumerate(lines, 1):
            presented = _presented(line)
            if presented is None:
                raise InputError(f"{file}: line {number} is no receipt")
            yield presented
        if (last := _presented(rest)) is not None:
            yield last


def verify_receipts(paths: Iterable[Path]) -> None:
    """Read all receipts once, before an audit takes its time; raises InputError."""
    for path in paths:
        for _ in read_receipts(path):
            pass


def _presented(line: bytes) -> Presented | None:
    try:
        data = json.loads(line)
        message = base64.b64decode(data["message"], validate=True)
        return Presented(str(data["kind"]), bytes.fromhex(data.get("session", "")), message)
    except (ValueError, KeyError, TypeError):
        return None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        raise InputError(f"{file}: receipts cannot be read") from None


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted([*path.rglob("receipts.jsonl"), *path.rglob("acknowledgements.jsonl")])


class ReceiptCheck:
    """Check 9: compares what is presented with what the logs held.

    Args:
        acknowledged: consent acknowledgements (hash of the consent message, version) in the gateway's log.
        erasures: rights that the log shows as carried out.
    """

    def __init__(
        self, trust: Trust, sets: Sets, acknowledged: set[tuple[bytes, int]], erasures: Erasures, report: Report
    ) -> None:
        self._trust = trust
        self._sets = sets
        self._acknowledged = acknowledged
        self._erasures = erasures
        self._report = report

    def run(self, presented: Iterable[Presented]) -> None:
        """Check every receipt."""
        rules = {"response": self._response, "consent": self._consent, "acknowledgement": self._delivery,
                 "rights": self._rights}  # fmt: skip
        for item in presented:
            rule = rules.get(item.kind)
            if rule is None:
                continue
            try:
                rule(item)
            except ProxidError:
                # Whoever makes a receipt up, or brings one of another house, accuses nobody.
                self._report.counts["receipts.unproven"] += 1
                continue
            self._report.checked[RECEIPTS] += 1
            self._report.counts[f"receipts.compared.{item.kind}"] += 1

    def _signed(self, item: Presented) -> SignedMessage:
        """The message, if both services signed it: else whoever presents it made it up."""
        trust = self._trust
        signed = SignedMessage.decode(item.message)
        header = signed.header
        if (header.signer, header.sanitizer, header.service) != (trust.service_key, trust.screener, trust.service):
            raise RecordMismatchError("presented message is not of these services")
        verify_signatures(signed, Role.SANITIZER)
        return signed

    def _response(self, item: Presented) -> None:
        session = self._signed(item).message.blocks[response.REQUEST_HASH].hex()
        if not self._sets.is_answered(session):
            self._report.add(RECEIPTS, GATEWAY, 0, "a device holds an answer that the log does not show")
        if not self._sets.is_received(session):
            self._report.add(RECEIPTS, MAIN_SERVICE, 0, "a device holds an answer to a request that was never received")

    def _consent(self, item: Presented) -> None:
        blocks = self._signed(item).message.blocks
        said = (blocks[consent.ACK_HASH][:16], int.from_bytes(blocks[consent.ACK_VERSION], "big"))
        if said not in self._acknowledged:
            self._report.add(RECEIPTS, GATEWAY, 0, "a device holds a consent's acknowledgement that no log shows")

    def _rights(self, item: Presented) -> None:
        receipt = RightsReceipt.decode(item.message)
        receipt.verify(self._trust.screener)
        if not self._erasures.requested(receipt.request):
            self._report.add(
                RECEIPTS, GATEWAY, 0, f"a person holds a receipt of {receipt.right.value} that no log shows"
            )

    def _delivery(self, item: Presented) -> None:
        ack = DeliveryAck.decode(item.message)
        key = self._trust.party_keys.get(ack.party)
        if key is None or ack.service != self._trust.service:
            raise RecordMismatchError("acknowledgement is of no party that is known here")
        ack.verify(key)
        if not self._sets.is_delivered((ack.epoch, ack.group, ack.party)):
            self._report.add(RECEIPTS, GATEWAY, 0, "a party claims a group that the log does not show as delivered")
