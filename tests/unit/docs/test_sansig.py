"""docs/sanitizable-signatures.md: its example runs, the tests that it names exist, its examples are the vectors'."""

import re
from pathlib import Path

from tests.support import scene

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "sanitizable-signatures.md").read_text(encoding="utf-8")


def test_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(example, "sanitizable-signatures.md", "exec"), {})


def test_named_tests_exist() -> None:
    named = re.findall(r"`(tests/\S+?\.py)::(\w+)`", TEXT)
    assert len(named) > 15
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), name


def test_the_pseudonym_shown_is_the_vectors() -> None:
    assert f"`{scene.PROX_ID}`" in TEXT
