"""The ladder that decides what of a text is shown (DESIGN 8.7).

A text may name its owner whatever the published user is, so it is shown only if `min_text_users` + m distinct
seasoned people of the audience issued it in the epoch; else the first of its semantic units that as many issued; else
nothing of it. m of those people may collude or be Sybils, hence the margin.

Counting looks at digests. A withdrawal does not undo an issue: what was issued by enough people stays shown.
Issuers are kept by name only until there are enough of them, so a frequent text costs no more than a rare one.
"""

from proxid.anonymise.mix.types import Rung

_ENOUGH: tuple[str, ...] = ()


class Issuers:
    """Distinct seasoned issuers of every text and unit of one audience and epoch."""

    __slots__ = ("_people", "_threshold")

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold
        self._people: dict[bytes, tuple[str, ...]] = {}

    def __len__(self) -> int:
        """Distinct texts and units seen."""
        return len(self._people)

    def count(self, person: str, units: tuple[bytes, ...]) -> None:
        """Count a seasoned person as an issuer of each unit, once."""
        people = self._people
        for unit in units:
            known = people.get(unit)
            if known is None:
                known = (person,)
            elif known is _ENOUGH or person in known:
                continue
            else:
                known = (*known, person)
            people[unit] = known if len(known) < self._threshold else _ENOUGH

    def rung(self, units: tuple[bytes, ...]) -> tuple[Rung, int | None]:
        """The highest rung that the units of a record reach, and the index of the unit that is shown."""
        for index, unit in enumerate(units):
            if self._people.get(unit) is _ENOUGH:
                return (Rung.UNIT, index) if index else (Rung.TEXT, 0)
        return Rung.CATEGORY, None
