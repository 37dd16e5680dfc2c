"""What fails when a test wants it to, once: an answer, an arrival, a limit."""

from typing import Any

import pytest

from gateway.store.requests import RequestSteps
from gateway.upstream import MainServiceClient
from main_service.responder import BuiltInSkills
from proxid.crypto.sansig import SignedMessage
from proxid.errors import RateLimitError, UpstreamError


class Failing:
    """Both services, with something that fails at the next try: `answers`, `arrivals` or `forwards`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._next: set[str] = set()
        self.failed = False
        """Whether anything has failed so far."""
        answer, ask, forward, known = BuiltInSkills.answer, MainServiceClient.ask, RequestSteps.forward, self

        async def answers(self: BuiltInSkills, *asked: Any) -> str:
            if known._due("answers"):
                raise ValueError
            return await answer(self, *asked)

        async def arrives(self: MainServiceClient, message: SignedMessage, *rest: Any) -> SignedMessage:
            told = await ask(self, message, *rest)
            if known._due("arrivals"):
                raise UpstreamError("as if")
            return told

        async def forwards(self: Any, *asked: Any) -> Any:
            if known._due("forwards"):
                raise RateLimitError("as if")
            return await forward(self, *asked)

        patch.setattr(BuiltInSkills, "answer", answers)
        patch.setattr(MainServiceClient, "ask", arrives)
        patch.setattr(RequestSteps, "forward", forwards)

    def fail(self, what: str) -> None:
        """At the next try."""
        self._next.add(what)

    def _due(self, what: str) -> bool:
        due = what in self._next
        self._next.discard(what)
        self.failed = self.failed or due
        return due
