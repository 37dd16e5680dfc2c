"""Reading a configuration: TOML, then the environment, then validation (DESIGN 16).

The environment wins over the file. A message names the file or variable, the key and what is allowed; the value may
be a secret in the wrong place and is never repeated. A file may say whose it is (`role = "gateway"`).
"""

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from proxid.errors import ConfigError
from proxid.regular import regular_text
from proxid.runtime.config.wording import describe, shown

_folder: ContextVar[Path | None] = ContextVar("proxid_config_folder", default=None)
_POSITION = re.compile(r"line (\d+)")
_DEEP = 64
_KEY = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?<![\w-]){_KEY}(?:\.[ \t]*+{_KEY}){{{_DEEP}}}")
"""A dotted key of tens of thousands of parts would keep the parser busy for minutes."""
_FIELD = re.compile(r'field "(\w+)"')
_MAX_REPORTED = 5
MAX_BYTES = 64 * 1024 * 1024
"""Of a configuration's file; ten thousand parties' keys take 18 MB."""
_UNREADABLE = "see that it is there, under this name, and that you may read it"
_SEPARATOR = "__"


class Section(BaseModel):
    """A part of a configuration: immutable, no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, hide_input_in_errors=True, allow_inf_nan=False)


class Config(BaseSettings):
    """A whole configuration; subclasses set `env_prefix`."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_nested_delimiter=_SEPARATOR,
        hide_input_in_errors=True,
        populate_by_name=True,
        allow_inf_nan=False,
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
    return parse_toml(_text(path), path)


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The tables of a text of TOML; raises ConfigError naming the file that it comes from, and the line."""
    try:
        if any(line.count(".") >= _DEEP and _DEEP_KEY.search(line) for line in text.splitlines()):
            raise RecursionError
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        position = _POSITION.search(str(error))
        line = f" at line {position[1]}" if position else ""
        raise ConfigError(f"{path.name}: not valid TOML{line}").at(str(path)) from None
    except (ValueError, RecursionError):
        # An integer of thousands of digits, a date that no calendar has, brackets in brackets in brackets.
        raise ConfigError(f"{path.name}: a value is too large or nested too deeply").at(str(path)) from None


def _text(path: Path) -> str:
    """What a file holds. A pipe or a device would be waited for, or read, without end; a running service watches it."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(f"{path.name}: not a regular file").at(str(path))
        if status.st_size > MAX_BYTES:
            raise ConfigError(f"{path.name}: larger than {MAX_BYTES} bytes").at(str(path))
        return regular_text(path)
    except UnicodeDecodeError:
        raise ConfigError(f"{path.name}: not UTF-8").at(str(path)) from None
    except (OSError, ValueError):  # a name with a NUL is a ValueError
        raise ConfigError(f"{path.name}: the file cannot be read").at(str(path), _UNREADABLE) from None


def load(model: type[C], path: Path, policy: Path | None = None) -> C:
    """A validated configuration.

    Args:
        model: its class. path: the TOML file; relative paths in it start from its folder.
        policy: file of the policy, instead of what the configuration says.

    Raises:
        ConfigError: unreadable, or a key is unknown, missing or out of range, in the file or in the environment.
    """
    data = read_toml(path)
    if policy is not None:
        data["policy"] = str(policy.resolve())
    _verify_role(model, path, data.pop("role", None))
    _reject_private_keys(path, data)
    _reject_unknown_variables(model)
    with relative_to(path.parent):
        try:
            return model(**data)
        except ValidationError as error:
            raise ConfigError(_explain(model, path, data, error)).at(str(path)) from None
        except SettingsError as error:
            field = _FIELD.search(str(error))
            begin = f"{_prefix(model)}{field[1].upper()}" if field else "environment"
            variable = ", ".join(sorted(name for name in os.environ if name.upper().startswith(begin))) or begin
            raise ConfigError(f"{variable}: a variable for a section must be a JSON object") from None


def load_section(model: type[S], path: Path) -> S:
    """A section that stands in a file of its own; raises ConfigError."""
    return made_section(model, path, read_toml(path))


def made_section(model: type[S], where: Path, said: Mapping[str, Any]) -> S:
    """A section of what is said in a file or a folder; raises ConfigError, which names that."""
    try:
        return model.model_validate(said)
    except ValidationError as error:
        raise ConfigError(f"{where.name}: {explain(model, error)}").at(str(where)) from None


