"""What outsiders hold (check 9 of DESIGN 10.4): devices' receipts and parties' acknowledgements must be in the logs.

Receipts are JSON lines: `kind` (`epoch`, `response`, `consent`, `rights`, `promise`, `opening`, `acknowledgement`),
`session` (hexadecimal), and `message` (base64): the message as the service signed it, or what the party signed, or a
request that its person opens; `time_ms` is when it was presented to a running auditor. Receipts that services cannot
deny are the only thing that shows what both of them keep silent about. A receipt that these services or parties did not
sign shows nothing: it is counted and accuses nobody. One that is so new that its event may have come after the heads is
counted too, and shows something when it is presented again.
"""

import base64
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c3_signatures import name_of
from auditor.checks.c4_openings import Openings
from auditor.checks.c7_completeness import Sets
from auditor.checks.c9_promises import Promised, opened
from auditor.checks.c9_recent import Recent
from auditor.findings import GATEWAY, MAIN_SERVICE, RECEIPTS, Report, Unchecked
from auditor.policies import Policies
from auditor.trust import Trust, verify_party
from proxid.crypto.identity import EpochKey
from proxid.crypto.revocation import Revocation
from proxid.crypto.sansig import Role, SignedMessage
from proxid.crypto.sansig.scheme import Expectation, verify_signatures
from proxid.errors import MALFORMED, InputError, ProxidError, RecordMismatchError
from proxid.evidence.promise import Promise
from proxid.jsontext import load_json
from proxid.protocol import consent, response
from proxid.protocol.opened import OpenedRequest
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.rights import RightsReceipt
from proxid.regular import regular_bytes
from proxid.runtime.provision.revocations import read_revocations


@dataclass(frozen=True, slots=True)
class Presented:
    """One receipt as it was presented.

    Attributes:
        written_ms: when at the latest, in Unix milliseconds (0: long ago). late: the audit had begun by then.
    """

    kind: str
    session: bytes
    message: bytes
    written_ms: int = 0
    late: bool = False


def read_receipts(path: Path, before: Mapping[Path, int] | None = None) -> Iterator[Presented]:
    """The receipts of a file, or of all `receipts.jsonl` and `acknowledgements.jsonl` below a folder.

    A file may also be an answer of the enrolment authority that revokes keys.

    A last line without an end, which a crash left, is skipped unless it is whole.

    Args:
        before: how many lines each file held when the audit began; None: as many as now.

    Raises:
        InputError: naming the file, and the line if one is no receipt; never what it holds.
    """
    for file in _files(path):
        data, written = _read(file)
        if path == file and (revoked := read_revocations(file)) is not None:
            yield from (Presented(REVOCATION, b"", one.encode(), written) for one in revoked)
            continue
        *lines, rest = data.split(b"\n")
        held = len(lines) + 1 if before is None else before.get(file, 0)
        for number, line in enumerate(lines, 1):
            presented = _presented(line, written, number > held)
            if presented is None:
                raise InputError(f"{file}: line {number} is no receipt")
            yield presented
        if (last := _presented(rest, written, len(lines) >= held)) is not None:
            yield last


def verify_receipts(paths: Collection[Path]) -> dict[Path, int]:
    """Read all receipts once, before an audit takes its time: how many lines each file holds; raises InputError."""
    held = {file: _read(file)[0].count(b"\n") for path in paths for file in _files(path)}
    for path in paths:
        for _ in read_receipts(path):
            pass
    return held


def _presented(line: bytes, written_ms: int, late: bool) -> Presented | None:
    try:
        data = load_json(line)
        message = base64.b64decode(data["message"], validate=True)
        at = int(data.get("time_ms", written_ms))
        return Presented(str(data["kind"]), bytes.fromhex(data.get("session", "")), message, at, late)
    except MALFORMED:
        return None


