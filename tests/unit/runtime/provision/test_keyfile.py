"""A key file is there whole or not at all: what is there is never made anew."""

import errno
import os
import stat
from pathlib import Path

import pytest

from proxid.clients.household.state import UserState
from proxid.errors import OutputError
from proxid.runtime.provision.keyfile import SIGNING, create_key, load_signing_key, write_private


class Killed(BaseException):
    """What nothing in the product catches."""


@pytest.mark.parametrize("ends", [OSError(errno.ENOSPC, "no space left"), Killed()])
def test_a_key_that_was_not_written_whole_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: BaseException
) -> None:
    path = tmp_path / "signing.key"

    def broken(descriptor: int) -> None:
        os.ftruncate(descriptor, 3)
        raise ends

    with monkeypatch.context() as patched, pytest.raises((OutputError, Killed)):
        patched.setattr(os, "fsync", broken)
        create_key(path, SIGNING)
    assert not path.exists()
    assert create_key(path, SIGNING)
    assert load_signing_key(path).public
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_what_a_crash_left_of_an_epochs_key_goes_with_the_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Person(UserState):
        def __init__(self) -> None:
            self._folder = tmp_path

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(Killed()))
        patched.setattr(Path, "unlink", lambda *_, **__: None)
        Person().epoch_key(7)
    assert len(list(tmp_path.iterdir())) == 1
    Person().epoch_key(100)
    assert [path.name for path in tmp_path.iterdir()] == ["epoch-100.key"]


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    assert write_private(path, b"first") and not write_private(path, b"second")
    assert path.read_bytes() == b"first" and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
