"""What each party knew of one request, side by side, at the demo's end: from the evidence and a party's feed."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rich.table import Table

from auditor.report.blocks import moment
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode_text
from proxid.errors import ProxidError
from proxid.evidence.events import (
    BufferedPayload,
    DeliveredPayload,
    Event,
    EventType,
    ReleasedPayload,
    SanitizedPair,
)
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.record import PLACE
from proxid.protocol.request import USER, Utterance

PARTIES: Final = ("device", "gateway", "main service", "third party", "auditor")
NOTHING: Final = "–"
_CUT: Final = 13
"""Letters of a pseudonym that a terminal shows."""


@dataclass(frozen=True, slots=True)
class Known:
    """A request as the services' logs know it: who asked, when (Unix seconds), its bytes; once it waits, what it says.

    Attributes:
        group: epoch and group or portion of what was released of it. place: which of its records, as MS signed it.
    """

    user: str
    prox_id: str
    time: float
    size: int
    said: str = ""
    path: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    kind: str = ""
    group: tuple[int, int] = (0, 0)
    place: bytes = b""


@dataclass(slots=True)
class Knowledge:
    """Requests by their session ids (hexadecimal); fed with both logs' events in any order.

    Attributes:
        held: by party, epoch and group the places of the records that the party acknowledged, in the order of its rows.
    """

    requests: dict[str, Known] = field(default_factory=dict)
    held: dict[tuple[str, int, int], list[bytes]] = field(default_factory=dict)
    _waiting: dict[str, Event] = field(default_factory=dict)
    _places: dict[str, tuple[tuple[int, int], bytes]] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """One more event; what cannot be read is passed over."""
        try:
            self._add(event)
        except ProxidError:
            return

    def _add(self, event: Event) -> None:
        if event.type is EventType.FORWARDED:
            pair = SanitizedPair.decode(event.payload)
            asked = pair.original
            self.requests[asked.session_id.hex()] = Known(
                asked.message.user_block.decode(), decode_text(pair.sanitized.message.blocks[USER]),
                asked.header.time_ms / 1000, len(asked.encode()),
            )  # fmt: skip
        elif event.type is EventType.BUFFERED:
            self._waiting[BufferedPayload.decode(event.payload).session.hex()] = event
        elif event.type is EventType.RELEASED:
            group = int(str(event.fields["epoch"])), int(str(event.fields["group"]))
            released = ReleasedPayload.decode(event.payload)
            signed_for_one = released.parties[0][1] if released.parties else ()  # places are alike at every party
            for session, signed in zip(released.records, signed_for_one, strict=False):
                if session and signed:
                    self._places[session.hex()] = (group, SignedMessage.decode(signed).message.blocks[PLACE])
        elif event.type is EventType.DELIVERED:
            delivered = DeliveredPayload.decode(event.payload)
            ack = DeliveryAck.decode(delivered.acknowledgement)
            pairs = [SanitizedPair.decode(pair) if pair else None for pair in delivered.pairs]
            places = [b"" if pair is None else pair.original.message.blocks[PLACE] for pair in pairs]
            self.held[ack.party, ack.epoch, ack.group] = places

    def released(self) -> Iterator[Known]:
        """General requests of which something was released, in the order of their times."""
        found = []
        for session, (group, place) in self._places.items():
            if session in self.requests and session in self._waiting:
                read = BufferedPayload.decode(self._waiting[session].payload)
                said = Utterance.from_opening(read.opening).text
                more: dict[str, Any] = {
                    "said": said,
                    "path": read.path,
                    "texts": read.texts,
                    "kind": read.kind,
                    "group": group,
                    "place": place,
                }
                found.append(replace(self.requests[session], **more))
        return iter(sorted((one for one in found if one.kind == "general"), key=lambda one: one.time))


@dataclass(frozen=True, slots=True)
class Told:
    """One request, and what a third party got of it: its row, and of form `split` the contents' row beside it."""

    request: Known
    party: str
    row: dict[str, Any]
    contents: dict[str, Any] | None

    def rows(self) -> list[tuple[str, ...]]:
        """What each of `PARTIES` knew: who, what, about, when, size; and where it stands beside the row."""
        asked, row = self.request, self.row
        when = moment(asked.time)[11:19]
        about = "/".join(asked.path)
        beside, who = NOTHING, row["user"]
        if row["mode"] != "split":
            beside, who = f"{_quoted(row['text']) or 'no text'}, beside the name of {row['user']}", NOTHING
        elif self.contents is not None:
            beside = f"{_quoted(self.contents['text'])}, {self.contents['records']} times, by nobody"
        return [
            ("who asked", asked.user, asked.user, f"pseudonym {asked.prox_id}", who, asked.user),
            ("what was said", _quoted(asked.said), NOTHING, _quoted(asked.said), NOTHING, _quoted(asked.said)),
            ("about", NOTHING, NOTHING, about, row["category"], about),
            ("when", when, when, when, f"from {row['time'][11:19]} on", when),
            ("bytes", str(asked.size), str(asked.size), str(asked.size), NOTHING, str(asked.size)),
            ("apart from it", NOTHING, NOTHING, NOTHING, beside, "all of it"),
        ]

    def table(self) -> Table:
        """For a terminal; pseudonyms are cut."""
        table = Table(title="what each party knew of one request", title_justify="left")
        for name in ("", *PARTIES[:3], self.party, PARTIES[4]):
            table.add_column(name, overflow="fold")
        for row in self.rows():
            table.add_row(*(cell.replace(self.request.prox_id, self.request.prox_id[:_CUT] + "…") for cell in row))
        return table


def tell(knowledge: Knowledge, party: str, groups: list[dict[str, Any]]) -> Told | None:
    """A request that a party got something of: if there is one, such that its text is shown; None if there is none."""
    rows = {(group["epoch"], group["group"]): group["records"] for group in groups}
    best: tuple[int, Told] | None = None
    for request in knowledge.released():
        held = knowledge.held.get((party, *request.group), [])
        shown = rows.get(request.group, [])
        if request.place not in held or len(shown) != len(held):
            continue
        row, contents = shown[held.index(request.place)], _beside(request, groups)
        weight = len((contents or row)["text"])
        if best is None or weight > best[0]:
            best = (weight, Told(request, party, row, contents))
    return None if best is None else best[1]


def _beside(request: Known, groups: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The row of its epoch's contents that says most of what was asked."""
    rows = (
        row
        for group in groups
        if "contents" in group and group["epoch"] == request.group[0]
        for row in group["contents"]["rows"]
        if row["text"] and row["text"] in request.texts and _under(row["category"], request.path)
    )
    return max(rows, key=lambda row: len(row["text"]), default=None)


def _under(category: str, path: tuple[str, ...]) -> bool:
    parts = tuple(category.split("/"))
    return path[: len(parts)] == parts


def _quoted(text: str) -> str:
    return f"“{text}”" if text else ""
