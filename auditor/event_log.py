"""A log as the auditor reads it: one handler an event type, one violation an event that does not hold."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final

from auditor.findings import COMPLETENESS, HEADS, Basis, Report
from auditor.headers import Documents, names_session, parties_of, says_more
from auditor.reading.damage import Damage
from proxid.errors import MALFORMED, Code, EncodingError, MessageInvalidError, ProxidError
from proxid.evidence.events import Event, EventType
from proxid.evidence.succession import Succession

Handler = Callable[[Event], None]

_FORM: Final = 2
"""The form that events have come to say; the first says none."""
_NEWEST: Final = {EventType.REFUSED: 3, EventType.OBJECTED: 3}
"""Types that have come to a later one."""
SHARED = frozenset({EventType.RELEASED, EventType.DELIVERED})
"""Events of several people: what one of them hides leaves the rest to check."""


class RuleBroken(Exception):
    """Carries an error that belongs to another check than its event's."""

    def __init__(self, rule: int, error: ProxidError) -> None:
        super().__init__(error.rule)
        self.rule = rule
        self.error = error


class _Check(AbstractContextManager[None]):
    """See `check_of`; no generator, as each event enters a few."""

    __slots__ = ("_rule",)

    def __init__(self, rule: int) -> None:
        self._rule = rule

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, ProxidError):
            raise RuleBroken(self._rule, error) from None


def check_of(rule: int) -> AbstractContextManager[None]:
    """Errors within belong to the check of this number."""
    return _Check(rule)


