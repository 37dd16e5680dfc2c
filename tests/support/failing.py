"""What fails when a test wants it to, once: an answer, an arrival."""

from typing import Any

import pytest

from gateway.upstream import MainServiceClient
from main_service.responder import BuiltInSkills
from proxid.crypto.sansig import SignedMessage
from proxid.errors import UpstreamError


class Failing:
    """Both services, with something that fails at the next try: `answers` or `arrivals`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._next: set[str] = set()
        self.failed = False
        """Whether anything has failed so far."""
        answer, ask, known = BuiltInSkills.answer, MainServiceClient.ask, self

        async def answers(self: BuiltInSkills, *asked: Any) -> str:
            if known._due("answers"):
                raise ValueError
            return await answer(self, *asked)

        async def arrives(self: MainServiceClient, message: SignedMessage, *rest: Any) -> SignedMessage:
            told = await ask(self, message, *rest)
            if known._due("arrivals"):
                raise UpstreamError("as if")
            return told

        patch.setattr(BuiltInSkills, "answer", answers)
        patch.setattr(MainServiceClient, "ask", arrives)

    def fail(self, what: str) -> None:
        """At the next try."""
        self._next.add(what)

    def _due(self, what: str) -> bool:
        due = what in self._next
        self._next.discard(what)
        self.failed = self.failed or due
        return due
