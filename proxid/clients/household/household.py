"""A household (DESIGN 4.3, 5.1, 7): per epoch it verifies MS's key, links a key for each user, consents, asks.

The epoch's parameters come through the gateway and count only if pk_MS, which the device was provisioned with,
signed them, and if the device's own clock agrees with the epoch.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from proxid.clients.auditing.heads import SeenHeads
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.consents import Consents
from proxid.clients.household.gateway import GatewayClient, SentBefore
from proxid.clients.household.history import OwnHistory
from proxid.clients.household.keys_lock import KeysLock
from proxid.clients.household.lasting import LastingChoices
from proxid.clients.household.policies import Policies
from proxid.clients.household.receipts import Receipt, ReceiptBook
from proxid.clients.household.said import check_location, check_text, coarse
from proxid.clients.household.session import Clock, Pinned, Random, Session
from proxid.clients.household.shown_time import ShownTime
from proxid.clients.household.state import HouseholdState, UserState
from proxid.crypto.hpke import SealingKey
from proxid.crypto.identity import EpochKey, Link
from proxid.crypto.sansig import Role
from proxid.errors import (
    Code,
    ConfigError,
    EpochError,
    InputError,
    LimitError,
    RefusedError,
)
from proxid.protocol import request, response
from proxid.protocol.consent import NOTHING
from proxid.protocol.epochs import Epochs
from proxid.protocol.opened import OpenedRequest
from proxid.protocol.policy import PolicyDocument
from proxid.protocol.request import Route, Utterance

T = TypeVar("T")
_RENEWED: Final = frozenset({Code.EPOCH_NOT_CURRENT, Code.EPOCH_KEY_STALE})
_RENEWALS: Final = 3
"""New keys for one question: an epoch may end on the way, and a link be lost besides."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """A verified, opened answer. retries: calls after the first. session: the request hash."""

    text: str
    session: bytes
    retries: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A user's consent: bundle and version, digest of the policy it was given under, Unix seconds when it ends.

    Attributes:
        lasting: whether it is given anew then: `renewed`; `changed` if not, since it means more now; or empty.
        pending: it was sent and not acknowledged: whether it is in effect is not known here.
    """

    bundle: str
    version: int
    policy: bytes
    until: int
    lasting: str = ""
    pending: bool = False


