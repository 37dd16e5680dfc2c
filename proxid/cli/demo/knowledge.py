"""What each party knew of one request, side by side, at the demo's end: from the evidence and a party's feed."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rich.table import Table

from auditor.report.blocks import moment
from proxid.encoding import decode_text
from proxid.errors import ProxidError
from proxid.evidence.events import BufferedPayload, Event, EventType, ReleasedPayload, SanitizedPair
from proxid.protocol.request import USER, Utterance

PARTIES: Final = ("device", "gateway", "main service", "third party", "auditor")
NOTHING: Final = "–"
_CUT: Final = 13
"""Letters of a pseudonym that a terminal shows."""


@dataclass(frozen=True, slots=True)
class Known:
    """A request as the services' logs know it: who asked, when (Unix seconds), its bytes; once it waits, what it says.

    Attributes:
        place: epoch, group and position of what was released of it.
    """

    user: str
    prox_id: str
    time: float
    size: int
    said: str = ""
    path: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    kind: str = ""
    place: tuple[int, int, int] | None = None


@dataclass(slots=True)
class Knowledge:
    """Requests by their session ids (hexadecimal); fed with both logs' events in any order."""

    requests: dict[str, Known] = field(default_factory=dict)
    _waiting: dict[str, Event] = field(default_factory=dict)
    _places: dict[str, tuple[int, int, int]] = field(default_factory=dict)

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
            epoch, group = int(str(event.fields["epoch"])), int(str(event.fields["group"]))
            for at, session in enumerate(ReleasedPayload.decode(event.payload).records):
                self._places[session.hex()] = (epoch, group, at)

    def released(self) -> Iterator[Known]:
        """General requests of which something was released, in the order of their times."""
        found = []
        for session, place in self._places.items():
            if session in self.requests and session in self._waiting:
                read = BufferedPayload.decode(self._waiting[session].payload)
                said = Utterance.from_opening(read.opening).text
                more: dict[str, Any] = {
                    "said": said,
                    "path": read.path,
                    "texts": read.texts,
                    "kind": read.kind,
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
    shown = [row for group in groups if "contents" in group for row in group["contents"]["rows"] if row["text"]]
    held = {(group["epoch"], group["group"]): group["records"] for group in groups}
    best: tuple[int, Told] | None = None
    for request in knowledge.released():
        assert request.place is not None
        records = held.get(request.place[:2], [])
        row = _row(request, records)
        if row is None:
            continue
        path = "/".join(request.path)
        contents = max(
            (one for one in shown if one["text"] in request.texts and path.startswith(one["category"])),
            key=lambda one: len(one["text"]), default=None,
        )  # fmt: skip
        weight = len((contents or row)["text"])
        if best is None or weight > best[0]:
            best = (weight, Told(request, party, row, contents))
    return None if best is None else best[1]


def _quoted(text: str) -> str:
    return f"“{text}”" if text else ""


def _row(request: Known, records: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What a portion or group shows of a request; of a portion the entry of its person."""
    assert request.place is not None
    if any(row["mode"] == "split" for row in records):
        path = "/".join(request.path)
        mine = (row for row in records if row["user"] == request.user and path.startswith(row["category"]))
        return next(mine, None)
    return records[request.place[2]] if request.place[2] < len(records) else None