def _read(file: Path) -> tuple[bytes, int]:
    """What a file holds, and when it was written to last."""
    try:
        return regular_bytes(file), int(file.stat().st_mtime * 1000)
    except OSError:
        raise InputError(f"{file}: receipts cannot be read") from None


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted([*path.rglob("receipts.jsonl"), *path.rglob("acknowledgements.jsonl")])


def _signed_by_both(
    data: bytes, trust: Trust, expected: Callable[[str, int, bytes, bytes], Expectation]
) -> SignedMessage:
    """The message of an encoding, if both services signed it for this purpose: else whoever presents it made it up.

    Raises:
        ProxidError: it is none, of other services, or another kind of message that they signed.
    """
    signed = SignedMessage.decode(data)
    expected(trust.service, signed.header.epoch, trust.service_key, trust.screener).verify_header(signed.message)
    verify_signatures(signed, Role.SANITIZER)
    return signed


def _response(data: bytes, trust: Trust) -> SignedMessage:
    blocks = response.blocks_of(SignedMessage.decode(data))
    return _signed_by_both(data, trust, lambda *of: response.expectation(*of, blocks))


def _consent(data: bytes, trust: Trust) -> SignedMessage:
    return _signed_by_both(data, trust, consent.ack_expectation)


def _epoch_key(data: bytes, trust: Trust) -> EpochKey:
    key = EpochKey.decode(data)
    key.verify(trust.service_key, trust.service, key.epoch)
    return key


def _rights_receipt(data: bytes, trust: Trust) -> RightsReceipt:
    receipt = RightsReceipt.decode(data)
    receipt.verify(trust.screener)
    return receipt


def acknowledged(data: bytes, trust: Trust) -> DeliveryAck:
    """The acknowledgement of an encoding, if a party that is known here signed it; raises ProxidError."""
    ack = DeliveryAck.decode(data)
    if ack.service != trust.service or not verify_party(trust, ack.party, ack.verify):
        raise RecordMismatchError("acknowledgement is of no party that is known here")
    return ack


def _promise(data: bytes, trust: Trust) -> Promise:
    return opened(data, trust)[0]


def _opening(data: bytes, trust: Trust) -> OpenedRequest:
    opened = OpenedRequest.decode(data)
    opened.verify(trust.service, trust.screener)
    return opened


OF_DEVICES: Final[dict[str, Callable[[bytes, Trust], object]]] = {
    "epoch": _epoch_key, "response": _response, "consent": _consent, "rights": _rights_receipt,
    "promise": _promise, "opening": _opening,
}  # fmt: skip
"""Kinds of receipts that devices hold, and what shows that one is genuine; the others are parties' acknowledgements."""
ACKNOWLEDGEMENT: Final = "acknowledgement"
REVOCATION: Final = "revocation"
"""What the enrolment authority holds."""
PROMISE: Final = "promise"
"""What parties hold, too."""


