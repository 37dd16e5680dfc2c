"""No file and no function grows out of what one looks through at once; folders do the work of walls, not names."""

import ast
from collections import Counter
from collections.abc import Iterator
from statistics import median

from tests.support.source import modules, trees

FILE, FUNCTION = 330, 65
"""Lines at most."""


def functions() -> Iterator[tuple[str, int]]:
    """Every function, and its lines from `def` to its end."""
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{name}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1


def test_no_file_has_more_lines_than_one_reads_at_once() -> None:
    sizes = {name: len(text.splitlines()) for name, text in modules()}
    assert {name: lines for name, lines in sizes.items() if lines >= FILE} == {}
    assert len(sizes) > 400 and median(sizes.values()) <= 100


def test_no_function_has_more_lines_than_a_screen() -> None:
    sizes = dict(functions())
    assert {name: lines for name, lines in sizes.items() if lines > FUNCTION} == {}
    assert len(sizes) > 3000 and median(sizes.values()) <= 6


def test_every_function_says_what_it_returns() -> None:
    silent = [
        f"{name}:{node.lineno} {node.name}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is None
    ]
    assert silent == []


def test_every_module_says_what_it_is_for() -> None:
    assert [name for name, tree in trees().items() if tree.body and not ast.get_docstring(tree)] == []


def test_no_prefix_of_files_stands_for_a_folder() -> None:
    """Three modules of a folder that begin alike are a folder; the auditor's checks begin with their number."""
    families = Counter(
        (folder, stem.partition("_")[0])
        for folder, _, stem in (name.removesuffix(".py").rpartition("/") for name, _ in modules())
        if not stem.startswith("_")
    )
    assert [key for key, count in families.items() if count > 2 and key[0] != "auditor/checks"] == []
