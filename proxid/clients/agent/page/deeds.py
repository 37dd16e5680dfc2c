"""What the page's forms do in a person's name, with their household."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from proxid.clients.agent.asking import AWAY, TOO_OFTEN, said_of
from proxid.clients.agent.page.rows import consents, holders, passed
from proxid.clients.agent.page.sessions import Session
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.history import OwnHistory
from proxid.clients.household.home import Choice, OwnHome
from proxid.clients.household.household import Household
from proxid.clients.household.told import objection_of, sent_of
from proxid.clients.household.words import Words, words_in
from proxid.errors import Code, ProxidError
from proxid.jsontext import load_json
from proxid.protocol.rights import Right

Deed = Callable[[Session, dict[str, str]], Awaitable[list[str]]]
_PROBLEMS: Final[Mapping[str, str]] = {AWAY: "away", TOO_OFTEN: "often"}


class Deeds:
    """See the module.

    Args:
        household, home: the same people's. clock: Unix seconds.

    Attributes:
        forms: by address what a form does, and the page that it leads back to.
    """

    def __init__(
        self, config: DeviceConfig, household: Household, home: OwnHome, clock: Callable[[], float] = time.time
    ) -> None:
        self._config, self._household, self._home, self._clock = config, household, home, clock
        self._erasing: dict[str, asyncio.Task[str]] = {}
        self.forms: dict[str, tuple[Deed, str]] = {
            "/consent": (self._choose, "/consent"),
            "/asked": (self._keep, "/asked"),
            "/passed": (self._access, "/passed"),
            "/rights/status": (self._status, "/rights"),
            "/rights/object": (self._object, "/rights"),
            "/rights/resume": (self._resume, "/rights"),
            "/rights/erase": (self._erase, "/rights"),
        }

    def problem(self, error: ProxidError, language: str) -> str:
        """A failure as a person is told it."""
        code = getattr(error, "remote", error.code)
        key = "objects" if code is Code.OBJECTED else _PROBLEMS.get(said_of(error).text, "failed")
        return str(words_in(language)["page"]["problem"][key])

    @property
    def users(self) -> list[str]:
        """Who is enrolled."""
        return self._household.users

    def is_erased(self, user: str) -> bool:
        """Whether the services have erased the person."""
        return self._household.is_erased(user)

    def history(self, user: str) -> OwnHistory:
        """The person's own."""
        return self._household.history(user)

    def objection(self, user: str) -> float | None:
        """Since when the person objects, as `Household.objection`."""
        return self._household.objection(user)

    async def standing(self, user: str) -> tuple[Choice, str]:
        """What is in effect, and the choice that lasts; raises as `Home.consent`."""
        return await self._home.consent(user), self._household.lasting(user)

    async def _choose(self, session: Session, fields: dict[str, str]) -> list[str]:
        words = words_in(session.language)
        if "bundle" not in fields:  # of a form that could not be read: nobody withdrew
            return [words["page"]["problem"]["failed"]]
        found = await self._home.consent(session.user, fields["bundle"], "lasting" in fields)
        granted = {grant.party for grant in found.policy.bundles.get(found.bundle, ())}
        lost = [sent_of(row, words) for row in found.sent if row.party not in granted and (row.records or row.contents)]
        return [words["page"]["consent"]["done"].format(choice=found.bundle), *lost]

    async def _keep(self, session: Session, fields: dict[str, str]) -> list[str]:
        said, history = words_in(session.language)["page"]["asked"], self.history(session.user)
        if "start" in fields and not self.is_erased(session.user):
            history.start()
            return [said["started"]]
        if "stop" in fields:
            history.stop()
            return [said["stopped"]]
        return []

    async def _access(self, session: Session, _fields: dict[str, str]) -> list[str]:
        document = load_json(await self._home.right(session.user, Right.ACCESS))
        session.held = self._clock(), await self._kept(session.user), document
        return []

    async def _kept(self, user: str) -> float:
        """Seconds for which the gateway knows what a party acknowledged, by the policy of now."""
        policy = await self._household.offered(user)
        return float(policy.settings.get("retention", {}).get("feeds", 0.0))

    async def _status(self, session: Session, _fields: dict[str, str]) -> list[str]:
        session.standing = load_json(await self._home.right(session.user, Right.STATUS))
        return []

    async def _object(self, session: Session, _fields: dict[str, str]) -> list[str]:
        await self._home.right(session.user, Right.OBJECT)
        return [words_in(session.language)["page"]["rights"]["objected"]]

    async def _resume(self, session: Session, _fields: dict[str, str]) -> list[str]:
        await self._home.right(session.user, Right.RESUME)
        return [words_in(session.language)["page"]["rights"]["resumed"]]

    async def _erase(self, session: Session, fields: dict[str, str]) -> list[str]:
        if fields.get("name", "").strip() != session.user:
            return [words_in(session.language)["page"]["rights"]["mistyped"]]
        running = self._erasing.get(session.user)
        if running is None or running.done():
            # It takes as long as stores take to write themselves anew: nobody waits for that before a browser.
            self._erasing[session.user] = asyncio.create_task(self._home.right(session.user, Right.ERASE))
            await asyncio.wait({self._erasing[session.user]}, timeout=1.0)
        return []

    async def close(self) -> None:
        """What is under way is asked for again by whoever asks again."""
        for task in self._erasing.values():
            task.cancel()
        await asyncio.gather(*self._erasing.values(), return_exceptions=True)

    def rights_of(self, session: Session) -> dict[str, Any]:
        """What the page of rights shows: sentences on who holds what, on an objection, and how an erasure stands."""
        words, task = words_in(session.language), self._erasing.get(session.user)
        erased, under_way = self.is_erased(session.user), task is not None and not task.done()
        failure = None if task is None or not task.done() or task.cancelled() else task.exception()
        if not erased and failure is not None:
            session.said.append(self._failed(failure, words, session.language))
        held = None if session.standing is None else [*holders(session.standing, words)]
        objects = objection_of(self.objection(session.user), words)
        return {"held": held, "objects": objects, "erased": erased, "under_way": under_way}

    def _failed(self, failure: BaseException, words: Words, language: str) -> str:
        if isinstance(failure, ProxidError):
            return self.problem(failure, language)
        return str(words["page"]["problem"]["failed"])

    async def everything(self, user: str) -> dict[str, Any]:
        """All that is held of a person, at the services and here; raises as `Home.right`."""
        document: dict[str, Any] = load_json(await self._home.right(user, Right.ACCESS))
        history = self.history(user)
        if history.kept:
            document["own_history"] = [{"time": one.time, "utterance": one.text} for one in history.asked()]
        return document

    def export_of(self, document: dict[str, Any], language: str) -> dict[str, Any]:
        """What a document says, for reading."""
        words = words_in(language)
        return {
            "made": document["made"], "consents": consents(document, self._config.epoch_seconds, words),
            "rows": passed(document, 0.0, words), "objects": document["identity_screener"]["objects"],
            "main": document["main_service"], "asked": document.get("own_history", []),
        }  # fmt: skip