class Log:
    """Base of both logs.

    Args:
        name: the log's. rules: for each event type the number of its check and its handler.
        hidden: handlers of types that go on by their header alone if their payload does not open.
        policies: say which names are those of parties.
    """

    def __init__(
        self, name: str, rules: Mapping[EventType, tuple[int, Handler]], hidden: Mapping[EventType, Handler],
        report: Report, policies: Documents,
    ) -> None:  # fmt: skip
        self.name = name
        self.next_number = 1
        self.damage = Damage()
        self.base = self.begins = 0
        """Entries of the logs before the one that is read; if that is a successor, number of its first one."""
        own = {EventType.DAMAGED: (HEADS, self._damaged), EventType.SUCCEEDED: (HEADS, self._succeeded)}
        self._rules = {**rules, **own}
        self._hidden = hidden
        self._report, self._is_party = report, parties_of(policies)
        self._promised: Mapping[EventType, str] = {}
        """Types that the service promises → the field of the header that names what was asked."""
        self._may_promise: Callable[[str, int, str, bytes], None] = lambda *_: None
        self.unlinked: set[bytes] = set()
        """Subject tags whose LINKED has expired; one set for both logs."""

    def take(self, event: Event) -> None:
        """Check one event; a failure is a violation of its type's check."""
        if event.number != self.next_number and not self._is_lost_until(event.number):
            self._report.add(COMPLETENESS, self.name, event.number, "numbers of the log have a gap or repeat")
        self.next_number = event.number + 1
        self._report.counts[f"{self.name}.{event.type.value}"] += 1
        if event.type in self._promised:
            self._promise(event, self._promised[event.type])
        rule, handler = self._rules.get(event.type, (COMPLETENESS, _foreign))
        self._report.checked[rule] += 1
        if self._is_unread(event):
            self._report.counts["events.unreadable"] += 1
            self._report.rests(rule, Basis.UNREADABLE)
            rule, handler = COMPLETENESS, self._hidden.get(event.type, _nothing)
        try:
            self._verify_form(event)
            self._verify_filed(event)
            handler(event)
        except RuleBroken as broken:
            self._report.add(broken.rule, self.name, event.number, f"{event.type.value}: {broken.error.rule}")
        except ProxidError as error:
            self._report.add(rule, self.name, event.number, f"{event.type.value}: {error.rule}")
        except MALFORMED:
            self._report.add(rule, self.name, event.number, f"{event.type.value}: header is malformed")

    def _verify_form(self, event: Event) -> None:
        """A form that is said is the second, or one that this auditor does not know; raises EncodingError.

        Of what an event says more than its type does, this auditor does not know what it says, either.
        """
        if not names_session(event):
            raise EncodingError("event names a request otherwise than by its hash")
        if says_more(self.name, event, self._is_party):
            self._report.counts["events.newer"] += 1
        form = event.fields.get("v", _FORM)
        if form in range(_FORM, _NEWEST.get(event.type, _FORM) + 1):
            return
        if not isinstance(form, int) or form < _FORM:
            raise EncodingError("event is of a form that there is not")
        self._report.counts["events.newer"] += 1

    def _verify_filed(self, event: Event) -> None:
        """A payload stands under the evidence of whom it is of; raises RuleBroken. For logs that know people."""

    def promises(self, fields: Mapping[EventType, str], told: Callable[[str, int, str, bytes], None]) -> None:
        """Which types the service promises, by which field of their headers; who is told of each (`Sets`)."""
        self._promised, self._may_promise = fields, told

    def _promise(self, event: Event, field: str) -> None:
        try:
            asked = bytes.fromhex(str(event.fields.get(field, "")))
            if event.fields.get("phase") != "acknowledged":
                self._may_promise(self.name, event.number, event.type.value, asked)
        except (ProxidError, ValueError):
            return  # its handler says that the header is malformed

    def _turned_away(self, event: Event, believed: bool = True) -> None:
        """REFUSED: whom a service turns away is its own word (docs/adr/0023); by which rule is counted."""
        rule = str(event.fields["rule"])
        refused = 1
        if form_of(event) >= 2 and "count" in event.fields:
            refused = int(str(event.fields["count"]))
            if refused < 1 or len(bytes.fromhex(str(event.fields["sessions"]))) != hashlib.sha256().digest_size:
                raise EncodingError("counted refusals of none, or of sessions that it does not commit to")
        if believed:
            self._report.rests(COMPLETENESS, Basis.BELIEVED)
            self._report.believe_beside("turned_away", refused)
        self._report.counts[f"refused.{self.name}.{rule}" if rule in set(Code) else "refused.unknown"] += refused

    def begin(self, generation: int, base: int) -> None:
        """One of the service's logs is read, before which there are `base` entries."""
        self.base, self.begins = base, base + 1 if generation > 1 else 0

    def _damaged(self, event: Event) -> None:
        self.damage.admit(event, self.base)

    def _succeeded(self, event: Event) -> None:
        if event.number != self.begins:
            raise EncodingError("a successor log begins where none is")
        if Succession.of(event.fields).store_lost:
            self.damage.forgot.append(event.number)

    def _is_lost_until(self, number: int) -> bool:
        """Whether every leaf between the last event and this one is damaged."""
        return number > self.next_number and self.damage.covers(self.next_number, number)

    def _is_unread(self, event: Event) -> bool:
        """Whether only the header of an event can be gone by.

        So it is, too, if the link that it rests on has expired: what is left of an old epoch cannot be checked anew.
        """
        if event.hidden and (event.type not in SHARED or not event.payload):
            return True
        return not self.unlinked.isdisjoint(event.tags)


def form_of(event: Event) -> int:
    """Which form of its type an event is of: 1 unless it says another. Raises ValueError."""
    return int(str(event.fields.get("v", 1)))


def _nothing(event: Event) -> None:
    """What this event would say is counted, not guessed."""


def _foreign(event: Event) -> None:
    raise ValueError("an event that this log cannot have")


def is_acknowledged(event: Event) -> bool:
    """Of CONSENT, whether MS has acknowledged it; raises MessageInvalidError if it says neither that nor its coming."""
    if event.fields["phase"] not in {"received", "acknowledged"}:
        raise MessageInvalidError("event says of a consent neither that it came nor that it was acknowledged")
    return event.fields["phase"] == "acknowledged"
