"""Who is who, without telling MS (DESIGN 4.3): enrolment by the EA, epoch links for IS, credentials for MS.

enrolment   Sign(sk_EA, E("enrol", USER_ID, pk_U, since[, until[, replaced pk_U…]]))   device → IS
L         = E("link", USER_ID, pk_U, pk_e, epoch, MS, pk_IS)
link        Sign(sk_U, L) ‖ Sign(sk_e, E("pop", L))                               device → IS, kept for the auditor
credential  Sign(sk_IS, E("cred", pk_e, PROX_ID, epoch, MS, not_after, ADM, seasoned, evidence_pk
              [, PROX_ID of the lost key whose place it takes]))                      IS → MS
epoch key   Sign(sk_MS, E("epoch-key", MS, epoch, hpke_pk, seed_commitment, policy))   MS → devices, through IS
"""

import hashlib
from dataclasses import dataclass, field, replace

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import KEY_SIZE, SIGNATURE_SIZE, SigningKey
from proxid.crypto.hpke import PUBLIC_SIZE
from proxid.crypto.sansig.limits import prox_id
from proxid.crypto.sansig.message import ADMISSIBLE
from proxid.crypto.user_id import verify_user_id
from proxid.encoding import decode, decode_int, decode_text, encode, encode_int, label
from proxid.errors import CredentialError, EncodingError

_ENROL = label("enrol")
_LINK = label("link")
_ENROLMENT = 4
"""Parts of an enrolment at least."""
_CREDENTIAL = 7
"""Parts of a credential at least."""
MAX_REPLACED = 16
"""Earlier keys of a person that an enrolment names at most: the newest."""
_POP = label("pop")
_CRED = label("cred")
_EPOCH_KEY = label("epoch-key", 2)
POLICY_SIZE = 32
"""Bytes of a policy document's digest (`proxid.protocol.policy`)."""
_ADM = b"".join(encode_int(i) for i in ADMISSIBLE)


def _sized(data: bytes, *sizes: int) -> bytes:
    if len(data) not in sizes:
        raise EncodingError("a key or signature has the wrong size")
    return data


