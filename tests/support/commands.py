# ruff: noqa: ASYNC110 - what the store holds can only be polled
"""A trial in which people give commands, too: those wait for the end of a slot."""

import asyncio

from redis.asyncio import Redis

from auditor.findings import Report
from proxid.classify import Classification, RequestType
from proxid.runtime.store import connect
from tests.support.trial import FixedClassifier, Trial


class Commands(FixedClassifier):
    """`do …` is a command; the rest is as in the other trials."""

    version = "commands-1"

    def classify(self, text: str) -> Classification:
        if not text.startswith("do "):
            return super().classify(text)
        return Classification(
            type=RequestType.COMMAND, confidence=1.0, path=(), masked=text, normalised=text, units=(), intent="iot:on",
            shape=("iot", "on", "light", "none"),
        )  # fmt: skip


class CommandTrial(Trial):
    classifier = Commands()

    async def commands(self, count: int) -> None:
        """Until commands formed `count` groups in all, and they were released to a party."""
        client = connect(self.url("main-service"))
        try:
            async with asyncio.timeout(30):
                while await self._groups(client) < count:
                    await self.ask("do it")
                    await asyncio.sleep(0.3)
                await self._gone(client, "formed")
        finally:
            await client.aclose()
        await self.settle()

    async def made(self) -> int:
        """Groups of commands that were formed so far."""
        client = connect(self.url("main-service"))
        try:
            return await self._groups(client)
        finally:
            await client.aclose()

    async def slots_over(self) -> None:
        """Until no command waits in a slot and every formed group was released: nothing moves between two audits."""
        client = connect(self.url("main-service"))
        try:
            async with asyncio.timeout(30):
                await self.settle()
                await self._gone(client, "due")
                await self._gone(client, "formed")
        finally:
            await client.aclose()
        await self.settle()

    async def _gone(self, client: Redis, name: str) -> None:
        while [key async for key in client.scan_iter(match=f"{{ms}}:slots:*:{name}")]:
            await asyncio.sleep(0.1)

    async def _groups(self, client: object) -> int:
        counts = [await client.hget(k, "groups") async for k in client.scan_iter(match="{ms}:slots:*:state")]  # type: ignore[attr-defined]
        return sum(int(n or 0) for n in counts)

    async def fresh_and_incremental(self) -> tuple[Report, Report]:
        return await self.audit(), await self.audit(state=True)


SHORT_SLOTS = {"k": 2, "time_slots": ["1 s", "2 s", "3 s"]}
