"""The built-in skills in the order they are tried; the first that has an answer gives it."""

from collections.abc import Callable, Sequence
from typing import Final

from main_service.responder import arithmetic, calendar, facts, units
from main_service.responder.base import Context, Outcome, Reply

Skill = Callable[[str, Context], str | None]

SKILLS: Final[dict[str, Skill]] = {
    "units": units.answer,
    "arithmetic": arithmetic.answer,
    "calendar": calendar.answer,
    "facts": facts.answer,
}
"""By the names that a configuration chooses them by. None of them needs anybody, and nobody learns the question."""
UNKNOWN: Final = "Sorry, I don't know that."


class BuiltInSkills:
    """Units, arithmetic, time and dates, a small table of facts."""

    def __init__(self, names: Sequence[str] = tuple(SKILLS), unknown: str = UNKNOWN) -> None:
        self._skills = [SKILLS[name] for name in names]
        self._unknown = Reply(unknown, Outcome.UNKNOWN)

    async def answer(self, utterance: str, context: Context) -> Reply:
        """The first skill's answer, or that there is none."""
        text = " ".join(utterance.lower().split())
        for skill in self._skills:
            found = skill(text, context)
            if found is not None:
                return Reply(found)
        return self._unknown
