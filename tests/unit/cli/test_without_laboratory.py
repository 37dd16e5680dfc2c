"""A base installation names the laboratory's commands, and each says what is missing."""

import subprocess
import sys

import pytest

from proxid.cli.main import LABORATORY

BASE = """
import sys
from importlib.machinery import PathFinder

class Base(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = {"numba", "pyarrow", "opendp", "matplotlib", "scipy", "ibis", "duckdb", "sqlglot", "snowballstemmer"}
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Base
from proxid.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def base(*words: str) -> subprocess.CompletedProcess[str]:
    """The command where no package of the laboratory is found."""
    return subprocess.run([sys.executable, "-c", BASE, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [(), ("--help",), ("in.tsv", "out.tsv", "--method", "kbuffer")])
def test_a_command_of_the_laboratory_says_what_it_needs(words: tuple[str, ...]) -> None:
    done = base("release", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "proxid: release needs the laboratory: make lab\n"


def test_help_lists_them_under_a_heading_of_their_own() -> None:
    done = base("--help")
    commands, _, laboratory = done.stdout.partition("\nLaboratory:\n")
    rows = dict(line.strip().split(maxsplit=1) for line in laboratory.strip().splitlines())
    assert done.returncode == 0 and "  demo " in commands
    assert rows == dict.fromkeys(sorted(LABORATORY), "needs the laboratory: make lab")
