"""What the Identity Screener is: its keys, what it was provisioned with, its limits, its clock."""

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.refusals import TurnedAway
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import SealingKey
from proxid.encoding import encode, label
from proxid.errors import EncodingError, EpochError, FreshnessError
from proxid.protocol.contents import coming_seconds
from proxid.protocol.epochs import Epochs
from proxid.protocol.opening import EpochOpening
from proxid.runtime.clock import Clocks, ClockWatch

_USER_TAG = label("user-tag")
_CONCEALED = label("concealed-tag")
_NONCE = bytes(12)
_TAG_SIZE = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may be.

    Attributes:
        nonce_ttl: seconds a nonce and its answer are kept at least. rate_per_minute: requests of one user.
        notice_spread: seconds over which notices to parties under aliases are spread.
        grace: seconds for which MS serves an epoch after its end.
    """

    nonce_ttl: int = 300
    rate_per_minute: int = 60
    notice_spread: int = 86_400
    grace: float = 300.0


@dataclass(frozen=True, slots=True)
class Screener:
    """The Identity Screener's identity and rules.

    Attributes:
        service: id of the Main Service. key: sk_IS. service_key: pk_MS. authority: pk_EA.
        secret: HMAC key of user tags and tombstones (and aliases from before feed keys), 32 bytes.
        party_keys: acknowledgement keys.
        watch: whether `clock` can be relied on. turned_away: whom this worker refused, and who writes how much.
        party_seals: what notices to a party are sealed to.
    """

    service: str
    key: SigningKey
    service_key: bytes
    authority: bytes
    secret: bytes
    party_keys: dict[str, bytes]
    epochs: Epochs = field(default_factory=Epochs)
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], float] = field(default=time.time)
    party_seals: dict[str, SealingKey] = field(default_factory=dict)
    watch: ClockWatch = field(default_factory=lambda: ClockWatch(Clocks(), 120.0))
    turned_away: TurnedAway = field(default_factory=TurnedAway)

    def limit(self, kind: str, who: str, data: bytes, times: int = 1) -> None:
        """Somebody, who is known to be that, writes something; raises RateLimitError.

        Args:
            data: the message. times: how many times a person's limit.
        """
        self.turned_away.write(kind, who, hashlib.sha512(data).digest(), self.clock(), times)

    def user_tag(self, user_id: str) -> str:
        """Keyed hash of a USER_ID: what keys and tombstones in the store are named by (DESIGN 5.2 (3))."""
        return hmac.new(self.secret, encode(_USER_TAG, user_id), hashlib.sha256).hexdigest()[: 2 * _TAG_SIZE]

    def conceal(self, user_tag: str, request: bytes) -> str:
        """A user tag that this service alone reads, and nobody links (hexadecimal): it stays in a header of the log.

        Args:
            request: digest of the request that the event is of, which no other event has.
        """
        return self._concealer(request).encrypt(_NONCE, bytes.fromhex(user_tag), request).hex()

    def reveal(self, concealed: str, request: bytes) -> str:
        """The user tag; raises EncodingError if this service did not conceal it."""
        try:
            return self._concealer(request).decrypt(_NONCE, bytes.fromhex(concealed), request).hex()
        except (InvalidTag, ValueError):
            raise EncodingError("a concealed tag is not this service's") from None

    def _concealer(self, request: bytes) -> ChaCha20Poly1305:
        return ChaCha20Poly1305(HKDF(SHA256(), 32, request, _CONCEALED).derive(self.secret))

    def verify_epoch(self, epoch: int) -> None:
        """First half of check 2 of 5.2: the epoch is current; raises ClockError, EpochError."""
        self.watch.require()
        if epoch != self.epochs.number(self.clock()):
            raise EpochError("epoch is not the current one")

    def coming(self) -> int:
        """The first epoch whose contents may still come from the main service (form `split`)."""
        return self.epochs.number(self.clock() - coming_seconds(self.limits.grace))

    def is_open(self, epoch: int) -> bool:
        """Whether the main service has surely not ended an epoch: it is the current one by a clock to rely on."""
        current = self.epochs.number(self.clock())
        return self.watch.doubt() is None and current == epoch

    def verify_fresh(self, time_ms: int, skew: float) -> None:
        """Second half of check 2 of 5.2: the time is within the skew, in seconds; raises FreshnessError."""
        if abs(time_ms / 1000 - self.clock()) > skew:
            raise FreshnessError("time is outside the allowed skew")

    def opening(self) -> EpochOpening:
        """The signed word that the epoch which is current by this clock has begun."""
        return EpochOpening.at(self.service, self.epochs, self.clock()).sign(self.key)

    def link_ttl(self, epoch: int, retention: float) -> int:
        """Seconds from now until a link of this epoch may be forgotten, which is kept for `retention` after it."""
        return int(self.epochs.end(epoch) - self.clock()) + int(retention)


def key_tag(key: bytes) -> str:
    """The name of a public key in the store."""
    return hashlib.sha256(key).hexdigest()[: 2 * _TAG_SIZE]


def nonce_tag(key: bytes, nonce: bytes) -> str:
    """The name of a (pk_e, nonce) in the store."""
    return hashlib.sha256(key + nonce).hexdigest()[: 2 * _TAG_SIZE]
