"""What code, tests and pages cite exists: sections of the design, papers by number; and users are shown neither."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache

from tests.support.source import ROOT, trees

SECTION = re.compile(r"DESIGN (\d+(?:\.\d+)*)")
PAPER = re.compile(r"\b(00\d)(?='s\b| §| ch\.| Alg| Tab| Fig| Def| Theo| step| example| eq\.| states| prints)")
NUMBER = re.compile(r"\bDESIGN\b|(?<![\d.,])00[0-4]\+?(?![\d.%])")


@cache
def texts() -> dict[str, str]:
    """Every text of the repository that may cite."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    kept = [p for p in listed if p.endswith((".py", ".md", ".lua", ".proto", ".toml", ".txt"))]
    return {path: (ROOT / path).read_text("utf-8") for path in kept if (ROOT / path).is_file()}


def sections() -> set[str]:
    """Numbers that docs/design.md gives: its headings, and the bold ones within a chapter."""
    text = texts()["docs/design.md"]
    return set(re.findall(r"^## (\d+)\.", text, re.M)) | set(re.findall(r"^\*\*(\d+(?:\.\d+)+)[ .*]", text, re.M))


def papers() -> set[str]:
    """Numbers that docs/papers.md gives."""
    return set(re.findall(r"^\| (\d{3}) \|", texts()["docs/papers.md"], re.M))


def test_every_cited_section_is_in_the_design() -> None:
    known = sections()
    assert {"4.2", "5.0", "8.4.1", "10.4", "17.1"} <= known
    missing = {(path, cited) for path, text in texts().items() for cited in SECTION.findall(text) if cited not in known}
    assert not missing


def test_every_cited_paper_is_listed() -> None:
    assert papers() == {"000", "001", "002", "003", "004"}
    missing = {
        (path, cited) for path, text in texts().items() for cited in PAPER.findall(text) if cited not in papers()
    }
    assert not missing


def test_users_read_names_and_not_numbers() -> None:
    """Help, messages, reports, manifests: what is no docstring, and commands' docstrings."""
    shown = [
        (path, line, said)
        for path, text in texts().items()
        if path.endswith(".py") and not path.startswith(("tests/", "scripts/", "proxid/wire/")) and NUMBER.search(text)
        for line, said in _said(trees().get(path) or ast.parse(text))
        if NUMBER.search(said)
    ]
    # Digits of spoken numbers and the house numbers' own tables are data.
    assert [s for s in shown if "classify" not in s[0]] == []


def _said(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings that are no statement of their own, and those of commands, which are their help, with their lines."""
    silent, helps = set[int](), set[int]()
    for node in ast.walk(tree):  # a statement before what is in it
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if any("command" in ast.unparse(decorator) for decorator in node.decorator_list):
                helps.update(map(id, node.body))
        elif isinstance(node, ast.Expr):
            if id(node) not in helps:
                silent.add(id(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.lineno, node.value
