"""Payloads of what the Main Service records (DESIGN 10.1): what it received, kept, released, and its epochs' keys."""

from dataclasses import dataclass, replace

from proxid.crypto.identity import EpochKey
from proxid.encoding import decode, decode_int, decode_text, encode
from proxid.errors import EncodingError
from proxid.evidence.events.kinds import Header, encode_header


@dataclass(frozen=True, slots=True)
class ReceivedPayload:
    """RECEIVED: the sanitised request as MS got it, and the credential it was accepted under.

    Attributes:
        credential: its encoding, or `Credential.digest` where an earlier RECEIVED of the same key has the encoding: it
            is 1.6 kB, and IS signed it, so MS can show whose word it took.
    """

    request: bytes
    credential: bytes

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.request, self.credential)

    @classmethod
    def decode(cls, data: bytes) -> "ReceivedPayload":
        """The payload of an encoding; raises EncodingError."""
        return cls(*decode(data, 2))


@dataclass(frozen=True, slots=True)
class BufferedPayload:
    """BUFFERED: the utterance, the opening of its commit, and what the pipeline made of it.

    Attributes:
        session: 64 bytes. opening: `Utterance.opening`. pipeline: version of classifier and masking.
        path: category, cell or shape. texts: the normalised masked text, then its semantic units.
    """

    session: bytes
    prox_id: str
    seasoned: bool
    audience: str
    kind: str
    opening: bytes
    pipeline: str
    path: tuple[str, ...]
    texts: tuple[str, ...]
    time_ms: int

    def at(self, time_ms: int) -> "BufferedPayload":
        """The same, counted as of another time."""
        return replace(self, time_ms=time_ms)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(
            self.session, self.prox_id, int(self.seasoned), self.audience, self.kind, self.opening, self.pipeline,
            encode(*self.path), encode(*self.texts), self.time_ms,
        )  # fmt: skip

    @classmethod
    def decode(cls, data: bytes) -> "BufferedPayload":
        """The payload of an encoding; raises EncodingError."""
        session, prox, seasoned, audience, kind, opening, pipeline, path, texts, time_ms = decode(data, 10)
        return cls(
            session, decode_text(prox), bool(decode_int(seasoned)), decode_text(audience), decode_text(kind), opening,
            decode_text(pipeline), _texts(path), _texts(texts), decode_int(time_ms),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RestrictedPayload:
    """RESTRICTED: whom MS was told of, and IS's signed word, which is empty if IS is of before there were any."""

    prox_id: str
    word: bytes

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.prox_id, self.word)

    @classmethod
    def decode(cls, data: bytes) -> "RestrictedPayload":
        """The payload of an encoding; raises EncodingError."""
        prox_id, word = decode(data, 2)
        return cls(decode_text(prox_id), word)


@dataclass(frozen=True, slots=True)
class ReleasedPayload:
    """RELEASED: the group's records in the order shown.

    Attributes:
        records: session id of the request whose text each position shows, in the order of positions.
        published: PROX_ID that each position is published under.
        parties: for each party its name, the records MS signed, and the padded bodies (for the auditor).
        owners: PROX_ID of who issued each record, so that its part is encrypted for that person alone; empty if
            everybody issued the record that is published under their name.
    """

    records: tuple[bytes, ...]
    published: tuple[str, ...]
    parties: tuple[tuple[str, tuple[bytes, ...], tuple[bytes, ...]], ...]
    owners: tuple[str, ...] = ()

    def encode(self) -> bytes:
        """Canonical form."""
        parties = [encode(name, encode(*records), encode(*bodies)) for name, records, bodies in self.parties]
        return encode(encode(*self.records), encode(*self.published), encode(*parties), encode(*self.owners))

    @classmethod
    def decode(cls, data: bytes) -> "ReleasedPayload":
        """The payload of an encoding; raises EncodingError."""
        records, published, parties, owners = decode(data, 4)
        shown = tuple(_party(party) for party in decode(parties))
        return cls(tuple(decode(records)), _texts(published), shown, _texts(owners))


def _party(data: bytes) -> tuple[str, tuple[bytes, ...], tuple[bytes, ...]]:
    name, records, bodies = decode(data, 3)
    return decode_text(name), tuple(decode(records)), tuple(decode(bodies))


@dataclass(frozen=True, slots=True)
class EpochOpened:
    """EPOCH_OPENED: the epoch's key as MS signed it.

    The header repeats what has to stay readable: epoch, commitment to the seed, digest of the policy, opening, time.

    Attributes:
        sealed, opening, time_ms: in MS's log alone: the seed sealed to the auditor; IS's signed word that the epoch
            has begun; MS's time (Unix milliseconds).
        feeds: of each party its feed key, sealed and signed (`feedkey.FeedKeyMessage`); none, and then no such field,
            in an epoch that was opened before there were feed keys.
    """

    key: bytes
    sealed: bytes = b""
    opening: bytes = b""
    time_ms: int = 0
    feeds: tuple[bytes, ...] = ()

    @property
    def header(self) -> bytes:
        """Canonical header."""
        key = EpochKey.decode(self.key)
        fields: Header = {"commitment": key.seed_commitment.hex(), "epoch": key.epoch, "policy": key.policy.hex()}
        if self.opening:
            fields |= {"opening": self.opening.hex(), "time": self.time_ms}
        return encode_header(**fields)

    @property
    def payload(self) -> bytes:
        """Canonical payload."""
        return encode(self.key, self.sealed, self.opening, self.time_ms, *([encode(*self.feeds)] if self.feeds else []))

    @classmethod
    def decode(cls, payload: bytes) -> "EpochOpened":
        """The event of a payload; raises EncodingError."""
        items = decode(payload)
        if len(items) not in (4, 5):
            raise EncodingError("EPOCH_OPENED has four fields, or five with feed keys")
        key, sealed, opening, time_ms, *feeds = items
        return cls(key, sealed, opening, decode_int(time_ms), tuple(decode(feeds[0])) if feeds else ())


def _texts(data: bytes) -> tuple[str, ...]:
    return tuple(decode_text(item) for item in decode(data))
