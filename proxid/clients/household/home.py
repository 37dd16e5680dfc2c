"""A household as those see it who use it (DESIGN 5.6): with the keys of this process, or through the agent's socket."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from proxid.clients.auditing.presenting import present
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import SentBefore
from proxid.clients.household.household import Answer, Household
from proxid.clients.household.rights import RightsClient
from proxid.errors import InputError
from proxid.protocol.consent import NOTHING
from proxid.protocol.policy import PolicyDocument
from proxid.protocol.rights import Right

_NOBODY: Final = "nobody is enrolled in this household yet"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person's consent is, what else is offered, and what parties had been sent when it last changed.

    Attributes:
        until: Unix seconds. lasting, pending: as in `Standing`.
    """

    bundle: str
    version: int
    until: int
    lasting: str
    policy: PolicyDocument
    sent: tuple[SentBefore, ...] = ()
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who is enrolled. lasting: the bundle that is given anew each epoch, empty without one."""

    user: str
    erased: bool
    lasting: str


class Home(Protocol):
    """What a household does for its people."""

    async def ask(self, user: str, text: str, location: str = "") -> Answer:
        """Ask in somebody's name. Raises as `Household.ask`; InputError for nobody of the household."""
        ...

    async def consent(self, user: str, bundle: str = "", until_withdrawn: bool = False) -> Choice:
        """Choose a bundle; without one, say what is in effect. Raises as `Household.consent`, InputError."""
        ...

    async def right(self, user: str, right: Right) -> str:
        """Exercise a right: JSON, for access and status IS's and MS's words, else of the receipt. Raises InputError."""
        ...

    async def members(self) -> list[Member]:
        """Who is enrolled."""
        ...


class OwnHome:
    """A household whose keys this process holds.

    Args:
        household: closed by whoever opened it.
    """

    def __init__(self, config: DeviceConfig, household: Household) -> None:
        self._household = household
        self._rights = RightsClient(config, household)

    async def close(self) -> None:
        """Close what it opened itself."""
        await self._rights.close()

    async def ask(self, user: str, text: str, location: str = "") -> Answer:
        """See `Home`."""
        self._verify_living(user)
        return await self._household.ask(user, text, location)

    async def consent(self, user: str, bundle: str = "", until_withdrawn: bool = False) -> Choice:
        """See `Home`."""
        self._verify_living(user)
        if bundle:
            await self._household.consent(user, bundle, until_withdrawn)
        found = await self._household.standing(user)
        offered, sent = await self._household.offered(user), self._household.sent_before(user) if bundle else ()
        return Choice(found.bundle, found.version, found.until, found.lasting, offered, sent, found.pending)

    async def right(self, user: str, right: Right) -> str:
        """See `Home`."""
        if right is Right.ACCESS:
            return json.dumps(await self._rights.access(user), ensure_ascii=False)
        if right is Right.STATUS:
            return json.dumps(await self._rights.status(user), ensure_ascii=False)
        if right is Right.OBJECT:
            self._household.forget_choice(user)
        receipt, _ = await self._rights.exercise(right, user)
        if right is Right.OBJECT:
            await self._household.consent(user, NOTHING)
        said = {"user": user, "right": right.value, "request": receipt.request.hex(), "time_ms": receipt.time_ms}
        return json.dumps(said)

    async def members(self) -> list[Member]:
        """See `Home`."""
        home = self._household
        return [Member(user, home.is_erased(user), home.lasting(user)) for user in sorted(home.users)]

    def _verify_living(self, user: str) -> None:
        if user not in self._household.users:
            unknown = "nobody of that name is enrolled in this household"
            raise InputError(unknown if self._household.users else f"{_NOBODY}: proxid device enrol")
        if self._household.is_erased(user):
            raise InputError("the user was erased at both services")


@asynccontextmanager
async def own_home(config: DeviceConfig) -> AsyncIterator[OwnHome]:
    """A household of this process. Raises as `Household.open`."""
    household = Household.open(config)
    try:
        home = OwnHome(config, household)
        try:
            yield home
        finally:
            await home.close()
    finally:
        await household.close()


async def present_receipts(config: DeviceConfig) -> None:
    """Present what is new to the auditor, if there is one. Raises as `present`; what is away gets it the next time."""
    await present(config, config.data_dir / "receipts.jsonl")
