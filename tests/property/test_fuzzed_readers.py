"""Whatever a file holds, its reader takes it or refuses it by a typed error that says where, and quotes nothing of it.

A longer run, or another: PROXID_FUZZ_ROUNDS, PROXID_FUZZ_SEED.
"""

import contextlib
import io
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from proxid.errors import STEPS, ConfigError, ProxidError, next_of
from proxid.runtime.config import load
from tests.support.chosen import again_of
from tests.support.chosen import number as number_of
from tests.support.fuzzing.files import change
from tests.support.fuzzing.found import FOUND, Found
from tests.support.fuzzing.known import ran, readers
from tests.support.fuzzing.places import PLACES, misplace
from tests.support.fuzzing.readers import READERS, Reader, variables
from tests.support.fuzzing.reading import BY_COMMAND
from tests.support.fuzzing.stock import PLANTED, make_stock

SEED: Final = number_of("PROXID_FUZZ_SEED", 1)
ROUNDS: Final = number_of("PROXID_FUZZ_ROUNDS", 150)
FEW: Final = 40
"""Readers of which every run of the tests damages a file."""
MISPLACED: Final = 1 / 6
"""Of the damages: there is no file in its place, but something else."""
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
    where = (Path(name).name, Path(name).parent.name, reader.says)
    if not (error.where or "where: /" in text or any(word and word in text for word in where)):
        return f"it says nowhere where: {error.rule[:80]}"
    if error.where != BY_COMMAND and not (error.code in STEPS and next_of(error.code, error.next)):
        return "it says nothing to try"
    return None


def damaged(reader: Reader, stock: Path, folder: Path, source: Random) -> tuple[str, str]:
    """A copy of what a reader needs, one file of it changed: which, and how."""
    shutil.copytree(stock / reader.root, folder)
    path = source.choice(sorted(path for glob in reader.files for path in folder.glob(glob) if path.is_file()))
    if source.random() < MISPLACED:
        said = misplace(source, path, pipes=not reader.streams)
    else:
        data, said = change(source, path.read_bytes())
        path.write_bytes(data)
    return path.relative_to(folder).as_posix(), said


def tried(reader: Reader, stock: Path, folder: Path, number: int, good: Any, ended: Counter[str]) -> str | None:
    """What is wrong with what becomes of one damaged file; None if nothing is. Counts in `ended` what that was."""
    source = Random(f"{SEED}/{number}/{reader.name}")
    name, said = damaged(reader, stock, folder, source)
    found = outcome(reader, folder, name, good, ended)
    return found and f"{found}\n    round {number}, {name}: {said}"


def outcome(reader: Reader, folder: Path, name: str, good: Any, ended: Counter[str]) -> str | None:
    """What is wrong with how a file of this name is taken; None if nothing is."""
    found: str | None = None
    try:
        given = read(reader, folder)
        ended["read"] += 1
        if reader.whole and given != good:
            found = "it is taken, and differs"
    except ProxidError as error:
        ended["refused"] += 1
        found = wrong(error, reader, name)
    except Exception as error:
        trace, at = error.__traceback__, ""
        while trace is not None:
            code = trace.tb_frame.f_code
            at = f"{Path(code.co_filename).name}:{trace.tb_lineno}" if "/tests/" not in code.co_filename else at
            trace = trace.tb_next
        found = f"{type(error).__name__} {str(error)[:300]} at {at}"
    return found


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_file_is_refused_by_a_rule_that_says_where(stock: Path, tmp_path: Path, whole: bool) -> None:
    found, ended = dict[str, str](), Counter[str]()
    chosen = READERS if whole else Random(0).sample(READERS, FEW)
    for at, reader in enumerate(chosen):
        folder = tmp_path / f"{at}"
        shutil.copytree(stock / reader.root, folder)
        good = read(reader, folder) if reader.whole else None
        shutil.rmtree(folder)
        for number in range(ROUNDS if whole else 1):
            if (reason := tried(reader, stock, folder, number, good, ended)) is not None:
                found.setdefault(f"{reader.name}: {reason.partition(chr(10))[0]}", f"{reader.name}: {reason}")
            shutil.rmtree(folder)
    again = f"PROXID_FUZZ_SEED={SEED} PROXID_FUZZ_ROUNDS={ROUNDS} python -m pytest {again_of(__file__, whole)}"
    assert not found, "\n".join([again, *found.values()])
    assert ended["refused"] and ended["read"], "what is damaged is all refused, or nothing of it"


