"""One code a failure, one status a code (proxid/rpc/status.py)."""

import inspect

from proxid import errors
from proxid.errors import Code, ProxidError
from proxid.rpc.status import LOCAL, TABLE, status_of


def _classes() -> list[type[ProxidError]]:
    found = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, ProxidError)]
    return [c for c in found if c is not ProxidError]


def test_every_code_has_a_status_or_never_crosses_the_wire() -> None:
    assert set(TABLE) | LOCAL == set(Code)
    assert not set(TABLE) & LOCAL


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [c.code for c in _classes()]
    assert len(set(codes)) == len(codes)
    assert set(codes) | {Code.INTERNAL} == set(Code)


def test_a_local_error_tells_a_peer_nothing() -> None:
    for found in _classes():
        error = found(Code.INTERNAL) if found is errors.RefusedError else found("rule")
        status, message = status_of(error)
        assert "rule" not in message
        if found.code in LOCAL:
            assert (status, message) == TABLE[Code.INTERNAL]
