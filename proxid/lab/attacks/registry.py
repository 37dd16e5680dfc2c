"""Attacks by name (DESIGN 14): `proxid attack` runs them on a log and its release.

An attack is a function `(Release, Options) -> dict` of numbers and short strings, imported when it is asked for. Those
that guess owners report what `scoring.linkage` counts; an attack that does not apply says why under `reason`.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from proxid.errors import ConfigError
from proxid.lab.released_log import Release

_OWNERS = "proxid.lab.attacks.owners"
ATTACKS: dict[str, str] = {
    "rl1": f"{_OWNERS}:buffered",
    "rl2": f"{_OWNERS}:buffered",
    "rl3": f"{_OWNERS}:buffered",
    "deanon1": f"{_OWNERS}:buffered",
    "deanon2": f"{_OWNERS}:buffered",
    "deanon3": f"{_OWNERS}:buffered",
    "deanon4": f"{_OWNERS}:buffered",
    "neighbour": f"{_OWNERS}:neighbour",
    "group-random": f"{_OWNERS}:grouped",
    "group-next": f"{_OWNERS}:grouped",
    "group-busiest": f"{_OWNERS}:grouped",
    "disclosure-category": f"{_OWNERS}:disclosure",
    "disclosure-text": f"{_OWNERS}:disclosure",
    "contribution": "proxid.lab.attacks.contribution:contribution",
    "informed": "proxid.lab.attacks.informed:informed",
    "sybil": "proxid.lab.attacks.sybil:sybil",
    "active": "proxid.lab.attacks.frequent:active",
    "homogeneity": "proxid.lab.attacks.homogeneity:homogeneity",
    "vanity": "proxid.lab.attacks.vanity:vanity",
    "em": "proxid.lab.attacks.em.attack:em",
    "leaf": "proxid.lab.attacks.leaf:leaf",
    "alias-link": "proxid.lab.attacks.alias_link:alias_link",
    "join": "proxid.lab.attacks.join:join",
}
"""Name of each attack and `module:function`; add a line for a new one."""
APPLIES: dict[str, tuple[str, ...]] = {
    "split": ("em", "leaf", "alias-link", "join"),
    "cohort": ("em", "leaf", "alias-link", "join", "homogeneity", "vanity"),
    "microaggregation": ("contribution", "neighbour", "vanity"),
    "semantic": ("contribution", "neighbour", "vanity"),
    "nsqc": ("contribution", "neighbour", "vanity"),
    "k-query": ("vanity",),
    "k-session": ("vanity",),
}
"""Attacks on the forms that hold no pair of a record and another's name under a cycle, and on other methods."""


def nothing_said(done: float, whole: float) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, slots=True)
class Options:
    """What an attacker may choose.

    width: records to each side (neighbour), None for k. colluders: members who help (informed). by_time: sort the
    release by its time field first (chapter 3's "+T"). cells: tests made in all, for the correction. margin: the
    relative difference from 1/(n-1) that counts as none. known: records of every person that the attacker knows
    beforehand (em). progress(done, total): called now and then.
    """

    width: int | None = None
    colluders: int = 0
    by_time: bool = False
    seed: int = 0
    cells: int = 1
    margin: float = 0.1
    known: int = 0
    progress: Callable[[float, float], None] = nothing_said


Attack = Callable[[str, Release, Options], dict[str, Any]]


def load_attack(name: str) -> Attack:
    """Import an attack by name. Raises ConfigError when there is none."""
    target = ATTACKS.get(name)
    if target is None:
        raise ConfigError(f"attack is one of all, {', '.join(ATTACKS)}")
    module, attribute = target.split(":")
    attack: Attack = getattr(importlib.import_module(module), attribute)
    return attack


def run_attacks(release: Release, names: Iterable[str] = (), options: Options | None = None) -> dict[str, Any]:
    """Every attack asked for, all by default, by name."""
    chosen = options or Options()
    return {name: _attacked(name, release, chosen) for name in (names or ATTACKS)}


def _attacked(name: str, release: Release, options: Options) -> dict[str, Any]:
    attack, mode = load_attack(name), release.mechanism.mode
    if name not in APPLIES.get(mode, ATTACKS):
        return {"reason": f"does not apply to {mode}"}
    return attack(name, release, options)
