"""One code a failure, one status a code (proxid/runtime/transport/status.py)."""

import inspect

from proxid import errors
from proxid.errors import Code, ProxidError
from proxid.runtime.transport.status import LOCAL, TABLE, public_code, public_text, status_of


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
        told = (status_of(error), public_text(error))
        if found.code in LOCAL:
            assert told == TABLE[Code.INTERNAL] and public_code(error) is Code.INTERNAL
        else:
            status, message = TABLE[found.code]
            assert told == (status, f"{message}: {error.rule}") and public_code(error) is found.code


def test_an_error_of_another_kind_tells_a_peer_nothing() -> None:
    error = ValueError("quetzal")
    assert (status_of(error), public_text(error)) == TABLE[Code.INTERNAL] and public_code(error) is Code.INTERNAL
