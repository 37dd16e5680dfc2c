"""What the demo's live view shows of the services: counted from their evidence, as the auditor reads it."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from auditor.config import AuditorConfig
from auditor.findings import GATEWAY, MAIN_SERVICE, Report
from auditor.reading.opening import Opener, Unopened
from auditor.setup import logs_of
from proxid.cli.demo.knowledge import Knowledge
from proxid.errors import ProxidError
from proxid.evidence.checkpoint import origin
from proxid.evidence.events import BufferedPayload, DeliveredPayload, Event, EventType, ReleasedPayload
from proxid.protocol.consent import parse_audience
from proxid.protocol.receipt import DeliveryAck
from proxid.runtime.provision.keyfile import load_opening_key

_NEWEST = 1 << 62


@dataclass(slots=True)
class Tally:
    """Running counts.

    Attributes:
        events: by type. withheld: records that are not published, by reason. waiting: node → session → person.
        in_part: drops after which some entries of a portion stay. released: records. delivered: records by party.
    """

    level: int
    events: Counter[str] = field(default_factory=Counter)
    withheld: Counter[str] = field(default_factory=Counter)
    delivered: Counter[str] = field(default_factory=Counter)
    waiting: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    released: int = 0
    deliveries_due: int = 0
    in_part: int = 0
    _node_of: dict[str, str] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Count one event; a payload that does not open counts by its header alone."""
        self.events[event.type.value] += 1
        try:
            self._add(event)
        except ProxidError:
            self.events["unreadable"] += 1

    def _add(self, event: Event) -> None:
        if event.type is EventType.BUFFERED:
            payload = BufferedPayload.decode(event.payload)
            self._wait("/".join(payload.path[: self.level]), payload.session.hex(), payload.prox_id)
        elif event.type is EventType.RELEASED:
            released = ReleasedPayload.decode(event.payload)
            self.released += len(released.records)
            self.deliveries_due += len(released.parties)
            for owner in released.records:
                self._leave(owner.hex())
        elif event.type is EventType.BATCHED:
            self.deliveries_due += len(parse_audience(str(event.fields["audience"]).partition("|")[2]))
        elif event.type is EventType.DROPPED:
            self.in_part += event.fields.get("left", 0) != 0
        elif event.type is EventType.RAISED:
            session, target = str(event.fields["session"]), event.fields["target"]
            person = self._leave(session)
            if person is not None and isinstance(target, list):
                self._wait("/".join(str(part) for part in target), session, person)
        elif event.type in {EventType.SUPPRESSED, EventType.WITHDRAWN}:
            self.withheld[str(event.fields.get("reason", event.type.value.lower()))] += 1
            self._leave(str(event.fields.get("session", "")))
        elif event.type is EventType.DELIVERED:
            delivered = DeliveredPayload.decode(event.payload)
            party = DeliveryAck.decode(delivered.acknowledgement).party
            self.delivered[party] += len(delivered.pairs)

    def _wait(self, node: str, session: str, person: str) -> None:
        self.waiting[node][session] = person
        self._node_of[session] = node

    def _leave(self, session: str) -> str | None:
        node = self._node_of.pop(session, None)
        return None if node is None else self.waiting[node].pop(session, None)

    def filling(self) -> list[tuple[str, int]]:
        """Nodes with the number of distinct people waiting there, fullest first."""
        people = [(node, len(set(sessions.values()))) for node, sessions in self.waiting.items()]
        return sorted(((node, count) for node, count in people if count), key=lambda item: (-item[1], item[0]))

    @property
    def settled(self) -> bool:
        """Whether every answered request was dealt with and every release delivered or dropped."""
        dealt = self.events["BUFFERED"] + sum(self.withheld.values())
        done = self.events["DELIVERED"] + self.events["DROPPED"] - self.in_part
        return dealt >= self.events["RECEIVED"] and done >= self.deliveries_due


class Watch:
    """Reads what is new in both logs.

    Args:
        config: the auditor's, whose certificate both services let read.
    """

    def __init__(self, config: AuditorConfig) -> None:
        self._logs = logs_of(config, fresh=False)
        opening, keys, service = load_opening_key(config.opening_key), self._logs[0], config.service
        self._openers = [
            Opener(name, origin(service, name), opening, keys, Report(), Unopened()) for name in (GATEWAY, MAIN_SERVICE)
        ]
        self._next = [1, 1]
        self.tally = Tally(config.anonymiser.level)
        self.knowledge = Knowledge()

    def poll(self) -> Tally:
        """Read on; raises EvidenceUnreadableError while a service is away."""
        for i, log in enumerate(self._logs):
            for event in self._openers[i].events(log, self._next[i], _NEWEST, lambda leaf: None):
                self.tally.add(event)
                self.knowledge.add(event)
                self._next[i] = event.number + 1
        return self.tally

    def close(self) -> None:
        """Close both channels."""
        for log in self._logs:
            log.close()
