"""Services compute in one thread unless their operator says otherwise."""

import os
import subprocess
import sys

import pytest

from proxid.runtime.process.threads import one_blas_thread

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS")


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_one_thread() -> None:
    one_blas_thread()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


@pytest.mark.parametrize("name", NAMES)
def test_what_the_operator_said_stays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "3")
    one_blas_thread()
    assert {other: os.environ.get(other) for other in NAMES} == dict.fromkeys(NAMES) | {name: "3"}


def test_numpy_is_not_loaded_before_a_command_says_so() -> None:
    code = "import proxid.cli.serve, proxid.cli.classify, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