@dataclass(frozen=True, slots=True)
class Enrolment:
    """The EA's word that a user owns a key since a time (Unix seconds), so that IS cannot invent users.

    Attributes:
        until: Unix seconds from which nothing is linked by it any more; 0 if it does not end.
        replaces: the person's earlier keys, whose place this one takes: without the EA's word for that, nobody's key
            is replaced.
    """

    user_id: str = field(repr=False)
    user_key: bytes = field(repr=False)
    since: int
    signature: bytes = b""
    until: int = 0
    replaces: tuple[bytes, ...] = field(default=(), repr=False)

    def _body(self) -> bytes:
        return encode(_ENROL, self.user_id, self.user_key, self.since, *self._more)

    @property
    def _more(self) -> tuple[int | bytes, ...]:
        if self.replaces:
            return self.until, *self.replaces
        return (self.until,) if self.until else ()

    @classmethod
    def issue(
        cls, user_id: str, user_key: bytes, since: int, authority: SigningKey, until: int = 0,
        replaces: tuple[bytes, ...] = (),
    ) -> "Enrolment":  # fmt: skip
        """Certify a user's key; of the earlier ones the last `MAX_REPLACED` are named.

        Raises:
            KeyInvalidError: a malformed key. CredentialError, EncodingError: not a USER_ID (`names`).
        """
        ed25519.verify_key(user_key)
        verify_user_id(user_id)
        unsigned = cls(user_id, user_key, since, until=until, replaces=replaces[-MAX_REPLACED:])
        return replace(unsigned, signature=authority.sign(unsigned._body()))

    def verify_time(self, now: float) -> None:
        """Check that it has not ended at a time (Unix seconds); raises CredentialError."""
        if self.until and now >= self.until:
            raise CredentialError("enrolment has ended")

    def verify(self, authority: bytes) -> None:
        """Check the EA's signature, the key and the name.

        Raises:
            KeyInvalidError, SignatureInvalidError: not the EA's. CredentialError, EncodingError: not a USER_ID.
        """
        ed25519.verify_key(self.user_key)
        verify_user_id(self.user_id)
        ed25519.verify(authority, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.user_id, self.user_key, self.since, self.signature, *self._more)

    @classmethod
    def decode(cls, data: bytes) -> "Enrolment":
        """The enrolment of an encoding; raises EncodingError."""
        items = decode(data)
        if not _ENROLMENT <= len(items) <= _ENROLMENT + 1 + MAX_REPLACED:
            raise EncodingError("an enrolment has four parts, a fifth if it ends, and the keys that it replaces")
        user_id, key, since, signature, *more = items
        until, replaces = (decode_int(more[0]) if more else 0), tuple(_sized(one, KEY_SIZE) for one in more[1:])
        if more and not until and not replaces:
            raise EncodingError("an enrolment says its end if it has one")
        return cls(
            decode_text(user_id), _sized(key, KEY_SIZE), decode_int(since), _sized(signature, SIGNATURE_SIZE), until,
            replaces,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
    """A user's word, and the epoch key's, that they belong together for one epoch, one MS and one IS."""

    user_id: str = field(repr=False)
    user_key: bytes = field(repr=False)
    epoch_key: bytes = field(repr=False)
    epoch: int
    service: str
    screener: bytes
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_LINK, self.user_id, self.user_key, self.epoch_key, self.epoch, self.service, self.screener)

    @classmethod
    def make(
        cls, user_id: str, user: SigningKey, epoch_key: SigningKey, epoch: int, service: str, screener: bytes
    ) -> "Link":
        """Sign a link with the user's key and prove possession of the epoch key; raises as `verify_user_id`."""
        verify_user_id(user_id)
        unsigned = cls(user_id, user.public, epoch_key.public, epoch, service, screener)
        body = unsigned._body()
        signature = user.sign(body) + epoch_key.sign(encode(_POP, body))
        return replace(unsigned, signature=signature)

    def verify_for(self, enrolment: Enrolment, service: str, epoch: int, screener: bytes) -> None:
        """Check a link that is presented: it is for this MS, epoch and IS, and of the enrolled user.

        Raises:
            CredentialError: for another MS, epoch or IS; and as `verify`.
        """
        if (self.service, self.epoch, self.screener) != (service, epoch, screener):
            raise CredentialError("link is for another service, epoch or screener")
        self.verify(enrolment)

    def verify(self, enrolment: Enrolment) -> None:
        """Check both signatures, and that the link is of the enrolled user and key.

        It says nothing of MS, epoch and IS, which the caller compares, and takes the enrolment as verified.

        Raises:
            CredentialError: another user or key. KeyInvalidError, SignatureInvalidError: a signature does not hold.
        """
        if (self.user_id, self.user_key) != (enrolment.user_id, enrolment.user_key):
            raise CredentialError("link names a user or key other than the enrolment's")
        if self.epoch_key == self.user_key:
            raise CredentialError("epoch key is the user's own key")
        if self.screener in (self.epoch_key, self.user_key):
            raise CredentialError("a user's key is the screener's key")
        if len(self.signature) != 2 * SIGNATURE_SIZE:
            raise CredentialError("a link has two signatures")
        body = self._body()
        ed25519.verify(self.user_key, body, self.signature[:SIGNATURE_SIZE])
        ed25519.verify(self.epoch_key, encode(_POP, body), self.signature[SIGNATURE_SIZE:])

    @property
    def prox_id(self) -> str:
        """The PROX_ID that MS will know."""
        return prox_id(self.service, self.epoch, self.epoch_key)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(
            self.user_id, self.user_key, self.epoch_key, self.epoch, self.service, self.screener, self.signature
        )

    @classmethod
    def decode(cls, data: bytes) -> "Link":
        """The link of an encoding; raises EncodingError."""
        user_id, user_key, epoch_key, epoch, service, screener, signature = decode(data, 7)
        return cls(
            decode_text(user_id), _sized(user_key, KEY_SIZE), _sized(epoch_key, KEY_SIZE), decode_int(epoch),
            decode_text(service), _sized(screener, KEY_SIZE), _sized(signature, 2 * SIGNATURE_SIZE),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Credential:
    """IS's word to MS that an epoch key belongs to one enrolled person, who is not named.

    Attributes:
        not_after: Unix seconds. seasoned: the account is old enough to count towards k (DESIGN 8.5).
        evidence_key: public HPKE key to which MS seals this person-epoch's evidence (DESIGN 10.2), or empty.
        instead: PROX_ID of the same person's key of this epoch whose place this one takes, or empty (ADR 0039).
    """

    epoch_key: bytes
    epoch: int
    service: str
    not_after: int
    seasoned: bool
    evidence_key: bytes = b""
    signature: bytes = b""
    instead: str = ""

    @property
    def prox_id(self) -> str:
        """The pseudonym, recomputed from the key."""
        return prox_id(self.service, self.epoch, self.epoch_key)

    def _body(self) -> bytes:
        return encode(
            _CRED, self.epoch_key, self.prox_id, self.epoch, self.service, self.not_after, _ADM,
            int(self.seasoned), self.evidence_key, *self._instead,
        )  # fmt: skip

    @property
    def _instead(self) -> tuple[str, ...]:
        """As encodings end with it: one that takes no place is that of before there were any."""
        return (self.instead,) if self.instead else ()

    def issue(self, screener: SigningKey) -> "Credential":
        """The same credential, signed by IS."""
        return replace(self, signature=screener.sign(self._body()))

    def verify(self, screener: bytes, service: str, epoch: int, now: float) -> None:
        """Check it against what MS knows.

        Raises:
            CredentialError: another service or epoch, or expired. KeyInvalidError, SignatureInvalidError: not IS's.
        """
        if self.service != service or self.epoch != epoch:
            raise CredentialError("credential is for another service or epoch")
        # Written so that a time that is no number counts as expired.
        if not now <= self.not_after:
            raise CredentialError("credential has expired")
        if self.instead and (self.seasoned or self.instead == self.prox_id):
            raise CredentialError("credential of a key in another's place counts as seasoned, or takes its own")
        ed25519.verify_key(self.epoch_key)
        ed25519.verify(screener, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(
            self.epoch_key, self.epoch, self.service, self.not_after, int(self.seasoned), self.evidence_key,
            self.signature, *self._instead,
        )  # fmt: skip

    @property
    def digest(self) -> bytes:
        """SHA-256 of the encoding, 32 bytes: how evidence names a credential that it has shown."""
        return hashlib.sha256(self.encode()).digest()

    @classmethod
    def decode(cls, data: bytes) -> "Credential":
        """The credential of an encoding; raises EncodingError."""
        items = decode(data)
        if len(items) not in (_CREDENTIAL, _CREDENTIAL + 1):
            raise EncodingError("a credential has seven parts, and an eighth if its key takes the place of another")
        key, epoch, service, not_after, seasoned, evidence_key, signature, *more = items
        flag, instead = decode_int(seasoned), decode_text(more[0]) if more else ""
        if flag > 1:
            raise EncodingError("seasoned is neither 0 nor 1")
        if more and not instead:
            raise EncodingError("a credential says whose place its key takes if there is one")
        return cls(
            _sized(key, KEY_SIZE), decode_int(epoch), decode_text(service), decode_int(not_after), bool(flag),
            _sized(evidence_key, 0, PUBLIC_SIZE), _sized(signature, SIGNATURE_SIZE), instead,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class EpochKey:
    """MS's sealing key of an epoch, signed by pk_MS (DESIGN 2, 7, 8.4.1).

    Attributes:
        seed_commitment: to the epoch's cycle seed. policy: digest of the document that the epoch goes by.
    """

    service: str
    epoch: int
    seal_key: bytes
    seed_commitment: bytes
    policy: bytes
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_EPOCH_KEY, self.service, self.epoch, self.seal_key, self.seed_commitment, self.policy)

    def issue(self, service: SigningKey) -> "EpochKey":
        """The same key, signed by MS."""
        return replace(self, signature=service.sign(self._body()))

    def verify(self, key: bytes, service: str, epoch: int) -> None:
        """Check it against the provisioned pk_MS.

        Raises:
            CredentialError: another service or epoch. KeyInvalidError, SignatureInvalidError: not MS's.
        """
        if self.service != service or self.epoch != epoch:
            raise CredentialError("epoch key is for another service or epoch")
        ed25519.verify(key, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.service, self.epoch, self.seal_key, self.seed_commitment, self.policy, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "EpochKey":
        """The epoch key of an encoding; raises EncodingError."""
        service, epoch, seal_key, commitment, policy, signature = decode(data, 6)
        return cls(
            decode_text(service), decode_int(epoch), _sized(seal_key, PUBLIC_SIZE), commitment,
            _sized(policy, POLICY_SIZE), _sized(signature, SIGNATURE_SIZE),
        )  # fmt: skip
