"""The built-in skills in the order they are tried; the first that has an answer gives it."""

from collections.abc import Callable

from main_service.responder import arithmetic, calendar, devices, facts, units
from main_service.responder.base import Context

Skill = Callable[[str, Context], str | None]

UNKNOWN = "Sorry, I don't know that."


class BuiltInSkills:
    """Arithmetic, units, time and dates, device commands acknowledged, a small table of facts."""

    repeatable = True
    skills: tuple[Skill, ...] = (units.answer, arithmetic.answer, calendar.answer, facts.answer, devices.answer)

    async def answer(self, utterance: str, context: Context) -> str:
        """The first skill's answer, or that there is none."""
        text = " ".join(utterance.lower().split())
        for skill in self.skills:
            found = skill(text, context)
            if found is not None:
                return found
        return UNKNOWN
