"""What an agent does by itself: lasting choices given anew, receipts presented to the auditor (DESIGN 5.6, 7)."""

import asyncio
import random
from contextlib import suppress
from typing import Final

import structlog

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.home import present_receipts
from proxid.clients.household.household import Household
from proxid.errors import ProxidError

_PARTS: Final = 24
"""Of an epoch: in each a person's choice is looked at once, on average twice."""

_log = structlog.get_logger(__name__)


async def keep_up(config: DeviceConfig, household: Household) -> None:
    """Until cancelled."""
    async with asyncio.TaskGroup() as tasks:
        for user in household.users:
            tasks.create_task(_renew(config, household, user))
        tasks.create_task(_present(config))


def _pause(config: DeviceConfig) -> float:
    # At random, a person by themselves: those who are renewed together would be told from others as one household.
    return random.uniform(0.0, config.epoch_seconds / _PARTS)  # noqa: S311


async def _renew(config: DeviceConfig, household: Household, user: str) -> None:
    while True:
        await asyncio.sleep(_pause(config))
        with suppress(ProxidError):  # the gateway is away, or refuses: the next time
            if not household.is_erased(user) and household.lasting(user):
                await household.session(user)


async def _present(config: DeviceConfig) -> None:
    while True:
        await asyncio.sleep(_pause(config))
        try:
            await present_receipts(config)
        except ProxidError as error:
            _log.info("receipts wait", code=error.code.value)
