"""Where location queries and commands waited (check 5 of DESIGN 10.4, for 8.8): at the place that was asked from.

Under noise, at the place that the epoch's seed draws for it, and no person reported more places than the budget allows.
It is as coarse as the policy makes it by day, or by night: which of the two it was is the main service's time to say.
"""

from dataclasses import replace
from typing import Final

from auditor.trust import Trust
from proxid.anonymise.slotted.places import parse_location
from proxid.anonymise.slotted.visible import COMMAND_RESOLUTION, NO_PLACE, PLACE_MARK
from proxid.errors import GroupMismatchError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.request import Utterance

_ALWAYS: Final = (0, 24)
"""Hours of a night that lasts."""
SPENT: Final = "place_budget"
"""Why what was asked from one place more than a person may report is withheld."""


class Places:
    """The auditor's own rules and noise."""

    def __init__(self, trust: Trust) -> None:
        self._rules = (replace(trust.places, night=None), replace(trust.places, night_hours=_ALWAYS))
        self._noise = trust.noise

    def verify(self, payload: BufferedPayload, seed: bytes, reported: dict[str, set[bytes]]) -> None:
        """Check one record.

        Args:
            reported: names of the places of the epoch so far, by person; gets this one.

        Raises:
            GroupMismatchError: it waits elsewhere, or is one place too many.
        """
        paths = self._paths(payload, seed, reported)
        if payload.kind == "location":
            good = bool(payload.path) and payload.path in paths
        else:
            place = payload.path[0].partition(PLACE_MARK)[2]
            good = place in {path[min(COMMAND_RESOLUTION, len(path) - 1)] if path else NO_PLACE for path in paths}
        if not good:
            raise GroupMismatchError("record waits at another place than it was asked from")

    def is_spent(self, payload: BufferedPayload, seed: bytes, reported: dict[str, set[bytes]]) -> bool:
        """Of a record that was withheld as of a place too many, whether those that waited were as many as may be.

        Raises:
            GroupMismatchError: its place is none, or had been paid for.
        """
        point = parse_location(Utterance.from_opening(payload.opening).location)
        names = reported.get(payload.prox_id, set[bytes]())
        if point is None or self._noise is None or self._noise.report(seed, payload.prox_id, *point).name in names:
            raise GroupMismatchError(f"a record was withheld as {SPENT}, and it was not")
        return len(names) >= self._noise.places

    def _paths(self, payload: BufferedPayload, seed: bytes, reported: dict[str, set[bytes]]) -> set[tuple[str, ...]]:
        """From coarse to fine, by day and by night."""
        point = parse_location(Utterance.from_opening(payload.opening).location)
        if point is None:
            return {()}
        if self._noise is not None:
            report = self._noise.report(seed, payload.prox_id, *point)
            names = reported.setdefault(payload.prox_id, set())
            names.add(report.name)
            if len(names) > self._noise.places:
                raise GroupMismatchError("person reported more places than the budget allows")
            point = report.latitude, report.longitude
        return {rules.path(*point, payload.time_ms / 1000) for rules in self._rules}
