"""Files are read through `proxid.regular`, which waits for no pipe; who streams what somebody names says so here."""

import ast
from typing import Final

from tests.support.fuzzing.known import PACKAGES, ROOT

STREAMS: Final = {
    "device_sim/corpus.py", "proxid/cli/classify.py", "proxid/lab/imports/archive.py", "proxid/lab/load.py",
    "proxid/lab/logs/digest.py", "proxid/lab/logs/lines.py", "proxid/lab/studies/thesis/plan.py",
    "proxid/lab/utility/counted/counts.py",
}  # fmt: skip
"""A log, an export, utterances: a pipe is as good."""
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
    assert found == STREAMS | OWN
