"""Files are read through `proxid.regular`, which waits for no pipe and reads no device."""

import ast
import re
from typing import Final

from tests.support.fuzzing.known import PACKAGES
from tests.support.source import trees

OWN: Final = {
    "proxid/cli/demo/__init__.py", "proxid/cli/demo/run.py", "proxid/lab/commands/study/output.py",
    "proxid/lab/studies/thesis/processes.py", "proxid/runtime/process/child.py",
    "proxid/classify/components/trained.py", "proxid/classify/corpora.py", "proxid/classify/pipeline.py",
}  # fmt: skip
"""What it wrote itself a moment ago, and files of an installed package."""


def _reads(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    first = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else ""
    reads = call.func.attr in {"read_bytes", "read_text"} or (call.func.attr == "open" and first in ("r", "rb"))
    return reads and not re.search(r"files[( ]", ast.unparse(call.func))  # text is made of few: it takes long


def test_files_are_read_where_nothing_else_is_taken_for_one() -> None:
    found = {
        name for name, tree in trees().items()
        if name.startswith(tuple(f"{package}/" for package in PACKAGES))
        and any(isinstance(node, ast.Call) and _reads(node) for node in ast.walk(tree))
    }  # fmt: skip
    assert found == OWN
