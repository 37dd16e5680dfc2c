"""Tampering (DESIGN 10.4): every lie is told by a real, running service or lies in its files, and is caught by name.

A few lies run with every test; the rest is slow.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import tests.support.lies_epochs
import tests.support.lies_screener
import tests.support.lies_service
import tests.support.lies_stored  # noqa: F401 - each registers its lies
from tests.support.lies import LIES, Liar
from tests.support.trial import running


@pytest.mark.parametrize(("check", "tell"), LIES)
async def test_every_lie_is_caught_by_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: int, tell: Callable[[Liar], Awaitable[None]]
) -> None:
    async with running(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        await tell(liar)
        assert check in await liar.caught()


def test_there_are_enough_lies() -> None:
    assert len(LIES) >= 40
    assert {check for check, _ in (lie.values for lie in LIES)} == set(range(1, 10))
