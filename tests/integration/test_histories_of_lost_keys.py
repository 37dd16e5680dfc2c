"""Histories in which people lose epoch keys as well: what is asked and chosen under the next one accuses nobody."""

from collections.abc import Iterator

import pytest
from hypothesis.stateful import rule

from tests.integration.test_histories import HISTORIES, SEED
from tests.support.history_machine import Histories, one_house, person, run


class Losing(Histories):
    """The same, and one rule more: a key is lost once in an epoch, since the next one lasts until its end."""

    def __init__(self) -> None:
        super().__init__()
        self._lost: set[tuple[str, str]] = set()

    @rule(person=person)
    def loses_an_epoch_key(self, person: str) -> None:
        if person not in self.history.living:
            return
        folder = self.house.device._users[person]._folder
        keys = {(person, path.name): path for path in folder.glob("epoch-*.key")}
        if self._lost.isdisjoint(keys):
            self._lost |= keys.keys()
            for path in keys.values():
                path.unlink()
            self._do(self.history.reconnect())


@pytest.fixture(params=["pairs", "split"])
def machine(request: pytest.FixtureRequest) -> Iterator[type[Losing]]:
    with one_house(request.param) as found:
        yield type("Losing", (Losing, found), {})


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_many_histories_in_which_keys_are_lost(machine: type[Losing]) -> None:
    run(machine, max(1, HISTORIES // 20), SEED)
