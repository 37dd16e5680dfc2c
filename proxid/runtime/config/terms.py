"""A configuration's policy as a document, and a document's settings ready for use (DESIGN 7, 16).

A grid of people by cell is part of a document by its digest alone: whoever goes by the document needs the grid itself.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.slotted.noise import PlaceNoise
from proxid.anonymise.slotted.places import PlaceRules
from proxid.anonymise.slotted.types import SlotSettings
from proxid.anonymise.split.settings import SplitSettings
from proxid.encoding import encode, label
from proxid.errors import MALFORMED, ConfigError, EncodingError
from proxid.protocol.consent import Bundles
from proxid.protocol.naming import ALIAS_EPOCH, Naming
from proxid.protocol.policy import PolicyDocument
from proxid.runtime.config.anonymiser import AnonymiserConfig, Retention
from proxid.runtime.config.base import Floors, GovernedConfig
from proxid.runtime.config.bundles import bundles_of
from proxid.runtime.config.population import load_population

Grid = Mapping[str, int]
Grids = Callable[[str], Grid | None]
"""The grid of a digest (hexadecimal); None if it is not at hand."""

_GRID: Final = label("population")
_BEFORE: Final = {"slot_rounds": False}
"""What a document means that is from before the setting."""
_SCALARS: Final = ("epoch_seconds", "epoch_grace", "clock_skew", "season_days", "pipeline")


@dataclass(frozen=True, slots=True)
class Terms:
    """One document, ready for use; see `AnonymiserConfig` and `GovernedConfig` for what the settings mean.

    Attributes:
        split: settings of the form `split`; None if general queries are released as pairs.
    """

    document: PolicyDocument
    anonymiser: AnonymiserConfig
    settings: Settings
    split: SplitSettings | None
    slots: dict[str, SlotSettings]
    places: PlaceRules
    noise: PlaceNoise | None
    retention: Retention
    epoch_seconds: int
    epoch_grace: float
    clock_skew: float
    season_seconds: float
    naming: Naming
    pipeline: str

    @property
    def digest(self) -> bytes:
        """The document's."""
        return self.document.digest

    @property
    def bundles(self) -> Bundles:
        """Grants by bundle id."""
        return self.document.bundles

    @property
    def parties(self) -> tuple[str, ...]:
        """Third parties."""
        return self.document.parties


def document_of(config: GovernedConfig) -> PolicyDocument:
    """The document that a configuration says; raises ConfigError if its grid of people is not usable."""
    anonymiser = config.anonymiser.model_dump(mode="json")
    if config.anonymiser.population is not None:
        anonymiser["population"] = grid_digest(load_population(config.anonymiser.population))
    settings: dict[str, Any] = {name: getattr(config, name) for name in _SCALARS}
    retention = config.retention.model_dump(mode="json")
    settings |= {"anonymiser": anonymiser, "retention": retention, "alias_period": ALIAS_EPOCH}
    return PolicyDocument(tuple(sorted(config.policy.parties)), bundles_of(config.policy), settings)


def grid_of(config: GovernedConfig) -> Grid | None:
    """The grid of people that a configuration names; raises ConfigError."""
    return None if config.anonymiser.population is None else load_population(config.anonymiser.population)


def grid_digest(grid: Grid) -> str:
    """How a document names a grid of people by cell: 64 hexadecimal digits."""
    items = [item for cell, people in sorted(grid.items()) for item in (cell, people)]
    return hashlib.sha256(encode(_GRID, *items)).hexdigest()


def terms_of(document: PolicyDocument, grids: Grids = lambda digest: None) -> Terms:
    """The settings of a document.

    Raises:
        ConfigError: they are not those of this version of proxid, or the grid of people is not at hand.
    """
    said = dict(document.settings)
    try:
        anonymiser = {**_BEFORE, **said.pop("anonymiser")}
        grid, least = anonymiser.pop("population"), anonymiser.pop("min_population")
        # A document from before there were two forms means pairs.
        rules = AnonymiserConfig.model_validate({"form": "pairs", **anonymiser})
        retention = Retention.model_validate(said.pop("retention"))
        naming = Naming.of(said)
        if set(said) != {*_SCALARS, "alias_period"}:
            raise ConfigError("policy document holds other settings than this version of proxid knows")
        places = replace(rules.place_rules(), population=_grid(grid, grids), min_population=int(least))
        seconds = int(said["epoch_seconds"])
        split = rules.split_settings(seconds) if rules.form == "split" else None
        return Terms(
            document, rules, rules.settings(), split, rules.slot_settings(), places, rules.place_noise(), retention,
            seconds, float(said["epoch_grace"]), float(said["clock_skew"]),
            float(said["season_days"]) * 86_400, naming, str(said["pipeline"]),
        )  # fmt: skip
    except (EncodingError, *MALFORMED):
        raise ConfigError("policy document holds a setting that this version of proxid cannot use") from None


def _grid(digest: str | None, grids: Grids) -> Grid | None:
    if digest is None:
        return None
    found = grids(digest)
    if found is None:
        raise ConfigError("policy document names a grid of people (anonymiser.population) that is not here")
    return found


def below(terms: Terms, floors: Floors) -> list[str]:
    """Names of settings by which a document falls below an auditor's floors."""
    noise, most = terms.anonymiser.place_epsilon, floors.place_epsilon
    fallen = {
        "k": terms.settings.k < floors.k,
        "sybil_margin": terms.settings.margin < floors.sybil_margin,
        "min_text_users": terms.settings.min_text_users < floors.min_text_users,
        "season_days": terms.season_seconds < floors.season_days * 86_400,
        "min_population": terms.places.min_population < floors.min_population,
        "payloads": terms.retention.payloads < floors.payloads,
        "links": terms.retention.links < floors.links,
        "finest_resolution": terms.places.finest > floors.finest_resolution,
        "place_epsilon": most is not None and (noise is None or noise > most),
    }
    return [name for name, is_below in fallen.items() if is_below]
