"""Form `split`: what a real store takes, gives up and shows is what the pool in memory says (DESIGN 8.11)."""

import random
from typing import Any

import pytest

from main_service.jobs.splitting import Splitting
from main_service.store.counts import CountStore
from main_service.store.library import library
from main_service.store.pool import PoolStore
from main_service.store.split import SplitStore
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving
from proxid.evidence.events import BufferedPayload, EventType, decode_header
from proxid.evidence.splitting import split_record
from tests.support.pools import Store, always

SETTINGS = SplitSettings(k=2, margin=0, level=2, min_text_users=2, bucket_s=3600, epoch_s=14_400)
SEED = bytes(range(32))
AUDIENCES = ("acme:user_id", "acme:user_id,globex:alias")
EPOCH = 7


def payload(session: bytes, person: str, audience: str, path: tuple[str, ...]) -> BufferedPayload:
    return BufferedPayload(session, person, True, audience, "general", b"", "test", path, ("text",), EPOCH * 14_400_000)


class Both:
    """The store and the pool, side by side; the store's releases are kept instead of sealed."""

    def __init__(self, store: Store) -> None:
        self.client = store.client
        self.functions = library(self.client)
        self.split = SplitStore(self.functions)
        self.mix = PoolStore(self.functions, always(Settings()))
        self.pool = SplitPool(SETTINGS, Draws(SEED))
        self.events = 0

    async def open(self) -> None:
        await self.client.flushall()
        await self.functions.load()

    async def submit(self, number: int, person: str, audience: str, path: tuple[str, ...]) -> None:
        said = payload(b"%064d" % number, person, audience, path)
        await self.client.zadd("{ms}:pending", {said.session: number})
        version = int(await self.client.hget(f"{{ms}}:c:{person}", "v") or 0)
        assert await self.split.log(EPOCH, version, said, SETTINGS) == "buffered"
        assert self.pool.submit(split_record(said))

    async def withdraw(self, person: str) -> None:
        """From all audiences but the first."""
        kept = f"general|{AUDIENCES[0]}"
        await self.mix_consent(person, kept)
        waited, left = self.pool.withdraw(person, {f"general|{AUDIENCES[1]}"})
        said = [fields for kind, fields in await self.new_events() if kind == "WITHDRAWN"]
        assert {(f["session"], "left" in f) for f in said} == {
            *((one.hex(), False) for one in waited), *((one.hex(), True) for one in left)
        }  # fmt: skip

    async def mix_consent(self, person: str, kept: str) -> None:
        version = int(await self.client.hget(f"{{ms}}:c:{person}", "v") or 0) + 1
        await self.mix._call(
            "ms_consent", EPOCH, kept, prox_id=person, message=random.randbytes(8), bundle="bundle", version=version,
            acknowledgement=b"ack", ttl=1000, salt=bytes(16), header=b"{}", payload=b"",
        )  # fmt: skip

    async def new_events(self) -> list[tuple[str, dict[str, Any]]]:
        rows = await self.client.xrange("{ms}:events", min=f"({self.events}-0")
        self.events += len(rows)
        return [(f[b"t"].decode(), dict(decode_header(f[b"h"]))) for _, f in rows]

    async def taken(self, tick: int) -> dict[str, set[tuple[bytes, tuple[str, ...]]]]:
        """What a tick took in the store."""
        found: dict[str, set[tuple[bytes, tuple[str, ...]]]] = {}
        for lot in (await self.split.state(EPOCH, SETTINGS)).lots:
            if lot.tick == tick:
                ids = [one.id async for held in self.split.held(EPOCH, lot) for one in held]
                found.setdefault(lot.audience, set()).update((one, lot.node) for one in ids)
        return found

    async def tick(self, tick: int) -> None:
        assert await self.split.tick(EPOCH, tick, SETTINGS, 0.0)
        said = self.pool.tick(tick)
        assert await self.taken(tick) == {
            audience: {(one.record.id, one.node) for one in leaving} for audience, leaving in said.items()
        }
        assert not await self.split.tick(EPOCH, tick + 1, SETTINGS, 0.0), "a tick under way"
        await self.split.done(EPOCH, tick)
        assert not await self.split.tick(EPOCH, tick, SETTINGS, 0.0), "a tick comes once"


