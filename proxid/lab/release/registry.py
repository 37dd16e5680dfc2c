"""The methods of `proxid release`, each a plug-in with typed options (DESIGN 13).

A method is a module-level `METHOD = Method(name, title, options, run, example)`; METHODS says where each one is, so
that a method is imported only when it is asked for. `run(job)` reads `job.source`, writes `job.output` through
`proxid.lab.logs.create_log` (or `proxid.lab.logs.whole.whole_file` for what is no log), and returns an Outcome; the
command adds what it knows itself (input digest, version) and writes the manifest beside the output.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proxid.errors import ConfigError
from proxid.lab.logs.base import Classifier

METHODS: dict[str, str] = {
    "zealous": "proxid.lab.release.zealous.method:METHOD",
    "partition": "proxid.lab.release.partition.method:METHOD",
    "k-query": "proxid.lab.release.k_anonymous.query:METHOD",
    "k-session": "proxid.lab.release.k_anonymous.session:METHOD",
    "k-keyword": "proxid.lab.release.k_anonymous.keyword:METHOD",
    "sessions": "proxid.lab.release.sessions.method:METHOD",
    "clicks": "proxid.lab.release.clicks:METHOD",
    "ka": "proxid.lab.release.ka:METHOD",
    "hbdp": "proxid.lab.release.semantic.hbdp_method:METHOD",
    "nsqc": "proxid.lab.release.semantic.method:NSQC",
    "semantic": "proxid.lab.release.semantic.method:METHOD",
    "microaggregation": "proxid.lab.release.microaggregation.method:METHOD",
    "kbuffer": "proxid.lab.release.kbuffer.method:METHOD",
}
"""Name of each method and `module:attribute` that holds its Method; add a line for a new one."""


@dataclass(frozen=True, slots=True)
class Option:
    """One typed parameter of a method: `--min-text-users` on the command line is key `min_text_users`."""

    key: str
    type: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None

    def checked(self, value: object) -> Any:
        """The value in the option's type. Raises ConfigError, which names the key."""
        if value is None:
            return self.default
        if self.type is not bool and isinstance(value, bool):
            raise ConfigError(f"{self.key} is not of type {self.type.__name__}")
        if self.type is float and isinstance(value, int):
            value = float(value)
        if not isinstance(value, self.type):
            raise ConfigError(f"{self.key} is not of type {self.type.__name__}")
        if self.choices and value not in self.choices:
            raise ConfigError(f"{self.key} is one of {', '.join(self.choices)}")
        if self.minimum is not None and not value >= self.minimum:  # type: ignore[operator]
            raise ConfigError(f"{self.key} is at least {self.minimum}")
        return value


def no_progress(done: int, total: int) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, slots=True)
class Job:
    """One release: where from, where to, with which options.

    options: every Option's key with its checked value. seed: None draws a fresh secret one (it is never written down).
    classifier: files queries that come without a category; None leaves them without. filing: what the manifest says of
    it. truth: a secret sidecar for
    evaluation, `released row TAB input row` (TSV), or None. progress(done, total): called now and then, in bytes.
    """

    source: Path
    output: Path
    options: Mapping[str, Any]
    seed: int | None = None
    classifier: Classifier | None = None
    filing: Mapping[str, str] = field(default_factory=dict)
    truth: Path | None = None
    progress: Callable[[int, int], None] = no_progress


@dataclass(slots=True)
class Outcome:
    """What a method says about its release: the manifest is made of it.

    guarantee: what holds, as data (`{"kind": "probabilistic k-anonymity", "bound": "1/10", ...}`), or
    `{"kind": "none"}`. suppressed: records left out, by reason. bad_rows: unreadable rows, by reason.
    uncategorised: records without a category; None where the method looks at no categories.
    """

    guarantee: dict[str, Any]
    records_in: int
    records_out: int
    suppressed: dict[str, int] = field(default_factory=dict)
    bad_rows: dict[str, int] = field(default_factory=dict)
    bad_lines: list[tuple[int, str]] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    outputs: list[Path] = field(default_factory=list)
    uncategorised: int | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A release method: its name, a title for the help text, its options, what runs it, an example's arguments."""

    name: str
    title: str
    options: tuple[Option, ...]
    run: Callable[[Job], Outcome]
    example: str
    settled: Callable[[dict[str, Any]], dict[str, Any]] = dict
    """Defaults that depend on other options."""

    def checked(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Every option with its value. Raises ConfigError for an unknown key or an unusable value."""
        known = {option.key: option for option in self.options}
        if unknown := sorted(set(given) - set(known)):
            raise ConfigError(f"method {self.name} has no option {unknown[0]}")
        return self.settled({key: option.checked(given.get(key)) for key, option in known.items()})


def load_method(name: str) -> Method:
    """Import a method by name. Raises ConfigError when there is none."""
    target = METHODS.get(name)
    if target is None:
        raise ConfigError(f"method is one of {', '.join(sorted(METHODS))}")
    module, attribute = target.split(":")
    method = getattr(importlib.import_module(module), attribute)
    assert isinstance(method, Method)
    return method
