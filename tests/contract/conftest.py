"""Every backend of the contract: memory, and the store on each server program present (the carried one always)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proxid.anonymise.mix.settings import Settings
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.store.resolve import Server, available_servers
from tests.support.pools import Backend, MemoryBackend, Store, StoreBackend

SERVERS = available_servers()
MakeBackend = Callable[[Settings], Backend]


def server_id(server: Server | None) -> str:
    return "memory" if server is None else f"{server.origin}-{server.program.name}"


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Store]]:
    """Connects to a server of a program; one runs for all tests, started when it is first asked for."""
    found: dict[Path, Store] = {}
    with ExitStack() as stack:

        def connect_to(program: Path) -> Store:
            if program not in found:
                folder = tmp_path_factory.mktemp("store")
                server = stack.enter_context(EmbeddedStore(folder, appendfsync="everysec", program=program))
                found[program] = store = Store(server.url)
                stack.callback(store.close)
            return found[program]

        yield connect_to


@pytest.fixture(params=SERVERS, ids=server_id)
def store(request: Any, stores: Callable[[Path], Store]) -> Store:
    """A store on each server program."""
    return stores(request.param.program)


@pytest.fixture(params=[None, *SERVERS], ids=server_id)
def make_pool(request: Any, stores: Callable[[Path], Store]) -> MakeBackend:
    """Makes an empty pool of given settings."""
    if request.param is None:
        return MemoryBackend
    return partial(StoreBackend, stores(request.param.program))
