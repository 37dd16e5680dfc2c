"""What only a store must do (DESIGN 8.4.1, 12): survive, release once, keep plaintext no longer than needed."""

import os
import signal
from pathlib import Path

import pytest

from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.pairs import release_pairs
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record
from proxid.errors import InputError
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.store.resolve import Server
from tests.contract.conftest import SERVERS, server_id
from tests.support.pools import Store, StoreBackend, payload_of

SETTINGS = Settings(k=2, margin=0, max_delay_records=None, max_delay_s=None)
SEED = bytes(range(32))


def record(i: int, person: str, text: int | None = None) -> Record:
    units = () if text is None else (bytes([text]) * 16,)
    return Record(b"record-%d" % i, person, True, "general|shop", ("Arts",), units, float(i))


def fill(pool: StoreBackend, people: int = 3) -> None:
    for i in range(people):
        pool.submit(record(i, f"px1{i}", text=i))


class Crashing:
    """A store whose server is killed and started again on the same data."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.server = EmbeddedStore(folder, appendfsync="always", program=server.program)
        self.server.start()
        self.store = Store(self.server.url)

    def crash(self) -> None:
        pid = self.server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        self.store.close()
        self.server.stop()
        self.server.start()
        self.store = Store(self.server.url)

    def stop(self) -> None:
        self.store.close()
        self.server.stop()


@pytest.mark.parametrize("server", SERVERS, ids=server_id)
def test_kill_between_forming_and_releasing_repeats_the_group_and_its_cycle(tmp_path: Path, server: Server) -> None:
    crashing = Crashing(tmp_path, server)
    try:
        pool = StoreBackend(crashing.store, SETTINGS)
        fill(pool, 5)
        (before,) = pool.unreleased()
        crashing.crash()
        pool = StoreBackend(crashing.store, SETTINGS, empty=False)
        (after,) = pool.unreleased()
        assert after == before
        assert release_pairs(after.group, CycleSource(SEED), SETTINGS) == release_pairs(
            before.group, CycleSource(SEED), SETTINGS
        )
        assert pool.submit(record(0, "px10", text=0)).outcome == "duplicate"
        pool.submit(record(5, "px15"))
        first, second = pool.unreleased()
        assert (first, second.group.number) == (before, 2)

        assert pool.release(before.group)
        crashing.crash()
        pool = StoreBackend(crashing.store, SETTINGS, empty=False)
        assert not pool.release(before.group)
        assert [item.group.number for item in pool.unreleased()] == [2]
        assert pool.store.run(pool.store.client.get("{ms}:events:n")) == b"7"  # six BUFFERED, one RELEASED
        assert pool.store.run(pool.store.client.xlen("{ms}:outbox")) == 1
    finally:
        crashing.stop()


def test_a_group_is_released_once_whoever_asks(store: Store) -> None:
    pool = StoreBackend(store, SETTINGS)
    fill(pool)
    (formed,) = pool.unreleased()
    assert [pool.release(formed.group) for _ in range(3)] == [True, False, False]
    assert store.run(store.client.xlen("{ms}:outbox")) == 1


def test_nothing_of_a_record_stays_once_it_left(store: Store) -> None:
    pool = StoreBackend(store, SETTINGS)
    fill(pool)
    pool.submit(record(3, "px13", text=3))
    pool.withdraw("px13")
    (formed,) = pool.unreleased()
    pool.release(formed.group)
    kinds = {key.split(":")[3] for key in pool.keys()}  # noqa: SIM118
    assert kinds == {"state", "aud", "arrivals", "ids", "seasoned", "in", "count", "by"}


def test_forgetting_a_closed_epoch_leaves_that_it_is_closed(store: Store) -> None:
    pool = StoreBackend(store, SETTINGS)
    fill(pool, 4)
    assert not store.run(pool.pool.forget(pool.epoch))
    pool.close()
    assert not store.run(pool.pool.forget(pool.epoch))
    (formed,) = pool.unreleased()
    pool.release(formed.group)
    assert store.run(pool.pool.forget(pool.epoch))
    assert pool.keys() == ["{ms}:pool:7:state"]
    assert store.run(store.client.ttl("{ms}:pool:7:state")) > 86_400
    pool.new_events()
    assert store.run(pool.pool.forget(pool.epoch))
    with pytest.raises(Exception, match="closed"):
        pool.submit(record(9, "px19"))


def test_people_are_not_kept_for_texts_that_enough_issued(store: Store) -> None:
    pool = StoreBackend(store, Settings(k=50, margin=0, min_text_users=2))
    for i in range(40):
        pool.submit(record(i, f"px1{i}", text=1))
    assert len([key for key in pool.keys() if key.startswith("{ms}:pool:7:by:general|shop:")]) == 2  # noqa: SIM118


def test_a_withheld_group_is_given_up_whole(store: Store) -> None:
    pool = StoreBackend(store, SETTINGS)
    fill(pool)
    (formed,) = pool.unreleased()
    pool.new_events()
    store.run(pool.pool.withhold(pool.epoch, formed.group))
    events = pool.new_events()
    assert [(kind, header["reason"]) for kind, header in events] == [("SUPPRESSED", "restriction")] * 3
    assert {bytes.fromhex(header["session"]) for _, header in events} == set(formed.payloads)
    assert not pool.release(formed.group)


def test_digests_have_one_size(store: Store) -> None:
    pool = StoreBackend(store, SETTINGS)
    bad = record(0, "px10")._replace(units=(b"short",))
    with pytest.raises(InputError):
        store.run(pool.pool.submit(pool.epoch, bad, payload_of(bad)))


def test_groups_may_be_large(store: Store) -> None:
    pool = StoreBackend(store, Settings(k=900, margin=0, max_delay_records=None, max_delay_s=None))
    for i in range(901):
        groups = pool.submit(record(i, f"px1{i}")).groups
    assert [len(group.members) for group in groups] == [901]
