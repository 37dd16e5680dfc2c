"""Who imports whom (docs/architecture.md): the contracts of .importlinter, and what a process really loads."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTIES = ("gateway", "main_service", "auditor", "device_sim")
WINGS = ("proxid", *PARTIES, "bench")
LABORATORY = {
    "numba",
    "llvmlite",
    "pyarrow",
    "opendp",
    "matplotlib",
    "scipy",
    "duckdb",
    "ibis",
    "sqlglot",
    "snowballstemmer",
}


BY_WHAT_THEY_NEED = (
    ("gateway.server", "proxid.clients.subscriber.command"),
    ("device_sim.commands", "proxid.cli.main"),
    ("auditor.audit", "auditor.commands.audit", "main_service.server", "proxid.clients.household.household",
     "proxid.cli.serve", "proxid.cli.demo"),
)  # fmt: skip
"""What is imported: who never learns what was said, who reads no request, and all who run without the laboratory."""


@pytest.fixture(scope="module")
def loaded() -> list[set[str]]:
    """Top-level packages, and modules of proxid, in a process that has imported the first of these, then those too."""
    steps = [", ".join(modules) for modules in BY_WHAT_THEY_NEED]
    code = "import json, sys\n" + "\n".join(f"import {step}; print(json.dumps(sorted(sys.modules)))" for step in steps)
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [
        {name.partition(".")[0] for name in modules} | {name for name in modules if name.startswith("proxid.")}
        for modules in map(json.loads, said.splitlines())
    ]


def test_contracts_hold() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_each_process_loads_only_what_it_needs(loaded: list[set[str]]) -> None:
    never_learns, reads_none, runs = loaded
    assert "gateway" in never_learns and "device_sim" in reads_none and "main_service" in runs
    assert "h3" not in never_learns
    assert reads_none & {"spacy", "thinc", "en_proxid"} == set()
    assert runs & LABORATORY == set()
    assert {name for name in runs if name.startswith("proxid.lab")} == set()


def test_base_needs_no_package_of_the_classifier() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert not [line for line in project["dependencies"] if line.startswith(("spacy", "thinc"))]


def test_an_agent_comes_with_what_tells_home_commands() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(extras["classify"]) <= set(extras["agent"])


def test_only_known_names_are_installed() -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    assert setup["packages"]["find"]["include"] == ["proxid*", *(f"{name}*" for name in PARTIES)]


def test_base_needs_no_package_of_the_laboratory() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    heads = {line.partition(">")[0].partition("[")[0].lower() for line in project["dependencies"]}
    assert heads & (LABORATORY | {"ibis-framework"}) == set()


def test_no_cycle_of_modules_even_with_imports_within_functions() -> None:
    graph = grimp.build_graph(*WINGS, exclude_type_checking_imports=True)
    edges = {m: graph.find_modules_directly_imported_by(m) for m in graph.modules}
    assert list(_cycles(edges)) == []


def _cycles(edges: dict[str, set[str]]) -> Iterator[set[str]]:
    """Strongly connected components of more than one module, packages' own `__init__` apart (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(module: str) -> Iterator[set[str]]:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in sorted(edges[module]):
            if other not in number:
                yield from visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], number[other])
        if low[module] == number[module]:
            at = stack.index(module)
            component, stack[at:] = set(stack[at:]), []
            if len(component) > 1:
                yield component

    for module in sorted(edges):
        if module not in number:
            yield from visit(module)
