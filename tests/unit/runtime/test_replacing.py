"""Small files are put in their places whole: whoever is killed, or writes the same at once, on any file system."""

import errno
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from proxid.errors import OutputError
from proxid.runtime.provision.keyfile import replace_private, write_private
from proxid.runtime.provision.public import write_public
from proxid.runtime.whole import replace_whole

KEPT = b"first"


def public(path: Path, data: bytes) -> None:
    write_public(path, data.decode("ascii"))


WAYS: list[Callable[[Path, bytes], object]] = [write_private, replace_private, replace_whole, public]
ways = pytest.mark.parametrize("write", WAYS, ids=lambda way: way.__name__)


def killed_while(call: str, act: Callable[[], object]) -> None:
    """Do something in a process of its own that is killed as it makes a system call."""
    child = os.fork()
    if child == 0:  # nothing of pytest's runs on in it

        def end(*_: object, **__: object) -> NoReturn:
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError

        setattr(os, call, end)
        act()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0  # it does not make that call


@ways
@pytest.mark.parametrize("call", ["write", "fsync", "link", "unlink", "rename", "replace"])
def test_what_killed_processes_left_is_gone_with_the_next(
    tmp_path: Path, write: Callable[[Path, bytes], object], call: str
) -> None:
    path = tmp_path / "signing.key"
    for _ in range(2):
        killed_while(call, lambda: write(path, KEPT))
        assert not path.exists() or path.read_bytes() == KEPT
    write(path, KEPT)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == KEPT and path.stat().st_nlink == 1


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP], ids=["as FAT says", "as others say"])
def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def link(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    assert write_private(tmp_path / "tls.key", KEPT) and not write_private(tmp_path / "tls.key", b"second")
    assert (tmp_path / "tls.key").read_bytes() == KEPT


@ways
def test_of_two_who_write_at_once_both_know_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], object]
) -> None:
    path, both, sync = tmp_path / "signing.key", threading.Barrier(2), os.fsync
    said: dict[bytes, object] = {}

    def together(descriptor: int) -> None:
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)  # if the other may be here, too
        sync(descriptor)

    def one(data: bytes) -> None:
        try:
            said[data] = write(path, data)
        except (OutputError, OSError) as error:
            said[data] = error

    monkeypatch.setattr(os, "fsync", together)
    threads = [threading.Thread(target=one, args=(data,)) for data in (b"a" * 9, b"b" * 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = path.read_bytes()
    assert found in said and not [what for what in said.values() if isinstance(what, Exception)]
    if write is write_private:
        assert {data for data, made in said.items() if made} == {found}
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@ways
def test_what_has_a_name_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], object]
) -> None:
    """A power cut must not leave the name of a file whose bytes were never written."""
    path, synced, sync = tmp_path / "signing.key", list[tuple[bool, bool]](), os.fsync

    def noted(descriptor: int) -> None:
        synced.append((os.path.isdir(f"/proc/self/fd/{descriptor}"), path.exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write(path, KEPT)
    assert synced == [(False, False), (True, True)]


@ways
def test_what_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], object]
) -> None:
    path = tmp_path / "signing.key"
    if write is not write_private:
        write(path, KEPT)
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}

    def full(descriptor: int) -> NoReturn:
        os.ftruncate(descriptor, 3)
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises((OutputError, OSError)):
        write(path, b"second")
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_nobody_else_chooses_where_a_key_is_written_or_who_reads_it(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "signing.key", tmp_path / "elsewhere"
    elsewhere.write_bytes(b"mine")
    (tmp_path / "signing.key.new").symlink_to(elsewhere)
    with pytest.raises(OutputError, match=r"signing\.key"):
        write_private(path, KEPT)
    assert elsewhere.read_bytes() == b"mine" and not path.exists()
    (tmp_path / "signing.key.new").unlink()
    (tmp_path / "signing.key.new").touch(0o644)
    assert write_private(path, KEPT) and path.stat().st_mode & 0o777 == 0o600
