"""An epoch is opened once, and closed when both sides' clocks say so (DESIGN 4.3). Clocks are moved; nothing sleeps."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from main_service.epochs import EpochKeys
from main_service.identity import EpochSecrets, Service
from main_service.jobs.release import Release
from main_service.jobs.splitting import Splitting
from main_service.jobs.timekeeping import Timekeeper
from main_service.openings import Openings
from main_service.store.epochs import EpochStore
from main_service.store.library import PREFIX, library
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import ClockError, CredentialError, EpochError, SignatureInvalidError
from proxid.protocol.epochs import Epochs
from proxid.protocol.opening import EpochOpening
from proxid.runtime.clock import ALONE_SECONDS, Clocks, ClockWatch
from proxid.runtime.store.clock import HeardTime
from tests.support.scene import MALLORY, MS, SCREENER, SERVICE, opening_key

DAY = 86_400
TODAY = 20_000
EPOCHS = Epochs(DAY)
HELD = [bytes(32)]


class Documents:
    """One policy document counts in every epoch; of what it says, seconds of grace matter."""

    def __init__(self, grace: float = 300.0) -> None:
        self._terms = SimpleNamespace(epoch_grace=grace, split=None, parties=("acme",))

    folder = SimpleNamespace(go_by=lambda epoch, digest: None)

    def usable(self, epoch: int) -> list[bytes]:
        return HELD

    def terms(self, digest: bytes) -> Any:
        return self._terms


class Nothing:
    """Where nothing waits and nothing is formed."""

    more = False

    def __getattr__(self, name: str) -> Any:
        async def done(*arguments: Any) -> Any:
            return {"unreleased": [], "pending": [], "forget": True}.get(name, self)

        return done


class Day:
    """The main service's epochs, and two clocks that a test moves."""

    def __init__(self, client: Redis, store: EpochStore) -> None:
        self.truth = TODAY * DAY + 3600.0
        self.ours = self.theirs = 0.0
        self.client, self.store = client, store
        self.documents = Documents()
        self.restart()

    def restart(self) -> None:
        """The main service starts anew, with whatever its clock shows."""
        clocks = Clocks(lambda: self.truth + self.ours, lambda: self.truth - TODAY * DAY)
        self.watch = ClockWatch(clocks, 120.0)
        service = Service(
            name=MS, key=SERVICE, screener=SCREENER.public, auditor=opening_key("auditor").public,
            parties=dict.fromkeys(self.documents.terms(b"").parties, opening_key("acme").public), epochs=EPOCHS,
            clock=clocks.wall, watch=self.watch,
        )  # fmt: skip
        self.keys = EpochKeys(service, self.store, cast(Any, self.documents))
        self.openings = Openings(service, self.store, HeardTime(self.client, PREFIX, self.watch))
        nothing: Any = Nothing()
        release = Release(nothing, nothing, self.store, self.keys, nothing)
        splitting = Splitting(service, nothing, self.keys, nothing)
        self.timekeeper = Timekeeper(service, (nothing, nothing, nothing, self.store), self.keys, release, splitting)

    def word(self, key: SigningKey = SCREENER) -> bytes:
        return EpochOpening.at(MS, EPOCHS, self.truth + self.theirs).sign(key).encode()

    async def tell(self) -> None:
        await self.openings.tell(self.word(), bytes(16))

    async def open(self) -> EpochSecrets:
        """As IS asks for the key of its current epoch."""
        opening = EpochOpening.decode(self.word())
        return await self.keys.open(await self.openings.take(self.word(), opening.epoch), HELD)

    async def close(self) -> list[int]:
        """What is open after a tick."""
        await self.timekeeper.close_epochs()
        return await self.store.open_epochs()

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        found: Any = await self.client.xrange("{ms}:events")
        return [(fields[b"t"].decode(), json.loads(fields[b"h"])) for _, fields in found]


@pytest.fixture
async def day(client: Redis) -> Day:
    functions = library(client)
    await functions.load()
    return Day(client, EpochStore(functions))


async def test_epoch_is_closed_once_both_sides_say_so(day: Day) -> None:
    await day.open()
    day.truth = (TODAY + 1) * DAY + 200.0
    await day.tell()
    assert await day.close() == [TODAY]
    day.truth += 100.0
    assert await day.close() == []
    (kind, header) = (await day.events())[-1]
    assert (kind, header["v"], header["believed"]) == ("EPOCH_CLOSED", 2, False)
    assert EpochOpening.decode(bytes.fromhex(header["opening"])).epoch == TODAY + 1
    assert header["time"] == day.truth * 1000


async def test_epoch_does_not_begin_on_a_word_that_has_become_old(day: Day) -> None:
    """As when the machine sleeps in between: the log would say that the clocks differed."""
    opening = await day.openings.take(day.word(), TODAY)
    day.truth += 3240.0
    with pytest.raises(ClockError):
        await day.keys.open(opening, HELD)
    assert (await day.open()).epoch == TODAY


async def test_epoch_is_closed_after_the_grace_that_its_own_document_says(day: Day) -> None:
    day.documents = Documents(grace=900.0)
    day.restart()
    await day.open()
    day.truth = (TODAY + 1) * DAY + 301.0
    await day.tell()
    assert await day.close() == [TODAY]
    assert (await day.open()).epoch == TODAY + 1  # it does not wait for what is still served
    day.truth += 600.0
    assert await day.close() == [TODAY + 1]


