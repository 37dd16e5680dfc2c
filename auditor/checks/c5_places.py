"""Where location queries and commands waited (check 5 of DESIGN 10.4, for 8.8): at the place that was asked from.

Under noise, at the place that the epoch's seed draws for it, and no person reported more places than the budget allows.
A coarser cell than need be is no fault: nights and what else depends on the hour only coarsen.
"""

from dataclasses import replace
from typing import Final

from auditor.trust import Trust
from proxid.anonymise.slotted.places import parse_location
from proxid.anonymise.slotted.visible import COMMAND_RESOLUTION, NO_PLACE, PLACE_MARK
from proxid.errors import GroupMismatchError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.request import Utterance

SPENT: Final = "place_budget"
"""Why what was asked from one place more than a person may report is withheld."""


class Places:
    """The auditor's own rules and noise."""

    def __init__(self, trust: Trust) -> None:
        # What depends on the hour only coarsens, and a record that came late counts as of another hour.
        self._rules = replace(trust.places, night=None)
        self._noise = trust.noise

    def verify(self, payload: BufferedPayload, seed: bytes, reported: dict[str, set[bytes]]) -> None:
        """Check one record.

        Args:
            reported: names of the places of the epoch so far, by person; gets this one.

        Raises:
            GroupMismatchError: it waits elsewhere, or is one place too many.
        """
        cells = self._cells(payload, seed, reported)
        if payload.kind == "location":
            good = bool(payload.path) and payload.path == cells[: len(payload.path)]
        else:
            place = payload.path[0].partition(PLACE_MARK)[2]
            good = place in (NO_PLACE, *cells[: COMMAND_RESOLUTION + 1])
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

    def _cells(self, payload: BufferedPayload, seed: bytes, reported: dict[str, set[bytes]]) -> tuple[str, ...]:
        point = parse_location(Utterance.from_opening(payload.opening).location)
        if point is None:
            return ()
        if self._noise is not None:
            report = self._noise.report(seed, payload.prox_id, *point)
            names = reported.setdefault(payload.prox_id, set())
            names.add(report.name)
            if len(names) > self._noise.places:
                raise GroupMismatchError("person reported more places than the budget allows")
            point = report.latitude, report.longitude
        return self._rules.path(*point, payload.time_ms / 1000)