class Household:
    """Several users behind one device.

    Args:
        config: with trust. gateway: its client. clock: Unix seconds. random: source of bytes.
        lock: what keeps other processes from its keys, let go when it is closed.
    """

    def __init__(
        self, config: DeviceConfig, gateway: GatewayClient, clock: Clock = time.time,
        random: Random = os.urandom, lock: KeysLock | None = None,
    ) -> None:  # fmt: skip
        if config.trust.service is None or config.trust.screener is None:
            raise ConfigError("trust.service and trust.screener are needed")
        state = HouseholdState(config.data_dir)
        self._config = config
        self._gateway = gateway
        self._clock = clock
        self._random = random
        self._pinned = Pinned(config.trust.service, config.trust.screener)
        self._epochs = Epochs(config.epoch_seconds)
        self.shown = ShownTime(clock, self._epochs, config.clock_skew)
        self._users = state.users()
        self._receipts = ReceiptBook(config.data_dir / "receipts.jsonl")
        self._policies = Policies(gateway, config.data_dir)
        keys = (self._pinned.screener, self._pinned.service)
        self._heads = SeenHeads(config.data_dir, config.service, keys, gateway.consistency)
        self._consents = Consents(
            gateway, self._pinned.service, self._policies, self._receipts, self.shown, random, self._heads
        )  # fmt: skip
        self._lasting = LastingChoices(self._consents, self._policies)
        self._lock = lock
        self._route: Route | None = None
        self._fetching = asyncio.Lock()
        self._fetched = -1
        """The epoch of this device's clock when the route was fetched."""
        self._sessions: dict[str, Session] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @classmethod
    def open(cls, config: DeviceConfig) -> "Household":
        """The household of a configuration, with a channel of its own, and nobody else's meanwhile.

        Raises:
            HouseholdBusyError: another process has its keys open.
        """
        lock = KeysLock(config.data_dir)
        try:
            return cls(config, GatewayClient.open(config), lock=lock)
        except BaseException:
            lock.release()
            raise

    async def close(self) -> None:
        """Close the channel, and let others open the keys."""
        await self._gateway.close()
        if self._lock is not None:
            self._lock.release()

    @property
    def users(self) -> list[str]:
        """USER_IDs of the enrolled users."""
        return list(self._users)

    def is_erased(self, user_id: str) -> bool:
        """Whether the services have erased an enrolled user: they refuse whatever is asked under the name."""
        return self._users[user_id].erased

    async def session(self, user_id: str) -> Session:
        """The user's session of the current epoch; links a key at the first call.

        Raises:
            InputError: nobody of that name is enrolled here. RefusedError, UpstreamError: linking failed.
        """
        user = self._users.get(user_id)
        if user is None:
            raise InputError("nobody of that name is enrolled in this household")
        async with self._locks.setdefault(user_id, asyncio.Lock()):
            found, route = self._sessions.get(user_id), await self._current_route()
            if found is None or found.route != route:
                found = await self._link(user, route)
                self._sessions[user_id] = found
            await self._lasting.renew(found)
            return found

    async def _current_route(self) -> Route:
        async with self._fetching:
            now, route = self._clock(), self._route
            near = self._epochs.near(now, self._config.clock_skew)
            # Near an epoch's end the gateway may be in another one than this clock: it says so when that matters.
            stale = route is None or self._fetched != self._epochs.number(now) or route.epoch not in near
            if route is None or stale or self.shown.due:
                route = self._route = await self._fetch_route()
                self._fetched = self._epochs.number(now)
            return route

    async def _fetch_route(self) -> Route:
        asked, pinned, service = self._clock(), self._pinned, self._config.service
        told = await self._gateway.parameters()
        if told.epoch not in self._epochs.near(self._clock(), self._config.clock_skew):
            raise EpochError("the gateway names an epoch that this device's clock contradicts")
        epoch_key = EpochKey.decode(told.epoch_key)
        epoch_key.verify(pinned.service, service, told.epoch)
        # With its commitment, made before anything was asked, it shows that MS chose nothing afterwards.
        self._receipts.add_epoch(epoch_key.seed_commitment, told.epoch_key)
        self.shown.heard(told.time_ms, asked)
        return Route(service, told.epoch, pinned.screener, SealingKey(epoch_key.seal_key), epoch_key.policy)

    async def _link(self, user: UserState, route: Route) -> Session:
        key = user.epoch_key(route.epoch)
        link = Link.make(user.user_id, user.key, key, route.epoch, route.service, route.screener)
        prox_id, seasoned = await self._gateway.link(user.enrolment, link)
        if prox_id != link.prox_id:
            raise LimitError("the gateway names a PROX_ID that is not this key's")
        return Session(user, key, route, prox_id, seasoned)

    async def ask(self, user_id: str, text: str, location: str = "") -> Answer:
        """Ask on behalf of a recognised speaker; a retry sends the same nonce.

        Args:
            text: NFC. location: "lat,lon" or empty; sent to about a hundred metres unless configured otherwise.

        Raises:
            InputError: nothing is said, or the location is no place.
            RefusedError, UpstreamError: no answer. OversizedError, EncodingError: the text cannot be sent.
            ResponseMismatchError, SignatureInvalidError, SealInvalidError: the answer is not for this request.
        """
        check_text(text)
        check_location(location)
        place = location if self._config.exact_location else coarse(location)
        return await self.in_epoch(user_id, lambda session: self._ask(session, text, place))

    async def in_epoch(self, user_id: str, act: Callable[[Session], Awaitable[T]]) -> T:
        """Do something in the user's session; once more in a new one if the epoch, its key or the link is no more.

        Such a refusal means that nothing was taken, so a new message under a new key is safe. Raises as `session` and
        `act`.
        """
        for _ in range(_RENEWALS):
            session = None
            try:
                session = await self.session(user_id)
                return await act(session)
            except RefusedError as error:
                if not await self._renewed(user_id, error.remote, session):
                    raise
        return await act(await self.session(user_id))

    async def _renewed(self, user_id: str, refused: Code, session: Session | None) -> bool:
        """Whether what a refusal says is out of use was let go, so that another attempt may fare better."""
        if refused is Code.NOT_REGISTERED and session is not None:
            if self._sessions.get(user_id) is session:
                del self._sessions[user_id]
            return True
        if refused not in _RENEWED:
            return False
        route = self._route if session is None else session.route
        if self._route == route:
            self._route = None
        return await self._current_route() != route

    async def _ask(self, session: Session, text: str, location: str) -> Answer:
        now_ms = self.shown.ms()
        utterance = Utterance.new(text, now_ms, self._config.locale, location, self._random)
        user_id, route = session.user.user_id, session.route
        signed = request.make(utterance, user_id, session.key, route, now_ms, self._random)
        attempts = self._gateway.attempts()
        reply = await self._gateway.ask(signed, attempts)
        expected = response.expectation(route.service, route.epoch, self._pinned.service, route.screener)
        response.verify_response(reply, expected, Role.SANITIZER, user_id, signed.session_id)
        answer = response.open_answer(reply, utterance.response_key)
        self._receipts.add(Receipt("response", signed.session_id, reply))
        await self._heads.glance(response.head_of(reply))
        opened = OpenedRequest(signed, utterance).encode()
        session.user.history.add(self._clock(), text, signed.session_id, opened)
        return Answer(answer, signed.session_id, attempts.retries)

    async def consent(self, user_id: str, bundle: str, until_withdrawn: bool = False) -> int:
        """Choose a bundle for the rest of the epoch; returns the version in effect. Raises as `Consents.choose`.

        Args:
            until_withdrawn: it is given anew in each epoch to come, while it means no more than now.
        """

        async def choose(session: Session) -> int:
            async with self._locks[user_id]:
                version = await self._consents.choose(session, bundle)
                if until_withdrawn and bundle != NOTHING:
                    await self._lasting.remember(session, bundle)
                return version

        # Before it is sent: whatever happens to the new choice, the old one is made no more.
        self.forget_choice(user_id)
        return await self.in_epoch(user_id, choose)

    def lasting(self, user_id: str) -> str:
        """The bundle that is given anew for a user each epoch; empty without one. Raises InputError."""
        chosen = self._users[user_id].lasting
        return "" if chosen is None else chosen.bundle

    def objection(self, user_id: str) -> float | None:
        """Since when a user objects to any passing on, as `UserState.objection`."""
        return self._users[user_id].objection

    def history(self, user_id: str) -> OwnHistory:
        """What a user asked here, if they have it kept."""
        return self._users[user_id].history

    def forget_choice(self, user_id: str) -> None:
        """Give nothing anew for a user any more; raises InputError, OutputError."""
        user = self._users.get(user_id)
        if user is None:
            raise InputError("nobody of that name is enrolled in this household")
        self._lasting.forget(user)

    def sent_before(self, user_id: str) -> tuple[SentBefore, ...]:
        """What parties had been sent of a user's when their last change of consent here took effect."""
        return self._consents.sent.get(user_id, ())

    async def offered(self, user_id: str) -> PolicyDocument:
        """The policy whose bundles a user may choose now, `nothing` among them; raises as `session`."""
        session = await self.session(user_id)
        return await self._policies.of(session.route.policy)

    async def standing(self, user_id: str) -> Standing:
        """What a user's consent is now, under which policy, and until when; raises as `session`."""
        session = await self.session(user_id)
        route, state = session.route, session.user.consent(session.route.epoch)
        lasting = self._lasting.outcome(user_id, route.epoch) if self.lasting(user_id) else ""
        until, pending = self._epochs.end(route.epoch), state.pending is not None
        return Standing(state.bundle, state.version, route.policy, until, lasting, pending)
