"""Files are read through `proxid.regular`, which waits for no pipe and reads no device."""

import ast
from typing import Final

from tests.support.fuzzing.known import PACKAGES, ROOT

OWN: Final = {
    "proxid/cli/demo/__init__.py", "proxid/cli/demo/run.py", "proxid/lab/commands/study/output.py",
    "proxid/lab/studies/thesis/processes.py", "proxid/runtime/process/child.py",
    "proxid/classify/components/trained.py", "proxid/classify/corpora.py", "proxid/classify/pipeline.py",
}  # fmt: skip
"""What it wrote itself a moment ago, and files of an installed package."""


def _reads(call: ast.Call) -> bool:
    said = ast.unparse(call.func)
    if "files(" in said or "files " in said or not isinstance(call.func, ast.Attribute):
        return False
    first = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else ""
    return call.func.attr in {"read_bytes", "read_text"} or (call.func.attr == "open" and first in ("r", "rb"))


def test_files_are_read_where_nothing_else_is_taken_for_one() -> None:
    found = set[str]()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            tree = ast.parse(path.read_text("utf-8"))
            if any(isinstance(node, ast.Call) and _reads(node) for node in ast.walk(tree)):
                found.add(name)
    assert found == OWN
