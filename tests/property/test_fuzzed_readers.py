"""Whatever a file holds, its reader takes it or refuses it by a typed error that says where, and quotes nothing of it.

A longer run, or another: PROXID_FUZZ_ROUNDS, PROXID_FUZZ_SEED.
"""

import contextlib
import io
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from proxid.errors import STEPS, ProxidError, next_of
from tests.support.fuzzing.files import change
from tests.support.fuzzing.readers import BY_COMMAND, READERS, Reader
from tests.support.fuzzing.stock import PLANTED, make_stock

SEED: Final = int(os.environ.get("PROXID_FUZZ_SEED", "1"))
ROUNDS: Final = int(os.environ.get("PROXID_FUZZ_ROUNDS", "150"))
SECONDS: Final = 20
"""That a reader may take for a small file, on a busy machine."""


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_stock(tmp_path_factory.mktemp("stock") / "stock")


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raises AssertionError if the block takes longer."""

    def late(*_: object) -> None:
        raise AssertionError(f"it takes more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read(reader: Reader, folder: Path) -> Any:
    """What a reader gives, without what it prints."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), within(SECONDS):
        return reader.read(folder)


def wrong(error: ProxidError, reader: Reader, name: str) -> str | None:
    """What a refusal lacks or has too much of."""
    text = f"{error.rule} {error.where}"
    if PLANTED in text:
        return "it quotes the file"
    if not any(word and word in text for word in (name, reader.says, Path(name).parent.name)):
        return f"it says nowhere where: {error.rule[:80]}"
    if error.where != BY_COMMAND and not (error.code in STEPS and next_of(error.code, error.next)):
        return "it says nothing to try"
    return None


def damaged(reader: Reader, stock: Path, folder: Path, source: Random) -> tuple[str, str]:
    """A copy of what a reader needs, one file of it changed: which, and how."""
    shutil.copytree(stock / reader.root, folder)
    path = source.choice(sorted(path for glob in reader.files for path in folder.glob(glob) if path.is_file()))
    data, said = change(source, path.read_bytes())
    path.write_bytes(data)
    return path.relative_to(folder).as_posix(), said


def tried(reader: Reader, stock: Path, folder: Path, number: int, good: Any) -> str | None:
    """What is wrong with what becomes of one damaged file; None if nothing is."""
    source = Random(f"{SEED}/{number}/{reader.name}")
    name, said = damaged(reader, stock, folder, source)
    found: str | None = None
    try:
        given = read(reader, folder)
        if reader.whole and given != good:
            found = "it is taken, and differs"
    except ProxidError as error:
        found = wrong(error, reader, Path(name).name)
    except Exception as error:
        trace, at = error.__traceback__, ""
        while trace is not None:
            code = trace.tb_frame.f_code
            at = f"{Path(code.co_filename).name}:{trace.tb_lineno}" if "/tests/" not in code.co_filename else at
            trace = trace.tb_next
        found = f"{type(error).__name__} {str(error)[:300]} at {at}"
    return found and f"{found}\n    round {number}, {name}: {said}"


@pytest.mark.parametrize("rounds", [pytest.param(3, id="few"), pytest.param(ROUNDS, id="many", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_file_is_refused_by_a_rule_that_says_where(stock: Path, tmp_path: Path, rounds: int) -> None:
    found: dict[str, str] = {}
    for at, reader in enumerate(READERS):
        folder = tmp_path / f"{at}"
        shutil.copytree(stock / reader.root, folder)
        good = read(reader, folder) if reader.whole else None
        shutil.rmtree(folder)
        for number in range(rounds):
            if (reason := tried(reader, stock, folder, number, good)) is not None:
                found.setdefault(f"{reader.name}: {reason.partition(chr(10))[0]}", f"{reader.name}: {reason}")
            shutil.rmtree(folder)
    again = f"PROXID_FUZZ_SEED={SEED} PROXID_FUZZ_ROUNDS={rounds} pytest {Path(__file__).name}"
    assert not found, "\n".join([again, *found.values()])
