"""Time between the services (DESIGN 4.3): IS signs at each epoch's start, and now and then, that the epoch has begun.

MS answers with its own signed time, so that each side sees whether the clocks agree.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from gateway.identity import Screener
from gateway.upstream import MainServiceClient
from proxid.errors import ProxidError
from proxid.protocol.opening import NONCE_SIZE, ServiceTime
from proxid.runtime.clock import Doubt
from proxid.runtime.store.clock import HeardTime

_log = structlog.get_logger(__name__)
PAUSE: Final = 10.0
"""Seconds between two comparisons."""


class Timekeeper:
    """Worker 0's job.

    Args:
        renewed: set when the line to MS was made anew: an MS that was started takes no consent before it is told.
    """

    def __init__(
        self, screener: Screener, upstream: MainServiceClient, heard: HeardTime, renewed: asyncio.Event,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:  # fmt: skip
        self._screener = screener
        self._upstream = upstream
        self._heard = heard
        self._renewed = renewed
        self._random = random
        self._failed = False

    async def run(self) -> None:
        """Tell and ask, until cancelled."""
        while True:
            self._renewed.clear()
            try:
                await self.step()
                self._failed = False
            except ProxidError as error:
                if not self._failed:
                    _log.warning("clocks are not compared", code=error.code.value)
                self._failed = True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._renewed.wait(), self._until_next())

    async def step(self) -> None:
        """Tell and ask once.

        Raises:
            UpstreamError, UpstreamRefusedError, StoreError. CredentialError, SignatureInvalidError, EncodingError: the
            answer is not MS's.
        """
        screener, nonce = self._screener, self._random(NONCE_SIZE)
        watch, begun = screener.watch, screener.watch.monotonic
        # Which epoch has begun is not said by a clock that was set: the main service might end one by it.
        opening = b"" if watch.doubt() is Doubt.JUMPED else screener.opening().encode()
        answer = ServiceTime.decode(await self._upstream.time(opening, nonce))
        answer.verify(screener.service_key, screener.service, nonce)
        # The answer was signed somewhere between question and arrival.
        way = (watch.monotonic - begun) / 2
        await self._heard.put(watch.offset_of(answer.time_ms) + way)

    def _until_next(self) -> float:
        screener = self._screener
        now = screener.clock()
        start = screener.epochs.end(screener.epochs.number(now))
        return min(PAUSE, max(0.0, start - now))