@pytest.mark.parametrize("one", FOUND, ids=lambda one: f"{one.reader}: {one.file}")
@pytest.mark.filterwarnings("ignore")
def test_what_was_once_taken_badly_is_refused(stock: Path, tmp_path: Path, one: Found) -> None:
    (reader,) = (reader for reader in READERS if reader.name == one.reader)
    folder, ended = tmp_path / "it", Counter[str]()
    shutil.copytree(stock / reader.root, folder)
    good = read(reader, folder) if reader.whole else None
    path = next(folder.glob(one.file))
    if isinstance(one.change, str):
        PLACES[one.change](path)
    else:
        path.write_bytes(one.change(path.read_bytes()))
    assert outcome(reader, folder, path.relative_to(folder).as_posix(), good, ended) is None


VARIABLES: Final = (
    "", PLANTED, "-1", "1e999", "nan", "inf", "0", " 1 ", "1_000", "9" * 5_000, "[", "[" * 5_000, '{"a":' * 3_000, "{}",
    "[]", "null", "true", "\udcff", f"x\udcff{PLANTED}", "\ud7ff", "é" * 300, "/dev/zero", "/", "~nobody/x", "../" * 50,
    '{"ca": 5}', '{"parties": {"a": 1}}', '[{"fingerprint": 1}]', '"\\ud800"', '{"\\ud800": 1}', "\u0661",
)  # fmt: skip


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["few", "many"])
def test_a_variable_of_the_environment_is_taken_or_refused(
    stock: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    source, found = Random(SEED), list[str]()
    for kind, file, variable in variables():
        for value in VARIABLES if whole else source.sample(VARIABLES, 2):
            with monkeypatch.context() as patch:
                patch.setenv(variable, value)
                try:
                    load(kind, stock / "joined" / file)
                except ConfigError as error:
                    if PLANTED in error.rule:
                        found.append(f"{variable}: it is quoted: {value[:40]!r}")
                except Exception as error:
                    found.append(f"{variable}: {type(error).__name__}: {value[:40]!r}")
    assert not found, found


NOT_FUZZED: Final = {
    "what it wrote itself a moment ago, or a process beside it": {
        "proxid/cli/demo/__init__.py:command", "proxid/cli/demo/run.py:_audit", "proxid/cli/report.py:_write",
        "proxid/lab/commands/study/output.py:write_study", "proxid/lab/studies/view.py:_histograms",
        "proxid/lab/studies/view.py:contents_texts", "proxid/runtime/process/child.py:Child.wait_ready",
        "proxid/runtime/store/embedded.py:EmbeddedStore._last_words",
        "proxid/classify/weights.py:to_bytes",
        "proxid/lab/studies/thesis/processes.py:_resident",
    },
    "what a peer said: the fuzzer of calls, tests of that door": {
        "device_sim/commands/rights.py:_exercise", "main_service/responder/upstream.py:_text",
        "proxid/clients/agent/openai_door.py:_body", "proxid/clients/agent/page/deeds.py:Deeds._access",
        "proxid/clients/agent/page/deeds.py:Deeds._status", "proxid/clients/agent/page/deeds.py:Deeds.everything",
        "proxid/clients/household/rights.py:document_of", "proxid/evidence/events/kinds.py:decode_header",
    },
    "of an installed package, whose files pip has the digests of": {
        "device_sim/corpus.py:shipped_events", "proxid/classify/components/trained.py:Trained.from_disk",
        "proxid/classify/corpora.py:read", "proxid/classify/corpora.py:types",
        "proxid/classify/identifiers/gazetteer.py:load", "proxid/classify/identifiers/tables.py:table",
        "proxid/classify/identifiers/tagger.py:_artefact", "proxid/classify/language.py:Language.__init__",
        "proxid/classify/ontology.py:Ontology.iab", "proxid/classify/places.py:load",
        "proxid/clients/household/words/__init__.py:words_in", "proxid/ontology/wordnet.py:load",
    },
    "its bytes alone count, or nothing comes of what it cannot read": {
        "proxid/classify/pipeline.py:_version", "proxid/lab/studies/thesis/plan.py:Source.digest",
        "proxid/runtime/observability/endpoint.py:Facts.collect", "proxid/loglines/head.py:_is_object",
    },
}  # fmt: skip
"""Functions that read, to which no valid file of the stock leads, by the reason why no damaged one is made for them."""


def test_every_function_that_reads_a_file_is_given_damaged_ones(stock: Path, tmp_path: Path) -> None:
    found = set[str]()
    for at, reader in enumerate(READERS):
        folder = tmp_path / f"{at}"
        shutil.copytree(stock / reader.root, folder)
        found |= ran(partial(read, reader, folder))
    assert set(readers()) - found == set().union(*NOT_FUZZED.values())
