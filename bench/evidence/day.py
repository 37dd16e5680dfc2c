"""The evidence of a simulated day, made by the services' own parts without a network or a store, for benchmarks.

People link, consent and ask; the pool groups; groups are released and acknowledged. Every signature, seal and payload
key is real, so that an audit of it does what an audit of a real day does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.evidence.known import EPOCH, NAME, NOW, SEED, Known
from gateway.aliases import Namer
from gateway.identity import Screener
from gateway.releases import Releases
from gateway.store.links import Person
from gateway.upstream import ReleasedGroup
from main_service.identity import EpochSecrets, Service
from main_service.integrator import Integrator
from proxid.anonymise.mix.cycle import seed_commitment
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.types import Group, Record
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import Credential, Enrolment, EpochKey, Link
from proxid.crypto.sansig import SignedMessage
from proxid.crypto.sansig.scheme import resign
from proxid.encoding import encode, encode_text
from proxid.evidence.checkpoint import origin
from proxid.evidence.disclosure import disclosure_info, unit_digest
from proxid.evidence.events import (
    BufferedPayload,
    ConsentPayload,
    DeliveredPayload,
    EnrolledPayload,
    EpochOpened,
    EventType,
    LinkedPayload,
    ReceivedPayload,
    SanitizedPair,
    decode_header,
    encode_header,
)
from proxid.evidence.ratchet import owner_commitment, owner_salt, subject_tag
from proxid.protocol import consent, request, response
from proxid.protocol.consent import ConsentVector, Grant
from proxid.protocol.epochs import Epochs
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.opening import EpochOpening
from proxid.protocol.receipt import DeliveryAck, group_digest
from proxid.protocol.request import Route, Utterance
from proxid.runtime.evidence_log.encryptor import Encryptor, PlainEvent
from proxid.runtime.evidence_log.log import LeafLog

_BATCH: Final = 512
_GRANTS: Final = (Grant("acme", ("general",), "user_id"),)


class Writer:
    """A log that is written in batches, as the evidence writer does."""

    def __init__(self, folder: Path, log: str, key: SigningKey, auditor: OpeningKey) -> None:
        self.log = LeafLog(folder, origin(NAME, log), key)
        self._key = key
        self.head = self.log.head.sign(key).encode()
        """The newest signed one, as answers hold it."""
        self._encryptor = Encryptor(log, origin(NAME, log), auditor.public)
        self._waiting: list[PlainEvent] = []
        self._number = 0
        self.evidence: dict[str, bytes] = {}

    def add(self, kind: EventType, payload: bytes, random: Callable[[int], bytes], **fields: Any) -> None:
        """One event."""
        self._number += 1
        self._waiting.append(PlainEvent(self._number, kind, random(16), encode_header(**fields), payload))
        if len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Encrypt and append what waits."""
        if self.log.begin_batch():
            self._encryptor.renew()
        items = [self._encryptor.split(event) for event in self._waiting]
        if items:
            self.log.append(self._encryptor.leaves(items, self.evidence))
            self.head = self.log.head.sign(self._key).encode()
        self._waiting.clear()


@dataclass(slots=True)
class Citizen:
    """A person of the day."""

    user_id: str
    key: SigningKey
    prox_id: str
    credential: Credential


