"""A log as the auditor reads it: one handler an event type, one violation an event that does not hold."""

from collections.abc import Callable, Mapping

from auditor.report import COMPLETENESS, Report
from proxid.errors import ProxidError
from proxid.evidence.events import Event, EventType

Handler = Callable[[Event], None]


class Log:
    """Base of both logs.

    Args:
        name: the log's. rules: for each event type the number of its check and its handler.
    """

    def __init__(self, name: str, rules: Mapping[EventType, tuple[int, Handler]], report: Report) -> None:
        self.name = name
        self.next_number = 1
        self._rules = rules
        self._report = report

    def take(self, event: Event) -> None:
        """Check one event; a failure is a violation of its type's check."""
        self._report.counts[f"{self.name}.{event.type.value}"] += 1
        rule, handler = self._rules.get(event.type, (COMPLETENESS, _foreign))
        self._report.checked[rule] += 1
        try:
            handler(event)
        except ProxidError as error:
            self._report.add(rule, self.name, event.number, f"{event.type.value}: {error.rule}")
        except (KeyError, TypeError, ValueError):
            self._report.add(rule, self.name, event.number, f"{event.type.value}: header is malformed")


def _foreign(event: Event) -> None:
    raise ValueError("an event that this log cannot have")