async def test_own_clock_alone_closes_nothing(day: Day) -> None:
    """A day ahead for six seconds, heard or not heard of."""
    await day.open()
    day.ours = float(DAY)
    assert await day.close() == [TODAY]
    with pytest.raises(ClockError):
        await day.open()
    day.truth += 6.0
    assert await day.close() == [TODAY]
    day.ours = 0.0
    assert (await day.open()).epoch == TODAY
    assert await day.close() == [TODAY]


async def test_restart_with_a_wrong_clock_closes_nothing(day: Day) -> None:
    await day.open()
    day.ours = float(DAY)
    day.restart()
    assert await day.close() == [TODAY]
    with pytest.raises(ClockError):
        await day.open()
    day.truth += ALONE_SECONDS
    await day.tell()
    assert await day.close() == [TODAY]
    day.ours = 0.0
    await day.tell()
    assert (await day.open()).epoch == TODAY


async def test_gateways_clock_closes_nothing_either(day: Day) -> None:
    await day.open()
    day.theirs = float(DAY)
    await day.tell()
    assert await day.close() == [TODAY]
    with pytest.raises(ClockError):
        await day.open()
    day.theirs = 0.0
    assert (await day.open()).epoch == TODAY
    assert (await day.store.opening())[0] == TODAY


@pytest.mark.parametrize("restarted", [False, True])
async def test_without_the_gateway_an_hour_of_steady_time_is_believed(day: Day, restarted: bool) -> None:
    await day.open()
    if restarted:
        day.truth += 24 * 3600.0
        day.restart()
        assert await day.close() == [TODAY]
        day.truth += 3600.0
    else:
        day.truth += 26 * 3600.0
    assert await day.close() == []
    (kind, header) = (await day.events())[-1]
    assert (kind, header["opening"], header["believed"]) == ("EPOCH_CLOSED", "", True)
    day.truth = (TODAY + 2) * DAY + 1.0
    assert (await day.open()).epoch == TODAY + 2


async def test_closed_epoch_is_not_opened_again(day: Day) -> None:
    """Restarted with a wrong clock, and nobody there to say so for an hour: then the day is over for good."""
    await day.open()
    day.ours = float(DAY)
    day.restart()
    day.truth += ALONE_SECONDS
    assert await day.close() == []
    day.ours = 0.0
    day.restart()
    with pytest.raises(EpochError):
        await day.open()
    day.truth += DAY
    assert (await day.open()).epoch == TODAY + 1
    assert [kind for kind, _ in await day.events()] == ["EPOCH_OPENED", "EPOCH_CLOSED", "EPOCH_OPENED"]


async def test_nothing_is_opened_before_a_closed_epoch(day: Day) -> None:
    day.ours = day.theirs = float(DAY)
    day.restart()
    assert (await day.open()).epoch == TODAY + 1
    day.truth += 2 * DAY
    await day.tell()
    assert await day.close() == []
    day.truth, day.ours, day.theirs = TODAY * DAY + 3600.0, 0.0, 0.0
    day.restart()
    with pytest.raises(EpochError):
        await day.open()


async def test_no_epoch_begins_beside_one_that_is_long_over(day: Day) -> None:
    """A service that was away for days closes what is over first."""
    await day.open()
    day.truth += 3 * DAY
    day.restart()
    opening = asyncio.create_task(day.open())
    while (await day.store.opening())[0] == TODAY:  # noqa: ASYNC110 - nothing signals it
        await asyncio.sleep(0.01)
    assert await day.close() == []
    assert (await opening).epoch == TODAY + 3


@pytest.mark.parametrize("off", [-2.0, 2.0, 119.0, -119.0])
async def test_clocks_within_the_skew_agree_at_an_epochs_start(day: Day, off: float) -> None:
    await day.open()
    day.ours = off
    day.truth = (TODAY + 1) * DAY + 0.5
    assert (await day.open()).epoch == TODAY + 1
    assert (await day.keys.current(TODAY)).epoch == TODAY


@pytest.mark.parametrize(
    "change", [{"epoch": TODAY + 1}, {"start": TODAY * DAY + 1}, {"time_ms": TODAY * DAY * 1000 - 1}]
)
async def test_word_that_contradicts_itself_is_not_kept(day: Day, change: dict[str, int]) -> None:
    fields = {"service": MS, "epoch": TODAY, "start": TODAY * DAY, "time_ms": int(day.truth * 1000)} | change
    word = EpochOpening(**fields).sign(SCREENER)  # type: ignore[arg-type]
    with pytest.raises((EpochError, ClockError)):
        await day.openings.take(word.encode(), word.epoch)
    assert await day.store.opening() == (-1, b"")


async def test_word_of_somebody_else_is_not_heard(day: Day) -> None:
    day.theirs = float(DAY)
    with pytest.raises(SignatureInvalidError):
        await day.openings.tell(day.word(MALLORY), bytes(16))
    other = EpochOpening.at("another", EPOCHS, day.truth).sign(SCREENER)
    with pytest.raises(CredentialError):
        await day.openings.take(other.encode(), TODAY)
    assert day.watch.doubt() is None


async def test_time_is_told_whatever_it_is(day: Day) -> None:
    day.ours = float(DAY)
    told = await day.openings.tell(b"", b"n" * 16)
    told.verify(SERVICE.public, MS, b"n" * 16)
    assert told.time_ms == (day.truth + DAY) * 1000
    with pytest.raises(CredentialError):
        told.verify(SERVICE.public, MS, b"m" * 16)
