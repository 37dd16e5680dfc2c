"""Pages lead somewhere: links, anchors, paths of the tree, targets of make; decisions and versions are numbered."""

import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"(?<![\w/.<-])(?:[\w-]+/)+[\w-]+\.(?:py|md|lua|proto|j2)\b")
TARGET = re.compile(r"`make ([a-z-]+)(?=[ `])|^make ([a-z-]+)", re.M)
RELEASE = re.compile(r"^## (\S+)(?: - \d{4}-\d\d-\d\d)?$", re.M)


@cache
def pages() -> dict[str, str]:
    """Every page in Markdown."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    return {path: (ROOT / path).read_text("utf-8") for path in listed.stdout.split() if (ROOT / path).is_file()}


def anchors(text: str) -> set[str]:
    """What may stand behind `#`: headings in small letters, without marks, joined by dashes."""
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


def leads(page: str, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    return target.exists() and (not anchor or anchor in anchors(target.read_text("utf-8")))


def test_every_link_leads_somewhere() -> None:
    links = [(page, link) for page, text in pages().items() for link in LINK.findall(text) if "://" not in link]
    assert len(links) > 50
    assert [found for found in links if not leads(*found)] == []


def test_every_path_of_the_tree_is_there() -> None:
    tops = {entry.name for entry in ROOT.iterdir() if entry.is_dir()}
    cited = {(page, path) for page, text in pages().items() for path in PATH.findall(text)}
    assert len(cited) > 20
    assert {(page, path) for page, path in cited if path.split("/")[0] in tops and not (ROOT / path).exists()} == set()


def test_every_target_of_make_is_there() -> None:
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = {(page, "".join(found)) for page, text in pages().items() for found in TARGET.findall(text)}
    assert {(page, target) for page, target in named if target not in rules} == set()


def test_decisions_have_numbers_of_their_own() -> None:
    decisions = {path.name[:4]: path for path in (ROOT / "docs/adr").glob("*.md")}
    assert Counter(path.name[:4] for path in (ROOT / "docs/adr").glob("*.md")).most_common(1)[0][1] == 1
    assert [n for n, path in decisions.items() if not path.read_text("utf-8").startswith(f"# {n}: ")] == []


def test_the_changelog_begins_with_the_version_that_is_built() -> None:
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    released = RELEASE.findall(pages()["CHANGELOG.md"])
    assert version and released[:2] == ["Unreleased", version[1]]
