"""Random people and what they do, straight on both services' stores: each step of it is the services' own."""

import base64
import hashlib
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final, cast

from redis.asyncio import Redis

from gateway.names import name_forms
from gateway.store.library import GatewayStore
from gateway.store.links import Registration
from gateway.store.rights import Exercised, PutNotice, RightsStore
from gateway.store.steps import PREFIX
from main_service.store.library import KEYS, library
from main_service.store.library import PREFIX as SERVICE
from main_service.store.places import PlaceLedger
from main_service.store.pool import PoolStore
from main_service.store.slots import SlotStore
from main_service.store.subjects import SubjectStore
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record
from proxid.anonymise.slotted.types import SlotRecord, SlotSettings
from proxid.anonymise.split.draws import Draws
from proxid.crypto.hpke import OpeningKey
from proxid.errors import ProxidError
from proxid.evidence.events import BufferedPayload, ReleasedPayload, encode_header
from proxid.evidence.ratchet import subject_tag
from proxid.protocol.epochs import Epochs
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store.functions import named
from tests.support.pools import always

PARTIES: Final = ("acme", "globex")
EPOCHS: Final = (7, 8)
_KINDS: Final = ("general|user_id", "location|alias")
_SLOTS: Final = SlotSettings(k=2, margin=1, widths=(10.0, 20.0, 40.0), depth=3)
_MIX: Final = Settings(k=2, margin=0, level=1, min_text_users=1)
_LENGTH: Final = 1_000
_TTL: Final = 10_000


class Person:
    """Somebody, and the marks of whatever is theirs alone."""

    def __init__(self, name: str, source: random.Random) -> None:
        self.name = name
        self.tag = source.randbytes(16).hex()
        self.marks = {self.tag.encode()}
        self.prox: dict[int, str] = {}
        self.keys: dict[int, str] = {}
        self.subjects: dict[int, str] = {}
        self.version = dict.fromkeys(EPOCHS, 0)
        self.chosen = 0
        self.objects = False
        self.user_key = b""

    def mark(self, *values: bytes | str) -> None:
        self.marks |= {value.encode() if isinstance(value, str) else value for value in values}


