"""What MS is to be told of a person and was not yet (DESIGN 7, 11): each method is one atomic step of `lua/owed.lua`.

It is named `object|UTAG`, `consent|UTAG|EPOCH` or `lost|UTAG|EPOCH`.
"""

from gateway.store.steps import PREFIX, Steps
from proxid.runtime.store.connection import store_errors


class OwedSteps(Steps):
    """See the module."""

    async def due(self, limit: int) -> list[str]:
        """What may be told now."""
        return [name.decode() for name in await self.call("gw_due", limit)]

    async def claim(self, name: str, seconds: int) -> bool:
        """Whether the caller is to tell it: for so long nobody else is. False if it is told, or somebody tells it."""
        return bool(await self.call("gw_claim", name, seconds))

    async def claims_end(self) -> None:
        """Nobody is telling anything just then: all that is owed may be told."""
        with store_errors():
            await self.client.zunionstore(f"{PREFIX}:owed", {f"{PREFIX}:owed": 0})

    async def put_off(self, name: str, seconds: int) -> None:
        """It could not be told, and will be so much later."""
        await self.call("gw_put_off", name, seconds)

    async def owes_no_more(self, name: str) -> None:
        """It need not be told any more."""
        with store_errors():
            await self.client.zrem(f"{PREFIX}:owed", name)

    async def owed_consents(self, user_tag: str, epoch: int) -> list[bytes]:
        """Payloads of CONSENT that MS has not acknowledged, in the order of their versions."""
        return [bytes(payload) for payload in await self.call("gw_owed_consents", user_tag, epoch)]

    async def owed_objection(self, user_tag: str) -> tuple[bytes, bytes, bool] | None:
        """Request and enrolment of an objection, or of what takes it back, that is not recorded; whether one begins."""
        request, enrolment, begins = await self.call("gw_owed_objection", user_tag)
        return None if request is None else (bytes(request), bytes(enrolment), begins != b"0")