class Kept(Splitting):
    """Works a close out, and keeps what it lets go instead of sealing it."""

    def __init__(self, both: Both) -> None:
        self._store = both.split
        self.gone: dict[str, list[Leaving]] = {}
        self.shown: list[Any] = []

    async def _let_go(self, secrets: Any, settings: Any, tick: int, leaving: Any) -> None:
        self.gone = dict(leaving)

    async def _show(self, secrets: Any, settings: Any, contents: Any, number: int) -> None:
        self.shown.append(contents)


class Secrets:
    """Of the epoch."""

    epoch, seed = EPOCH, SEED

    class terms:
        class anonymiser:
            content = "rounds"


@pytest.mark.parametrize("run", range(4))
def test_the_same_leaves_is_given_up_and_shown(store: Store, run: int) -> None:
    store.run(same(store, run))


async def same(store: Store, run: int) -> None:
    source, both, number = random.Random(run), Both(store), 0
    await both.open()
    for tick in range(1, SETTINGS.ticks + 1):
        for _ in range(60):
            number += 1
            node = source.choice(["a", "b", "c", "d", f"rare{source.randrange(3)}"])
            path = ("top", node, "leaf")[: source.choice([1, 3, 3, 3])]
            await both.submit(number, f"u{source.randrange(6)}", source.choice(AUDIENCES), path)
        assert await CountStore(both.functions, both.client).waiting_general(EPOCH) == 6
        await both.new_events()
        await both.withdraw(f"u{source.randrange(6)}")
        if tick < SETTINGS.ticks:
            await both.tick(tick)
    assert await both.split.close(EPOCH, SETTINGS, 0.0)
    assert not await both.split.close(EPOCH, SETTINGS, 0.0)
    await both.new_events()
    expected = dict(both.pool.close())
    for _ in range(2):  # as after a crash: it comes out the same
        kept = Kept(both)
        await kept._finish(Secrets, SETTINGS)  # type: ignore[arg-type]
        await store.client.hset(f"{{ms}}:split:{EPOCH}:state", "busy", SETTINGS.ticks)
        for audience, close in expected.items():
            assert set(kept.gone[audience]) == set(close.leaving)
        assert kept.shown == [close.contents for close in expected.values()]
    said = [f for kind, f in await both.new_events() if kind == EventType.SUPPRESSED.value]
    gone = {(one.record.id.hex(), one.reason.value) for close in expected.values() for one in close.suppressed}
    assert len(said) == len(gone), "each once"
    assert {(f["session"], f["reason"]) for f in said} == gone


def test_nothing_enters_or_is_taken_back_after_the_close_and_all_of_it_goes(store: Store) -> None:
    store.run(closed(store))


async def closed(store: Store) -> None:
    both = Both(store)
    await both.open()
    for i in range(3):
        await both.submit(i, f"u{i}", AUDIENCES[1], ("top", "a"))
    await both.split.close(EPOCH, SETTINGS, 0.0)
    await both.mix_consent("u0", "")
    said = payload(b"%064d" % 9, "u9", AUDIENCES[1], ("top", "a"))
    await store.client.zadd("{ms}:pending", {said.session: 1})
    assert await both.split.log(EPOCH, 0, said, SETTINGS) == "epoch_over"
    assert "WITHDRAWN" not in [kind for kind, _ in await both.new_events()]
    assert not await both.split.forget(EPOCH), "the close is under way"
    await both.split.done(EPOCH, SETTINGS.ticks)
    while not await both.split.forget(EPOCH):
        pass
    keys = [key.decode() async for key in store.client.scan_iter(match="{ms}:split:*")]
    assert keys == [f"{{ms}}:split:{EPOCH}:state"]