class Scene:
    """Both stores on one server, and its people."""

    def __init__(self, client: Redis, names: list[str], seed: int) -> None:
        self.source = random.Random(seed)
        self.client = client
        self.people = [Person(name, self.source) for name in names]
        self.gateway = GatewayStore(client, self.source.randbytes)
        self.rights = RightsStore(self.gateway, self.source.randbytes)
        self.functions = library(client)
        self.pool = PoolStore(self.functions, always(_MIX), self.source.randbytes)
        self.slots = SlotStore(
            self.functions, always({"location": _SLOTS, "command": _SLOTS}), always(Draws(bytes(32))), Epochs(_LENGTH)
        )
        self.subjects = SubjectStore(self.functions, self.source.randbytes)
        self.places = PlaceLedger(self.functions)
        self.releases = 0

    async def open(self, epochs: Sequence[int] = EPOCHS[-1:]) -> None:
        """Empty the server and let everybody register for epochs."""
        await self.client.flushall()
        await self.gateway.open()
        await self.functions.load()
        for person in self.people:
            for epoch in epochs:
                await self.link(person, epoch)

    def _hex(self) -> str:
        return self.source.randbytes(16).hex()

    async def link(self, person: Person, epoch: int) -> None:
        """Register an epoch key, under an enrolment of its own; a name that looks like another's is one from before."""
        if epoch in person.prox:
            return
        evidence, key = OpeningKey(self.source.randbytes(96)), self._hex()
        prox = "px1" + base64.b32encode(self.source.randbytes(20)).decode().lower()
        row = Registration(person.name, person.tag, epoch, prox, True, b"link", b"credential")
        person.user_key, others = b"pk%d" % epoch, [b"pk%d" % other for other in person.prox]
        for forms in (name_forms(b"s" * 32, person.name), []):
            try:
                payloads = (b"enrolled", b"linked")
                await self.gateway.link(key, row, person.user_key, _TTL, payloads, evidence, forms, replaces=others)
                break
            except ProxidError:
                continue
        person.prox[epoch], person.keys[epoch] = prox, key
        person.subjects[epoch] = subject_tag(evidence.public.data).hex()
        person.mark(prox, key, person.subjects[epoch])
        person.mark(*(evidence_key_name(prefix, prox) for prefix in (PREFIX, SERVICE)))

    async def act(self, act: str, who: int, what: int) -> None:
        """One step; `who` picks a person, `what` the details."""
        person = self.people[who % len(self.people)]
        steps: dict[str, Callable[[Person, int], Awaitable[None]]] = {
            "link": lambda p, n: self.link(p, EPOCHS[n % 2]), "consent": self._consent, "ask": self._ask,
            "append": self._append, "take": self._take, "object": self._object, "receive": self._receive,
            "pool": self._pool, "slot": self._slot, "place": self._place,
        }  # fmt: skip
        await steps[act](person, what)

    async def _consent(self, person: Person, what: int) -> None:
        epoch = EPOCHS[what % 2]
        if epoch not in person.prox or person.objects or what % 7 == 0:
            return
        person.version[epoch] += 1
        version, grants = person.version[epoch], [f"{party}|{kind}" for party in PARTIES for kind in _KINDS]
        await self.gateway.consent(person.tag, epoch, version, b"v%d" % version, grants, _TTL)
        if epoch == EPOCHS[-1]:
            message: Any = SimpleNamespace(session_id=self.source.randbytes(64))
            person.chosen += 1
            await self.pool.consent(
                epoch, person.prox[epoch], message, ("everything", person.chosen), (b"ack", b"payload"), ["a1"], _TTL
            )  # fmt: skip

    async def _ask(self, person: Person, what: int) -> None:
        session, nonce = self.source.randbytes(64), self._hex()
        person.mark(session, nonce)
        await self.gateway.forward(person.keys[EPOCHS[-1]], nonce, session, b"pair", 60.0, (300, 1000))
        if what % 3:
            await self.gateway.answered(session, b"answer", b"pair", 300, person.tag)
        else:
            await self.gateway.unreached(session)

    async def _append(self, person: Person, what: int) -> None:
        members = [person, *(p for i, p in enumerate(self.people) if what >> i & 1 and p is not person)]
        party, kind, epoch = PARTIES[what % 2], _KINDS[what // 2 % 2], EPOCHS[-1]
        rows = []
        for member in members:
            alias = self._hex()
            rows.append((member.tag, alias if kind.endswith("alias") else member.name))
            member.mark(alias)
        aliases = [b"aliased"] * len(members) if kind.endswith("alias") else []
        self.releases += 1
        await self.gateway.append(
            party, (epoch, self.releases), kind, b"records", self.releases, rows, aliases, _TTL
        )  # fmt: skip

    async def _take(self, _: Person, what: int) -> None:
        party = PARTIES[what % 2]
        for entry in await self.gateway.take(party, 0, what % 4):
            if self.source.random() < 0.6:
                await self.gateway.delivered(party, entry, b"ack", _TTL)

    async def _object(self, person: Person, what: int) -> None:
        if what % 4:
            return
        person.objects = True
        request = Exercised(self.source.randbytes(32), b"{}", _TTL)
        await self.rights.object(person.tag, b"request", b"enrolment", request.digest)
        await self.rights.settle(person.tag, "objected")
        await self.rights.objected(person.tag, True, request, b"payload", [self.notice(PARTIES[0], "object")])

    async def _receive(self, person: Person, what: int) -> None:
        await self._received(person, self.source.randbytes(64), bool(what % 3))

    async def _received(self, person: Person, session: bytes, logged: bool = True) -> None:
        prox, nonce = person.prox[EPOCHS[-1]], self._hex()
        person.mark(session, nonce)
        header = encode_header(session=session.hex())
        await self.functions.call(
            "ms_put_credential", KEYS,
            *named(
                key_tag=person.keys[EPOCHS[-1]], credential=prox.encode(), epoch=EPOCHS[-1], ttl=_TTL,
                evidence_name=evidence_key_name(SERVICE, prox), evidence_key=b"evidence", prox_id=prox,
            ),
        )  # fmt: skip
        await self.functions.call(
            "ms_receive", KEYS,
            *named(
                nonce_tag=nonce, session=session, epoch=EPOCHS[-1], ttl=_TTL, prox_id=prox, answer=b"answer",
                pending=b"blob", salt=b"salt", header=header, payload=b"payload", suppressed_salt=b"salt",
                withheld="" if logged else "unsure",
            ),
        )  # fmt: skip

    def _payload(self, person: Person, session: bytes, kind: str, path: tuple[str, ...]) -> BufferedPayload:
        return BufferedPayload(
            session, person.prox[EPOCHS[-1]], True, "a1", kind, b"opening", "test", path, ("text",), 8_000_000
        )  # fmt: skip

    async def _pool(self, person: Person, what: int) -> None:
        epoch, session, path = EPOCHS[-1], self.source.randbytes(64), (f"node{what % 3}", "leaf")
        person.mark(session)
        unit = hashlib.sha256(b"%d" % (what % 5)).digest()[:16]
        record = Record(session, person.prox[epoch], True, "a1", path, (unit,), 8_000.0)
        await self.pool.submit(epoch, record, self._payload(person, session, "general", path))
        for formed in await self.pool.unreleased(epoch):
            released = ReleasedPayload((), (), (), ())
            await self.pool.release(epoch, formed.group, released, [(party, (b"record",)) for party in PARTIES])

    async def _slot(self, person: Person, what: int) -> None:
        session, kind, path = self.source.randbytes(64), ("location", "command")[what % 2], ("a", "b", f"c{what % 3}")
        await self._received(person, session)
        record = SlotRecord(session, person.prox[EPOCHS[-1]], True, "a1", path, "intent", 8_000.0 + what, 0.0)
        await self.slots.log(EPOCHS[-1], person.chosen, record, self._payload(person, session, kind, path))

    async def _place(self, person: Person, what: int) -> None:
        await self.places.report(EPOCHS[-1], person.prox[EPOCHS[-1]], b"place%d" % (what % 3), _TTL, 2)

    def notice(self, party: str, kind: str) -> PutNotice:
        """A notice to a party."""
        return PutNotice(self.source.randbytes(32), party, kind, b"sealed", 1)

    async def erase(self, person: Person) -> dict[str, Any]:
        """Carry an erasure out at both stores; ERASED's header."""
        await self.rights.begin_erasure(person.tag, b"request", b"enrolment", person.user_key)
        await self.rights.settle(person.tag, "erased")
        newest = max(person.prox)
        await self.pool.erase(newest, person.prox[newest])
        await self.subjects.erased(person.prox[newest], bytes.fromhex(person.subjects[newest]))
        job = await self.rights.erasure(person.tag)
        header = encode_header(v=2, dropped=[], removed=[], feeds=[], last="")
        notices = [self.notice(recipient.party, "erase") for recipient in job.recipients]
        await self.rights.finish_erasure(
            person.tag, b"receipt", (header, b"payload"), PARTIES, job.subjects, notices
        )  # fmt: skip
        await self.rights.end_erasure(person.tag)
        self.people.remove(person)
        events = await self.client.xrevrange(f"{PREFIX}:events", count=1)
        return cast("dict[str, Any]", json.loads(events[0][1][b"h"]))
