"""Reading a configuration: TOML, then the environment, then validation (DESIGN 16).

The environment wins over the file. A message names the key and the rule; the value may be a secret in the wrong
place and is never repeated.
"""

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from proxid.errors import ConfigError

_folder: ContextVar[Path | None] = ContextVar("proxid_config_folder", default=None)
_POSITION = re.compile(r"line (\d+)")
_MAX_REPORTED = 5
_SEPARATOR = "__"


class Section(BaseModel):
    """A part of a configuration: immutable, no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, hide_input_in_errors=True)


class Config(BaseSettings):
    """A whole configuration; subclasses set `env_prefix`."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_nested_delimiter=_SEPARATOR, hide_input_in_errors=True, populate_by_name=True
    )
    role: ClassVar[str] = ""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment first, then what the file says; nothing else."""
        return env_settings, init_settings


C = TypeVar("C", bound=Config)
S = TypeVar("S", bound=BaseModel)


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; raises ConfigError naming the file and line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"{path.name}: the file cannot be read") from None
    except tomllib.TOMLDecodeError as error:
        position = _POSITION.search(str(error))
        line = f" at line {position[1]}" if position else ""
        raise ConfigError(f"{path.name}: not valid TOML{line}") from None


def load(model: type[C], path: Path) -> C:
    """A validated configuration.

    Args:
        model: its class. path: the TOML file; relative paths in it start from its folder.

    Raises:
        ConfigError: unreadable, or a key is unknown, missing or out of range, in the file or in the environment.
    """
    data = read_toml(path)
    _reject_unknown_variables(model)
    with relative_to(path.parent):
        try:
            return model(**data)
        except ValidationError as error:
            raise ConfigError(f"{path.name}: {explain(error)}") from None
        except SettingsError:
            raise ConfigError("environment: a variable for a section must be a JSON object") from None


def load_section(model: type[S], path: Path) -> S:
    """A section that stands in a file of its own; raises ConfigError."""
    try:
        return model.model_validate(read_toml(path))
    except ValidationError as error:
        raise ConfigError(f"{path.name}: {explain(error)}") from None


def explain(error: ValidationError) -> str:
    """Key paths and rules of a failed validation, without any value."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(str(part) for part in item['loc']) or '(whole)'}: {item['msg']}" for item in found]
    more = f"; and {len(lines) - _MAX_REPORTED} more" if len(lines) > _MAX_REPORTED else ""
    return "; ".join(lines[:_MAX_REPORTED]) + more


@contextmanager
def relative_to(folder: Path) -> Iterator[None]:
    """Within the block, relative paths of a configuration start from `folder`."""
    token = _folder.set(folder.resolve())
    try:
        yield
    finally:
        _folder.reset(token)


def resolve(path: Path) -> Path:
    """An absolute path, relative ones taken from the configuration's folder."""
    return (_folder.get() or Path.cwd()) / path.expanduser()


def _reject_unknown_variables(model: type[Config]) -> None:
    prefix = str(model.model_config.get("env_prefix", "")).upper()
    known = {name.upper() for name in model.model_fields}
    for variable in os.environ:
        name = variable.upper()
        if prefix and name.startswith(prefix) and name[len(prefix) :].split(_SEPARATOR)[0] not in known:
            raise ConfigError(f"environment variable {variable}: no such key")