def explain(model: type[BaseModel], error: ValidationError) -> str:
    """Keys and faults of a failed validation, without any value."""
    return _join([describe(model, item) for item in _details(error)])


def _details(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_input=False)


def _join(lines: list[str]) -> str:
    more = f"; and {len(lines) - _MAX_REPORTED} more" if len(lines) > _MAX_REPORTED else ""
    return "; ".join(lines[:_MAX_REPORTED]) + more


def _explain(model: type[Config], path: Path, data: Mapping[str, Any], error: ValidationError) -> str:
    """The same with where each key stands: in the file, in one that the file names, or in the environment."""
    found = _details(error)
    lines = []
    for item in found:
        location = item["loc"]
        variable = _variable(model, location)
        if variable is not None:
            lines.append(f"environment variable {variable}: {describe(model, item, skip=len(location) - 1)}")
            continue
        section = data.get(str(location[0])) if len(location) > 1 else None
        inside = isinstance(section, str)
        file = Path(section).name if isinstance(section, str) else path.name
        lines.append(f"{file}: {describe(model, item, skip=1 if inside else 0)}")
    unknown = any(item["type"] == "extra_forbidden" and len(item["loc"]) == 1 for item in found)
    other = _fitting_role(model, data) if unknown else None
    if other is not None:
        return f"{path.name}: this looks like the configuration of role {other}, not of {model.role}"
    return _join(lines)


def _fitting_role(model: type[Config], data: Mapping[str, Any]) -> str | None:
    """The one other role that knows every key of a file; None if there is none, or several."""
    fitting = {other.role for other in _roles() if other is not model and set(data) <= set(other.model_fields)}
    return fitting.pop() if len(fitting) == 1 else None


def _roles(model: type[Config] = Config) -> Iterator[type[Config]]:
    for known in model.__subclasses__():
        if known.role:
            yield known
        yield from _roles(known)


def _verify_role(model: type[Config], path: Path, role: object) -> None:
    if role is None or role == model.role:
        return
    if role in [known.role for known in _roles()]:
        raise ConfigError(f"{path.name}: this is the configuration of role {role}, not of {model.role}").at(str(path))
    raise ConfigError(f"{path.name}: role must be '{model.role}' here").at(str(path))


def _prefix(model: type[Config]) -> str:
    return str(model.model_config.get("env_prefix", "")).upper()


def _variable(model: type[Config], location: Sequence[int | str]) -> str | None:
    """The environment's variable that a key came from, if it did."""
    names = {name.upper() for name in os.environ}
    for end in range(len(location), 0, -1):
        name = _prefix(model) + _SEPARATOR.join(str(part).upper() for part in location[:end])
        if name in names:
            return name
    return None


@contextmanager
def relative_to(folder: Path) -> Iterator[None]:
    """Within the block, relative paths of a configuration start from `folder`."""
    token = _folder.set(folder.resolve())
    try:
        yield
    finally:
        _folder.reset(token)


def resolve(path: Path) -> Path:
    """An absolute path, relative ones taken from the configuration's folder; raises ValueError if it can be none."""
    if "\0" in str(path):
        raise ValueError("a path holds no NUL")
    try:
        return (_folder.get() or Path.cwd()) / path.expanduser()
    except RuntimeError:
        raise ValueError("a path that begins with ~ is of a user who has no home here") from None


def _reject_private_keys(path: Path, data: Mapping[str, Any]) -> None:
    """The settings library takes names with an underscore in front as orders to itself: other files to read, say."""
    for key in data:
        if key.startswith("_"):
            raise ConfigError(f"{path.name}: no key begins with an underscore")


def _reject_unknown_variables(model: type[Config]) -> None:
    prefix = _prefix(model)
    known = {name.upper() for name in model.model_fields}
    for variable, value in os.environ.items():
        name = variable.upper()
        if not prefix or not name.startswith(prefix):
            continue
        if name[len(prefix) :].split(_SEPARATOR)[0] not in known:
            raise ConfigError(f"environment variable {shown(variable)}: no such key")
        try:
            json.loads(value)
        except ValueError:
            continue  # a text; what must be an object and is none the settings library says
        except RecursionError:
            raise ConfigError(f"environment variable {shown(variable)}: is nested too deeply") from None
