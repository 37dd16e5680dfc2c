"""The commands and keys that docs/operations.md shows exist, and its defaults are the code's."""

import re
import shlex
from pathlib import Path

import click
import pytest

from auditor.config import AuditorConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.cli.main import proxid
from proxid.lab.release.registry import load_method

TEXT = (Path(__file__).resolve().parents[3] / "docs/operations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", TEXT, re.S)
LINES = [line for block in BLOCKS for line in block.splitlines() if line.startswith("proxid ")]
KEYS = re.findall(r"^\| (`[^|]+`) \| [^|]+ \| [^|]*(?:services|gateway|main service)[^|]* \|", TEXT, re.M)


def test_document_has_examples() -> None:
    assert len(LINES) >= 15
    assert len(KEYS) >= 15


@pytest.mark.parametrize("line", LINES)
def test_command_and_options_exist(line: str) -> None:
    verify_taken(shlex.split(line, comments=True)[1:])


def verify_taken(words: list[str]) -> None:
    """Assert that there is such a command with such options."""
    command: click.Command = proxid
    context = click.Context(proxid)
    while isinstance(command, click.Group):
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found
    method = words[words.index("--method") + 1] if "--method" in words else "kbuffer"
    own = load_method(method).options if command.name == "release" else ()
    known = {name for parameter in command.params for name in parameter.opts}
    known |= {f"--{option.key.replace('_', '-')}" for option in own}
    assert {word for word in words if word.startswith("-")} <= known


def fields(model: type) -> set[str]:
    names = set()
    for name, field in model.model_fields.items():  # type: ignore[attr-defined]
        names.add(name)
        if hasattr(field.annotation, "model_fields"):
            names |= {f"{name}.{inner}" for inner in field.annotation.model_fields}
    return names


def test_keys_exist() -> None:
    known = fields(GatewayConfig) | fields(MainServiceConfig) | fields(AuditorConfig)
    for cell in KEYS:
        names = re.findall(r"`([^`]+)`", cell)
        section = names[0].partition(".")[0]
        full = [section + name if name.startswith(".") else name for name in names]
        assert set(full) <= known, cell
