"""The gateway opens an epoch under MS's keys alone: one of each party of the epoch's policy (DESIGN 9)."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.epochs import OpenEpochs
from gateway.identity import Screener
from gateway.store.library import GatewayStore
from gateway.upstream import MainServiceClient
from proxid.crypto.identity import EpochKey
from proxid.errors import RecordMismatchError
from proxid.evidence.events import EpochOpened
from proxid.runtime.provision.policies import Held
from tests.support.scene import AUTHORITY, MS, SCREENER, SERVICE
from tests.unit.auditor.test_epochs import EPOCHS
from tests.unit.auditor.test_policies import EPOCH, feed_keys, terms

POLICY = terms(("acme", "globex"))


class Store:
    """Keeps what was opened."""

    def __init__(self) -> None:
        self.parties: dict[str, bytes] | None = None

    async def epoch(self, epoch: int) -> None:
        return None

    async def open_epoch(self, epoch: int, opened: EpochOpened, *rest: Any) -> bytes:
        self.parties = rest[-1]
        return opened.key


class Watch:
    def require(self) -> None:
        """The clock is right."""


def opening(*feeds: bytes) -> tuple[OpenEpochs, Store]:
    """A gateway that holds the policy; MS answers with these feed keys."""
    key = EpochKey(MS, EPOCH, b"k" * 1216, b"s" * 32, POLICY.digest).issue(SERVICE).encode()

    async def epoch(*_: Any) -> tuple[EpochOpened, bytes]:
        return EpochOpened(key, feeds=feeds), POLICY.digest

    store = Store()
    screener = Screener(
        MS, SCREENER, SERVICE.public, AUTHORITY.public, bytes(32), {}, EPOCHS, clock=lambda: EPOCHS.start(EPOCH) + 1.0,
        watch=cast(Any, Watch()),
    )  # fmt: skip
    folder = SimpleNamespace(go_by=lambda epoch, digest: None)
    held = SimpleNamespace(usable=lambda epoch: [POLICY.digest], terms=lambda digest: POLICY, folder=folder)
    upstream = SimpleNamespace(epoch=epoch)
    opens = OpenEpochs(
        screener, cast(GatewayStore, store), cast(MainServiceClient, upstream), cast(Held, held)
    )  # fmt: skip
    return opens, store


@pytest.mark.parametrize("parties", [("acme",), ("acme", "globex", "nobody"), ("acme", "acme", "globex"), ("nobody",)])
async def test_an_epoch_whose_feed_keys_are_not_its_partys_is_not_opened(parties: tuple[str, ...]) -> None:
    opens, store = opening(*feed_keys(*parties))
    with pytest.raises(RecordMismatchError):
        await opens.current()
    assert store.parties is None


@pytest.mark.parametrize("parties", [("globex", "acme"), ()])
async def test_one_with_a_key_of_each_party_or_of_before_there_were_any_is(parties: tuple[str, ...]) -> None:
    feeds = feed_keys(*parties)
    opens, store = opening(*feeds)
    assert (await opens.current()).epoch == EPOCH
    assert store.parties == {"acme": b"", "globex": b""} | dict(zip(parties, feeds, strict=True))