class ReceiptCheck:
    """Check 9: compares what is presented with what the logs held.

    Args:
        policies: with the keys of epochs that the logs hold.
        acknowledged: consent acknowledgements (hash of the consent message, version) in the gateway's log.
        erasures: rights that the log shows as carried out.
        recent: which receipts are too new to be missed. promised: takes promises.
        in_use: whether a user's key counts by the gateway's log.
    """

    def __init__(
        self, policies: Policies, sets: Sets, acknowledged: set[tuple[bytes, int]], erasures: Erasures, report: Report,
        recent: Recent, promised: Promised, in_use: Callable[[str, bytes], bool] = lambda *_: False,
    ) -> None:  # fmt: skip
        self._in_use, self._unknown = in_use, 0
        self._promised = promised
        self._recent = recent
        self._policies, self._trust = policies, policies.trust
        self._sets = sets
        self._acknowledged = acknowledged
        self._erasures = erasures
        self._report = report
        self._openings = Openings(policies, sets.texts, report)

    def run(self, presented: Iterable[Presented]) -> None:
        """Check every receipt."""
        rules = {
            "response": self._response, "consent": self._consent, "acknowledgement": self._delivery,
            "rights": self._rights, "epoch": self._epoch, "promise": self._promise, "opening": self._opening,
            REVOCATION: self._revocation,
        }  # fmt: skip
        for item in presented:
            rule = rules.get(item.kind)
            if rule is None:
                continue
            try:
                rule(item)
            except ProxidError:
                # Whoever makes a receipt up, or brings one of another trial, accuses nobody.
                self._report.counts["receipts.unproven"] += 1
                continue
            self._report.checked[RECEIPTS] += 1
            self._report.counts[f"receipts.compared.{item.kind}"] += 1

        self._openings.finish()
        self._recent.finish(self._report)
        if self._unknown:
            # Nobody may have brought them: that is no fault of the gateway's.
            text = f"{self._unknown} keys that the enrolment authority revoked are in use by the gateway's log"
            self._report.missing.append(
                Unchecked(RECEIPTS, GATEWAY, f"{text}: bring it the revocations (docs/keys.md)")
            )

    def _missing(self, item: Presented, time_ms: int, log: str, text: str) -> None:
        """What a receipt shows is in no log: a violation, unless it may have come after the heads that were read."""
        if self._recent.holds(time_ms, late=item.late):
            self._report.counts["receipts.recent"] += 1
        else:
            self._report.add(RECEIPTS, log, 0, text)

    def _response(self, item: Presented) -> None:
        signed = _response(item.message, self._trust)
        session, time_ms = signed.message.blocks[response.REQUEST_HASH].hex(), signed.header.time_ms
        if head := response.head_of(signed):
            self._promised.shown(head, time_ms)
        if not self._sets.is_answered(session):
            self._missing(item, time_ms, GATEWAY, "a device holds an answer that the log does not show")
        if self._sets.answered_heads.is_another(session, name_of(signed, Role.SANITIZER)):
            self._report.add(RECEIPTS, GATEWAY, 0, "a device holds another answer than the log shows")
        if not self._sets.is_received(session):
            self._missing(item, time_ms, MAIN_SERVICE, "a device holds an answer to a request that was never received")

    def _consent(self, item: Presented) -> None:
        signed = _consent(item.message, self._trust)
        blocks = signed.message.blocks
        said = (blocks[consent.ACK_HASH][:16], int.from_bytes(blocks[consent.ACK_VERSION], "big"))
        if said not in self._acknowledged:
            text = "a device holds a consent's acknowledgement that no log shows"
            self._missing(item, signed.header.time_ms, GATEWAY, text)

    def _epoch(self, item: Presented) -> None:
        key = _epoch_key(item.message, self._trust)
        logged = self._policies.logged(key)
        if logged is None:
            text = "a device holds the key of an epoch that no log shows"
            end = self._trust.epochs.end(key.epoch) * 1000  # the file may be written to long after that
            self._missing(item, min(item.written_ms, end), MAIN_SERVICE, text)
        elif not logged:
            self._report.add(RECEIPTS, MAIN_SERVICE, 0, "a device holds another key of an epoch than the logs show")

    def _rights(self, item: Presented) -> None:
        receipt = _rights_receipt(item.message, self._trust)
        if not self._erasures.requested(receipt.request):
            text = f"a person holds a receipt of {receipt.right.value} that no log shows"
            self._missing(item, receipt.time_ms, GATEWAY, text)

    def _revocation(self, item: Presented) -> None:
        revocation = Revocation.decode(item.message)
        revocation.verify(self._trust.authority)
        self._unknown += self._in_use(revocation.user_id, revocation.user_key)

    def _opening(self, item: Presented) -> None:
        self._openings.judge(item.message)

    def _promise(self, item: Presented) -> None:
        self._promised.take(item.message, item.late)

    def _delivery(self, item: Presented) -> None:
        ack = acknowledged(item.message, self._trust)
        if not self._sets.is_delivered((ack.epoch, ack.group, ack.party)):
            # It has no time of its own.
            text = "a party claims a group that the log does not show as delivered"
            self._missing(item, item.written_ms, GATEWAY, text)
