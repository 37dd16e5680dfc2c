"""What an agent does by itself: choices given anew for those who want it, one by one, whatever fails meanwhile."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proxid.clients.agent.upkeep import keep_up
from proxid.clients.household.config import DeviceConfig
from proxid.errors import UpstreamError
from proxid.runtime.config import load
from tests.support.trial import provision


class House:
    """Ann wants hers anew, bob none, cat is erased; the first time nobody can be reached."""

    users = ("ann", "bob", "cat")

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.enough = asyncio.Event()

    def is_erased(self, user: str) -> bool:
        return user == "cat"

    def lasting(self, user: str) -> str:
        return "" if user == "bob" else "everything"

    async def session(self, user: str) -> Any:
        self.asked.append(user)
        if len(self.asked) == 1:
            raise UpstreamError("away")
        if len(self.asked) == 3:
            self.enough.set()


async def test_choices_are_given_anew_for_those_who_want_it_and_tried_again(tmp_path: Path) -> None:
    provision(tmp_path)
    file = tmp_path / "devices/household-1/device.toml"
    config, house = load(DeviceConfig, file).model_copy(update={"epoch_seconds": 0.1}), House()
    task = asyncio.create_task(keep_up(config, house))  # type: ignore[arg-type]
    await asyncio.wait_for(house.enough.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert house.asked[:3] == ["ann"] * 3
