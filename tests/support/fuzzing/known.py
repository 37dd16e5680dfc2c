"""Which functions of the product read files: from its source, and from what ran."""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).parents[3]
PACKAGES: Final = ("proxid", "gateway", "main_service", "auditor", "device_sim")
_NAMES: Final = {
    "read_text", "read_bytes", "load_json", "file_digest", "open_regular", "regular_bytes", "regular_text",
}  # fmt: skip
"""Methods and functions that read, whatever they are called on."""
_CALLS: Final = {
    "tomllib.loads", "json.loads", "json.load", "gzip.open", "gzip.decompress", "gzip.GzipFile", "zipfile.ZipFile",
    "pq.ParquetFile", "pq.read_table", "pq.read_schema", "pq.read_metadata", "np.load", "np.loadtxt", "csv.reader",
    "csv.read_csv", "sqlite3.connect", "ijson.items", "os.pread", "mmap.mmap",
}  # fmt: skip
_WRITING: Final = frozenset("wax+")


def readers() -> Iterator[str]:
    """`file.py:function` of each function whose source reads a file that is no part of the package."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("proxid/wire/"):
                yield from (f"{name}:{inner}" for inner in _reading(ast.parse(path.read_text("utf-8")), ""))


def _reading(tree: ast.AST, within: str) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(_reads(call) for call in _own_calls(node)):
                yield f"{within}{node.name}"
            yield from _reading(node, f"{within}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _reading(node, f"{within}{node.name}.")
        else:
            yield from _reading(node, within)


def _own_calls(function: ast.AST) -> Iterator[ast.Call]:
    """Calls in a function, not those in functions within it."""
    for node in ast.iter_child_nodes(function):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Call):
            yield node
        yield from _own_calls(node)


def _reads(call: ast.Call) -> bool:
    said = ast.unparse(call.func)
    if "files(" in said:
        return False  # of the package itself
    name = said.rpartition(".")[2]
    if name in _NAMES or said in _CALLS:
        return True
    # Path.open: its first argument is a mode, or there is none; a key's, a store's or a link's are others.
    modes = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    opened = isinstance(call.func, ast.Attribute) and name == "open" and bool(modes) and len(call.args) == 1
    return opened and not _WRITING & set(modes[0])


def ran(work: Callable[[], Any]) -> set[str]:
    """`file.py:function` of each function of the product that ran."""
    found = set[CodeType]()

    def seen(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    root = f"{ROOT}/"
    return {f"{c.co_filename.removeprefix(root)}:{c.co_qualname}" for c in found if c.co_filename.startswith(root)}