class Day:
    """Makes the evidence of a day; `run` until there are enough events.

    Args:
        folder: of both logs. people, nodes: how many take part, and how many things they ask about.
    """

    def __init__(self, folder: Path, people: int = 300, nodes: int = 40, seed: int = SEED) -> None:
        self.folder, self.people, self.nodes = folder, people, nodes
        self.seeds: dict[bytes, bytes] = {}
        self._user_keys: dict[str, SigningKey] = {}
        known = Known(seed)
        self.trust = known.trust
        self._source, self._random = known.source, known.source.randbytes
        keys = self._keys = known.keys
        self.auditor = known.auditor
        self._opening, self._acme = OpeningKey(self._random(96)), OpeningKey(self._random(96))
        self._terms = known.terms
        self._epoch_seed = self._random(32)
        commitment = seed_commitment(self._epoch_seed, EPOCH, NAME)
        key = EpochKey(NAME, EPOCH, self._opening.public.data, commitment, self._terms.digest).issue(keys["ms"])
        feed = FeedKey.of(self._epoch_seed, NAME, EPOCH, "acme").seal(self._acme.public, NAME, EPOCH, "acme")
        feeds = (feed.sign(keys["ms"]).encode(),)
        self._secrets = EpochSecrets(EPOCH, self._epoch_seed, self._opening, key, self._terms, feeds)
        self.gateway = Writer(self.folder / "gateway", "gateway", keys["is"], self.auditor)
        self.service = Writer(self.folder / "main-service", "main-service", keys["ms"], self.auditor)
        party_keys = {"acme": keys["acme"].public}
        screener = Screener(
            service=NAME, key=keys["is"], service_key=keys["ms"].public, authority=keys["ea"].public,
            secret=self._random(32), party_keys=party_keys, clock=lambda: NOW,
        )  # fmt: skip
        ms = Service(
            name=NAME, key=keys["ms"], screener=keys["is"].public, auditor=self.auditor.public,
            parties={"acme": self._acme.public}, clock=lambda: NOW,
        )  # fmt: skip
        self._releases = Releases(screener, None, None, None)  # type: ignore[arg-type]
        self._integrator = Integrator(ms)
        self._pool = Pool(self._terms.settings)
        self._buffered: dict[bytes, BufferedPayload] = {}
        self._citizens: list[Citizen] = []
        self.requests = 0

    @property
    def events(self) -> int:
        """Events so far, of both logs."""
        return self.gateway._number + self.service._number

    def run(self, events: int, progress: Callable[[int], None] = lambda done: None) -> None:
        """Go on until both logs together have so many events."""
        if not self._citizens:
            self._open()
        while self.events < events:
            self._ask(self._source.choice(self._citizens))
            if self.requests % 500 == 0:
                progress(self.events)
        self.gateway.flush()
        self.service.flush()

    def _open(self) -> None:
        sealed, feeds = self.auditor.public.seal(self._epoch_seed, disclosure_info(NAME, EPOCH)), self._secrets.feeds
        key = self._secrets.key.encode()
        opening = EpochOpening.at(NAME, Epochs(), NOW).sign(self._keys["is"]).encode()
        told, opened = EpochOpened(key, feeds=feeds), EpochOpened(key, sealed, opening, NOW * 1000, feeds)
        waiting = {"feeds": ["acme:0"], "last": ""}
        self.gateway.add(EventType.EPOCH_OPENED, told.payload, self._random, **decode_header(told.header), **waiting)
        header = {**decode_header(opened.header), "held": int(request.HELD)}
        self.service.add(EventType.EPOCH_OPENED, opened.payload, self._random, **header)
        self._citizens = [self._link(f"person-{i}") for i in range(self.people)]
        for citizen in self._citizens:
            self._consent(citizen)

    def _link(self, user_id: str) -> Citizen:
        keys, user, epoch_key = self._keys, SigningKey(self._random(32)), SigningKey(self._random(32))
        evidence = OpeningKey(self._random(96))
        enrolment = Enrolment.issue(user_id, user.public, NOW - 30 * 86_400, keys["ea"])
        link = Link.make(user_id, user, epoch_key, EPOCH, NAME, keys["is"].public)
        credential = Credential(
            epoch_key.public, EPOCH, NAME, (EPOCH + 1) * 86_400, True, evidence.public.data
        ).issue(keys["is"])  # fmt: skip
        self.seeds[subject_tag(evidence.public.data)] = evidence.seed
        self.gateway.evidence[link.prox_id] = self.service.evidence[link.prox_id] = evidence.public.data
        owner = owner_commitment(user_id, owner_salt(evidence.seed)).hex()
        enrolled = EnrolledPayload(enrolment.encode(), link.prox_id).encode()
        self.gateway.add(EventType.ENROLLED, enrolled, self._random)
        payload = LinkedPayload(enrolment.encode(), link.encode(), credential.encode(), self._random(32)).encode()
        self.gateway.add(EventType.LINKED, payload, self._random, epoch=EPOCH, owner=owner)
        self._user_keys[user_id] = user
        return Citizen(user_id, epoch_key, link.prox_id, credential)

    def _sanitized(self, signed: SignedMessage, block: str) -> SignedMessage:
        return resign(signed, encode_text(block), self._keys["is"], lambda new: None)

    def _consent(self, citizen: Citizen) -> None:
        to = (NAME, EPOCH, self._keys["is"].public)
        message = consent.make("everything", 1, citizen.user_id, citizen.key, to, NOW * 1000, self._random)
        vector = ConsentVector(citizen.user_id, NAME, EPOCH, 1, "everything", _GRANTS, self._terms.digest)
        signed = vector.sign(self._user_keys[citizen.user_id])
        sanitized = self._sanitized(message, citizen.prox_id)
        payload = ConsentPayload(signed.encode(), SanitizedPair(message, sanitized).encode(), b"").encode()
        said = {"epoch": EPOCH, "message": message.session_id.hex(), "version": 1}
        self.gateway.add(EventType.CONSENT, payload, self._random, **said, phase="received")
        ack = consent.make_ack(sanitized, citizen.prox_id, self._keys["ms"], NOW * 1000, self._random)
        payload = encode(sanitized.encode(), ack.encode(), citizen.credential.encode())
        self.service.add(EventType.CONSENT, payload, self._random, epoch=EPOCH, version=1)
        restored = SanitizedPair(ack, self._sanitized(ack, citizen.user_id)).encode()
        self.gateway.add(
            EventType.CONSENT, ConsentPayload(b"", b"", restored).encode(), self._random, **said, phase="acknowledged"
        )

    def _ask(self, citizen: Citizen) -> None:
        self.requests += 1
        node = f"node-{self._source.randrange(self.nodes)}"
        text = f"{node} question {self.requests}"
        utterance = Utterance.new(text, NOW * 1000, random=self._random)
        route = Route(NAME, EPOCH, self._keys["is"].public, self._opening.public)
        asked = request.make(utterance, citizen.user_id, citizen.key, route, NOW * 1000, self._random)
        sanitized, session = self._sanitized(asked, citizen.prox_id), asked.session_id.hex()
        self.gateway.add(
            EventType.FORWARDED, SanitizedPair(asked, sanitized).encode(), self._random, session=session
        )  # fmt: skip
        payload = ReceivedPayload(sanitized.encode(), citizen.credential.digest).encode()
        self.service.add(EventType.RECEIVED, payload, self._random, session=session)
        answer = response.make(
            "It is so.", utterance.response_key, asked, citizen.prox_id, self._keys["ms"], NOW * 1000,
            self.service.head, self._random,
        )  # fmt: skip
        pair = SanitizedPair(answer, self._sanitized(answer, citizen.user_id)).encode()
        self.gateway.add(EventType.ANSWERED, pair, self._random, session=session)
        self._buffer(citizen, utterance, (node, text), asked.session_id)

    def _buffer(self, citizen: Citizen, utterance: Utterance, said: tuple[str, str], session: bytes) -> None:
        node, text = said
        payload = BufferedPayload(
            session, citizen.prox_id, True, "acme:user_id", "general", utterance.opening, "day-1", ("Home", node),
            (text, node), NOW * 1000,
        )  # fmt: skip
        item = Record(
            session, citizen.prox_id, True, "general|acme:user_id", payload.path,
            tuple(unit_digest(t) for t in payload.texts), float(NOW),
        )  # fmt: skip
        result = self._pool.submit(item)
        if result.outcome.value != "buffered":
            fields = {"epoch": EPOCH, "reason": result.outcome.value, "session": session.hex(), "time": str(NOW)}
            self.service.add(EventType.SUPPRESSED, b"", self._random, **fields)
            return
        self.service.add(EventType.BUFFERED, payload.encode(), self._random, epoch=EPOCH, session=session.hex())
        self._buffered[session] = payload
        for group in result.groups:
            self._release(group)

    def _release(self, group: Group) -> None:
        release = self._integrator.release(group, self._secrets, self._buffered)
        fields = {"audience": group.audience, "epoch": EPOCH, "group": group.number, "node": list(group.node)}
        self.service.add(EventType.RELEASED, release.payload.encode(), self._random, raised=group.raised, **fields)
        for owner in release.payload.records:
            del self._buffered[owner]
        self._deliver(group, tuple(SignedMessage.decode(r) for r in release.parties[0].records))

    def _deliver(self, group: Group, records: tuple[SignedMessage, ...]) -> None:
        by_prox = {citizen.prox_id: citizen.user_id for citizen in self._citizens}
        people = [by_prox[signed.message.user_block.decode()] for signed in records]
        restored = self._releases.restore(
            ReleasedGroup(group.number, "acme", EPOCH, group.number, records),
            [Person(user, user, EPOCH) for user in people], self._terms.naming, Namer("acme", "user_id"),
        )  # fmt: skip
        digest = group_digest([pair.sanitized for pair in restored.pairs])
        ack = DeliveryAck("acme", NAME, EPOCH, group.number, digest).sign(self._keys["acme"])
        payload = DeliveredPayload(ack.encode(), tuple(pair.encode() for pair in restored.pairs)).encode()
        fields = {"epoch": EPOCH, "group": group.number, "party": "acme"}
        self.gateway.add(EventType.SENT, b"", self._random, **fields)
        self.gateway.add(EventType.DELIVERED, payload, self._random, **fields, v=2)
