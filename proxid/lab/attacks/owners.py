"""The attacks that guess owners from the released stream alone, as `proxid attack` calls them (DESIGN 14)."""

from typing import Any

import numpy as np

from proxid.lab.attacks.base import Attacker, Guesses, Observed, run_attacker
from proxid.lab.attacks.buffered import BufferedAttacker
from proxid.lab.attacks.disclosure import DisclosureAttacker
from proxid.lab.attacks.grouped import GroupAttacker
from proxid.lab.attacks.neighbour import NeighbourAttacker
from proxid.lab.attacks.registry import Options
from proxid.lab.attacks.scoring import linkage
from proxid.lab.released_log import Release


def observed(release: Release, options: Options) -> Observed:
    """What an attacker sees, in the order of release or, with `by_time`, of the time field."""
    seen = Observed.of(release.released, release.node)
    if not options.by_time:
        return seen
    order = np.argsort(release.released.time, kind="stable")
    return Observed(*(getattr(seen, name)[order] for name in Observed.__slots__))


def make_attacker(name: str, release: Release, options: Options) -> Attacker:
    """The attacker of a name, knowing the mechanism's k, ℓ and δ."""
    mechanism = release.mechanism
    if name == "neighbour":
        return NeighbourAttacker(width=options.width or mechanism.k, seed=options.seed)
    if name.startswith("disclosure-"):
        return DisclosureAttacker(name, no_text=release.no_text, seed=options.seed)
    if name.startswith("group-"):
        return GroupAttacker(name, no_text=release.no_text, seed=options.seed)
    return BufferedAttacker(name, k=mechanism.k, seed=options.seed, delta=mechanism.delta)


def guess_owners(name: str, release: Release, options: Options) -> Guesses:
    """All guesses of an attacker."""
    return run_attacker(make_attacker(name, release, options), observed(release, options))


def _report(name: str, release: Release, options: Options) -> dict[str, Any]:
    guesses = guess_owners(name, release, options)
    return linkage(release, guesses, cells=options.cells, margin=options.margin)


def buffered(name: str, release: Release, options: Options) -> dict[str, Any]:
    """Record linkage 1-3 and de-anonymisers 1-4."""
    return _report(name, release, options)


def neighbour(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The neighbour attack."""
    return {"width": options.width or release.mechanism.k, **_report(name, release, options)}


def grouped(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The group-aware attackers."""
    if not release.grouped:
        return {"reason": "the release has no groups"}
    return _report(name, release, options)


def disclosure(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attackers that link through content, which the theorem does not cover (DESIGN 8.4.2)."""
    return {"covered_by_theorem": False, **grouped(name, release, options)}
