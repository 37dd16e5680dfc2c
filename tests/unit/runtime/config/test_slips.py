"""A slip in a configuration, whatever it is, is a typed error that names the file: no exception of anybody else's."""

import datetime
import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from auditor.setup import trust_of
from gateway.config import GatewayConfig
from gateway.server import screener_of
from main_service.server import service_of
from proxid.errors import ConfigError, ProxidError
from proxid.runtime.config import load
from proxid.runtime.config.loading import Config, _roles, read_toml
from proxid.runtime.provision import TrialOptions, init_trial
from proxid.runtime.provision.templates import Settings

DAMAGED = {
    "brackets": b"x = " + b"[" * 20_000,
    "tables": b"x = " + b"{a=" * 20_000,
    "dots": b".".join([b"a"] * 50_000) + b" = 1",
    "digits": b"x = " + b"9" * 5_000,
    "not UTF-8": b"# \xff\n",
    "UTF-16": "x = 1".encode("utf-16"),
    "NUL": b"x = 1\0",
    "no calendar's date": b"x = 2026-13-45",
    "no clock's time": b"x = 25:61:61",
    "twice": b"x = 1\nx = 2",
    "torn": b'x = "abc',
    "lone surrogate": b'x = "\\ud800"',
}
ODD = [
    "9" * 400, "-1", "1e308", "inf", "nan", '"' + "x" * 70_000 + '"', "[[[[]]]]", '"~nobody-here/x"', '"a\\u0000b"',
    "1979-05-27T07:32:00Z", "{a = 1}", '"/"', '"/dev/zero"', '"99999999999999999999999999 d"',
]  # fmt: skip
FOLDERS = {
    "gateway": "gateway", "main-service": "main-service", "auditor": "auditor", "witness": "witness",
    "party": "parties/acme", "device": "devices/home", "ea": "ea",
}  # fmt: skip
BUILT: dict[str, Any] = {
    "gateway": screener_of, "main-service": service_of, "auditor": lambda config: trust_of(config, pipeline=False)
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_toml_is_a_typed_error_that_names_the_file(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "gateway.toml"
    path.write_bytes(DAMAGED[damage])
    for read in (read_toml, lambda path: load(GatewayConfig, path)):
        with pytest.raises(ConfigError, match=r"gateway\.toml"):
            read(path)


def test_what_is_no_file_is_neither_read_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("fifo", "folder", "zero", "loop", "missing", "nul\0"):
        with pytest.raises(ConfigError):
            read_toml(tmp_path / name)


def keys(model: type[Config]) -> Iterator[tuple[str, ...]]:
    """Every key, those of sections too, and names that a settings library might take for its own."""
    yield from (("_env_file",), ("_case_sensitive",), ("self",), ("__init__",), ("model_config",), ("",))
    for name, field in model.model_fields.items():
        yield (name,)
        yield from ((name, inner) for inner in getattr(field.annotation, "model_fields", ()))


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trial")
    init_trial(folder, TrialOptions(("acme",), ("home",), Settings()), datetime.datetime.now(datetime.UTC))
    return folder


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("model", list(_roles()), ids=lambda model: model.role)
def test_odd_values_of_every_key_are_taken_or_refused_by_a_typed_error(
    trial: Path, model: type[Config], share: int
) -> None:
    """Each key gets every `share`-th odd value, one after the other in turns; the slow one all of them."""
    folder = trial / FOLDERS[model.role]
    whole = tomllib.loads((folder / f"{model.role}.toml").read_text())
    path = folder / "odd.toml"
    for turn, key in enumerate(keys(model)):
        dotted = ".".join(f'"{part}"' for part in key)
        rest = {name: value for name, value in whole.items() if name != key[0]}
        for odd in ODD[turn % share :: share]:
            path.write_text(f"{dotted} = {odd}\n{tomli_w.dumps(rest)}")
            with suppress(ProxidError):
                BUILT.get(model.role, lambda config: None)(load(model, path))


def test_a_key_that_never_had_an_effect_is_refused_with_a_word_what_to_do(trial: Path) -> None:
    path = trial / "gateway/old.toml"
    path.write_text("rate_burst = 60\n" + (trial / "gateway/gateway.toml").read_text())
    with pytest.raises(ConfigError, match=r"rate_burst: .*take it out"):
        load(GatewayConfig, path)
