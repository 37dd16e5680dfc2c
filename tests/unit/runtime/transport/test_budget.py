"""What one peer may have under way: counted before anything is parsed, and given back whatever happens."""

from contextlib import ExitStack

import pytest

from proxid.errors import OverloadedError
from proxid.runtime.transport.budget import OUTSIDERS, Budget
from proxid.runtime.transport.peers import Peer

HOME, OTHER, GATEWAY = Peer("device", "home"), Peer("device", "other"), Peer("gateway", "gateway")


@pytest.mark.parametrize("kind", ["streams", "calls"])
def test_a_peer_over_its_bound_is_refused_and_nobody_else(kind: str) -> None:
    budget = Budget()

    def place(peer: Peer) -> object:
        return stack.enter_context(budget.stream(peer) if kind == "streams" else budget.call(peer, 10))

    with ExitStack() as stack:
        for _ in range(getattr(OUTSIDERS, kind)):
            place(HOME)
        with pytest.raises(OverloadedError):
            place(Peer("device", "home", ends=1.0))  # another certificate of the same peer
        place(OTHER)
        for _ in range(1000):
            place(GATEWAY)
    assert len(budget) == 0


def test_bytes_count_together_and_what_fails_gives_them_back() -> None:
    budget = Budget()
    with budget.call(HOME, OUTSIDERS.size - 10):
        with pytest.raises(OverloadedError), budget.call(HOME, 11):
            pass
        with pytest.raises(ValueError), budget.call(HOME, 10):
            raise ValueError
        with budget.call(HOME, 10):
            pass
    assert len(budget) == 0
