"""Changes of consent (DESIGN 7): the vector to IS, the bundle to MS, and the acknowledgement of both.

What is sent lies on disk before: after a crash the same bytes are sent again, and where they are too old for that, one
of their version and the next is the one that IS expects.
"""

from dataclasses import replace

from proxid.clients.auditing.heads import SeenHeads
from proxid.clients.household.gateway import GatewayClient, SentBefore
from proxid.clients.household.policies import Policies
from proxid.clients.household.receipts import Receipt, ReceiptBook
from proxid.clients.household.session import Random, Session
from proxid.clients.household.shown_time import ShownTime
from proxid.clients.household.state import ConsentState
from proxid.crypto.sansig import Role, SignedMessage, verify
from proxid.encoding import encode_text
from proxid.errors import Code, ConsentError, RefusedError, ResponseMismatchError
from proxid.evidence.events import EventType
from proxid.protocol import consent
from proxid.protocol.consent import ConsentVector, Grant
from proxid.protocol.policy import PolicyDocument


class Consents:
    """Sends changes and checks their acknowledgements.

    Args:
        service_key: pk_MS. policies: what is offered, by digest. heads: of the logs, in which both promise it.
    """

    def __init__(
        self, gateway: GatewayClient, service_key: bytes, policies: Policies, receipts: ReceiptBook, shown: ShownTime,
        random: Random, heads: SeenHeads,
    ) -> None:  # fmt: skip
        self._gateway = gateway
        self._heads = heads
        self._service_key = service_key
        self._policies = policies
        self._receipts = receipts
        self._shown = shown
        self._random = random
        self.sent: dict[str, tuple[SentBefore, ...]] = {}
        """By user what had been sent to parties before their last change took effect."""

    async def choose(self, session: Session, bundle: str) -> int:
        """Choose a bundle for the rest of the session's epoch; returns the version in effect.

        Raises:
            ConsentError: the bundle is not offered, or the acknowledgement is another's.
            RefusedError, UpstreamError: not in effect; the same call later goes on with it.
        """
        document = await self._policies.of(session.route.policy)
        if bundle not in document.bundles:
            raise ConsentError(f"bundle is not offered; there are: {', '.join(document.bundles)}")
        state = session.user.consent(session.route.epoch)
        if state.pending is not None:
            state = await self._resume(session, state)
        if state.bundle != bundle or state.version == 0:
            state = await self._send(session, ConsentState(state.version + 1, bundle), document)
        return state.version

    async def _resume(self, session: Session, state: ConsentState) -> ConsentState:
        """Send the pending change once more; if it is too old for that, leave its version behind."""
        assert state.pending is not None
        vector, message = state.pending[0], SignedMessage.decode(state.pending[1])
        try:
            return await self._deliver(session, state, vector, message)
        except (RefusedError, ConsentError):
            # Version v is in effect or not: whichever it is, one of v and v+1 is the next (see `_send`).
            return ConsentState(state.version - 1, "")

    async def _send(self, session: Session, state: ConsentState, document: PolicyDocument) -> ConsentState:
        grants = document.bundles[state.bundle]
        try:
            return await self._deliver(session, state, *self._make_consent(session, state, grants))
        except RefusedError as error:
            if error.remote is not Code.CONSENT_INVALID:
                raise
        state = ConsentState(state.version + 1, state.bundle)
        return await self._deliver(session, state, *self._make_consent(session, state, grants))

    def _make_consent(
        self, session: Session, state: ConsentState, grants: tuple[Grant, ...]
    ) -> tuple[bytes, SignedMessage]:
        user, route = session.user, session.route
        vector = ConsentVector(
            user.user_id, route.service, route.epoch, state.version, state.bundle, grants, route.policy
        )
        message = consent.make(
            state.bundle, state.version, user.user_id, session.key, (route.service, route.epoch, route.screener),
            self._shown.ms(), self._random,
        )  # fmt: skip
        return vector.sign(user.key).encode(), message

    async def _deliver(
        self, session: Session, state: ConsentState, vector: bytes, message: SignedMessage
    ) -> ConsentState:
        user, route = session.user, session.route
        # On disk before it is sent: after a crash the same bytes are sent again.
        before, pending = user.consent(route.epoch), replace(state, pending=(vector, message.encode()))
        user.save_consent(route.epoch, pending)
        try:
            acknowledgement, promises, sent = await self._gateway.consent(vector, message)
        except RefusedError as error:
            # The gateway says so before anything of a choice is in effect; other codes may come after that.
            if error.remote is Code.OBJECTED:
                user.save_consent(route.epoch, before)
                if user.objection is None:  # its receipt was not heard
                    user.keep_objection(0.0)
            raise
        expected = consent.ack_expectation(route.service, route.epoch, self._service_key, route.screener)
        verify(acknowledgement, expected, Role.SANITIZER)
        if acknowledgement.message.user_block != encode_text(user.user_id):
            raise ResponseMismatchError("acknowledgement is for another user")
        consent.verify_ack(acknowledgement, message)
        self._receipts.add(Receipt("consent", message.session_id, acknowledgement))
        if not all(promises):  # without them it may be logged whenever it suits them: the next version is asked for
            raise ConsentError("a service does not promise that the choice is in its log")
        heads = [self._heads.promised(promise, EventType.CONSENT, message.session_id) for promise in promises]
        for promise in promises:
            self._receipts.add_bytes("promise", message.session_id, promise)
        for head in heads:
            await self._heads.take(head)
        self.sent[user.user_id] = sent
        settled = ConsentState(state.version, state.bundle)
        user.save_consent(route.epoch, settled)
        return settled
