"""Both services in one object without I/O, as a household sees them; each can be told to misbehave."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from proxid.clients.household.gateway import Parameters, SentBefore
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import Enrolment, EpochKey, Link
from proxid.crypto.sansig import SignedMessage, prox_id
from proxid.crypto.sansig.scheme import resign
from proxid.encoding import encode_text
from proxid.errors import Code, RefusedError
from proxid.evidence.checkpoint import Checkpoint, origin
from proxid.evidence.promise import Promise
from proxid.protocol import consent, request, response
from proxid.protocol.consent import NOTHING, Grant
from proxid.protocol.policy import PolicyDocument
from proxid.runtime.transport.retry import Attempts

MS, IS = SigningKey(bytes(31) + b"\x01"), SigningKey(bytes(31) + b"\x02")
OTHER = SigningKey(bytes(31) + b"\x03")
SEAL = OpeningKey(bytes(range(96)))
SERVICE = "main-service"
POLICY = PolicyDocument(
    ("acme",), {"all": (Grant("acme", ("general",), "user_id"),), NOTHING: ()}, {"epoch_seconds": 86_400}
)


def head(name: str, key: SigningKey) -> bytes:
    """The newest head of a service's log, which has one entry."""
    return Checkpoint(origin(SERVICE, name), 1, bytes(32)).sign(key).encode()


Change = Callable[[SignedMessage], SignedMessage]


def restored(signed: SignedMessage, user: bytes, key: SigningKey = IS) -> SignedMessage:
    """What IS makes of MS's message."""
    return resign(signed, user, key, lambda _: None)


@dataclass
class FakeGateway:
    """A well-behaved pair of services.

    Attributes:
        epoch: the current one. answer: what MS says. refuse: codes that the next asks are refused with.
        change: applied to each response on its way. epoch_key: what MS signed; None: the right one.
    """

    epoch: int
    answer: str = "ok"
    refuse: list[Code] = field(default_factory=list)
    change: Change | None = None
    epoch_key: EpochKey | None = None
    text: str = POLICY.text
    wrong_prox_id: bool = False
    seal: OpeningKey = SEAL
    time_ms: int = 0
    strict: bool = False
    """Whether it refuses messages of another epoch."""
    promises: bool = True
    fetched: int = 0
    version: int = 0
    links: list[Link] = field(default_factory=list)
    asked: list[SignedMessage] = field(default_factory=list)
    consents: list[tuple[bytes, SignedMessage]] = field(default_factory=list)
    consent_fails: list[Exception] = field(default_factory=list)

    def attempts(self) -> Attempts:
        return Attempts(3)

    async def close(self) -> None:
        return None

    async def parameters(self) -> Parameters:
        self.fetched += 1
        key = self.epoch_key or EpochKey(SERVICE, self.epoch, SEAL.public.data, bytes(32), POLICY.digest).issue(MS)
        return Parameters(self.epoch, key.encode(), self.time_ms)

    async def policy(self, digest: bytes) -> str:
        return self.text

    async def link(self, enrolment: Enrolment, link: Link) -> tuple[str, bool]:
        link.verify(enrolment)
        self.links.append(link)
        return ("px1" + "a" * 32 if self.wrong_prox_id else link.prox_id), True

    async def ask(self, message: SignedMessage, attempts: Attempts) -> SignedMessage:
        attempts.made += 1
        if self.refuse:
            raise RefusedError(self.refuse.pop(0))
        if self.strict and message.header.epoch != self.epoch:
            raise RefusedError(Code.EPOCH_NOT_CURRENT)
        self.asked.append(message)
        utterance = request.open_body(message, self.seal)
        header = message.header
        pseudonym = prox_id(SERVICE, header.epoch, header.signer)
        made = response.make(self.answer, utterance.response_key, message, pseudonym, MS, 0, head("main-service", MS))
        reply = restored(made, message.message.user_block)
        return self.change(reply) if self.change else reply

    async def consent(
        self, vector: bytes, message: SignedMessage
    ) -> tuple[SignedMessage, tuple[bytes, bytes], tuple[SentBefore, ...]]:  # fmt: skip
        self.consents.append((vector, message))
        if self.consent_fails:
            raise self.consent_fails.pop(0)
        _, version = consent.read(message)
        if version not in {self.version, self.version + 1}:
            raise RefusedError(Code.CONSENT_INVALID)
        self.version = version
        pseudonym = prox_id(SERVICE, message.header.epoch, message.header.signer)
        made = consent.make_ack(message, pseudonym, MS, 0)
        reply = restored(made, message.message.user_block)
        return self.change(reply) if self.change else reply, (
            self.promise(message.session_id, "gateway", IS), self.promise(message.session_id, "main-service", MS)
        ), ()  # fmt: skip

    def promise(self, asked: bytes, name: str, key: SigningKey) -> bytes:
        """That it is logged; nothing if it does not promise."""
        promise = Promise(origin(SERVICE, name), 1, "CONSENT", asked, 0, head(name, key))
        return promise.sign(key).encode() if self.promises else b""

    async def consistency(self, old: int, size: int, generation: int, other: bool) -> list[bytes]:
        return []


def other_user(signed: SignedMessage) -> SignedMessage:
    """Restored to somebody else, properly signed."""
    return restored(signed, encode_text("bob"))


def other_screener(signed: SignedMessage) -> SignedMessage:
    """σ_L by a key that is not IS's."""
    message = signed.message
    changed = replace(message, header=replace(message.header, sanitizer=OTHER.public))
    return restored(SignedMessage(changed, signed.signature), message.user_block, OTHER)
