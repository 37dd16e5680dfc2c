"""Parameters of the anonymiser and how long things are kept (DESIGN 8, 16)."""

from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.slotted.noise import PlaceNoise
from proxid.anonymise.slotted.places import FINEST, NIGHT_HOURS, PlaceRules
from proxid.anonymise.slotted.types import SlotSettings
from proxid.anonymise.split.settings import SplitSettings
from proxid.errors import ConfigError
from proxid.runtime.config.fields import ConfigPath, Duration
from proxid.runtime.config.loading import Section
from proxid.runtime.config.population import load_population

COMMAND_DEPTH = 4
"""Levels of a command's shape: domain, intent, device kind, parameter bucket."""
# The defaults are the mechanisms' own.
_MIX: Final = Settings()
_SLOTS: Final = SlotSettings(_MIX.k, _MIX.margin)
_SPLIT: Final = SplitSettings()
LEVELS: Final = {"split": _SPLIT.level, "pairs": _MIX.level}
"""ℓ where none is given, by form."""


class AnonymiserConfig(Section):
    """What MS anonymises by, and what the auditor holds it to.

    Attributes:
        form: `split` (who asked apart from what was asked, 8.11) or `pairs` (groups, 8.4), of general queries.
        content: of `split`, whether there are contents at all. bucket: seconds between its ticks; divides the epoch.
        max_share, sensitive_share, sensitive_categories: what a round must not have in common (8.11); categories are
        paths with `/` between their components.
        k: at least k others may own each record. sybil_margin: m.
        level: ℓ, the privacy parameter of 8.4.2; 1 for `split`, 2 for `pairs`.
        max_delay_records, max_delay, person_cap: of `pairs`, when a waiting record moves up (8.6), and how many of one
        person wait at a node (8.5).
        min_text_users: issuers, margin apart, of what is shown of a text (8.7).
        time_bucket: width of the release time that a group carries.
        time_slots, finest_resolution: slot widths by level and the finest H3 resolution of location queries (8.8).
        slot_rounds: whether all of a person's records in a slot are taken and leave in rounds, or one (8.8).
        sensitive_places: H3 cell → finest resolution used inside it. night_resolution: the finest in `night_hours`
        (UTC, first and last, the last excluded), when a place is a home.
        population: file of people by H3 cell; cells with fewer than `min_population` are never shown.
        place_epsilon: privacy parameter a metre of planar Laplace noise on places, none without it. place_budget: what
        one person may spend in an epoch: n different places cost n × place_epsilon.
    """

    form: Literal["split", "pairs"] = "split"
    content: Literal["rounds", "none"] = "rounds"
    bucket: Duration = Field(default=_SPLIT.bucket_s, ge=1)
    max_share: float = Field(default=_SPLIT.max_share, gt=0, le=1)
    sensitive_share: float = Field(default=_SPLIT.sensitive_share, gt=0, le=1)
    sensitive_categories: tuple[str, ...] = ()
    k: int = Field(default=_MIX.k, ge=2)
    level: int = Field(default=_SPLIT.level, ge=0)
    sybil_margin: int = Field(default=_MIX.margin, ge=0)
    max_delay_records: int | None = Field(default=_MIX.max_delay_records, ge=1)
    max_delay: Duration | None = Field(default=_MIX.max_delay_s, gt=0)
    min_text_users: int = Field(default=_MIX.min_text_users, ge=1)
    person_cap: int | None = Field(default=_MIX.person_cap, ge=1)
    time_bucket: Duration = Field(default=_MIX.time_bucket_s, ge=1)
    time_slots: tuple[Duration, ...] = Field(default=_SLOTS.widths, min_length=1)
    slot_rounds: bool = True
    finest_resolution: int = Field(default=FINEST, ge=0, le=15)
    sensitive_places: dict[str, int] = Field(default_factory=dict)
    night_resolution: int | None = Field(default=None, ge=0, le=15)
    night_hours: tuple[int, int] = NIGHT_HOURS
    population: ConfigPath | None = None
    min_population: int = Field(default=0, ge=0)
    place_epsilon: float | None = Field(default=None, gt=0)
    place_budget: float | None = Field(default=None, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _level_of_form(cls, data: Any) -> Any:
        form = data.get("form", "split") if isinstance(data, dict) else None
        return {"level": LEVELS[form], **data} if isinstance(form, str) and form in LEVELS else data

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if any(wide <= narrow for narrow, wide in zip(self.time_slots, self.time_slots[1:], strict=False)):
            raise ValueError("time_slots must widen")
        try:
            self.settings()
            if self.form == "split":
                self.split_settings(int(self.bucket))
            self.slot_settings()
            self._place_rules(None)
            self.place_noise()
        except ConfigError as error:
            raise ValueError(error.rule) from None
        if (self.population is None) != (self.min_population == 0):
            raise ValueError("population and min_population need each other")
        if (self.place_epsilon is None) != (self.place_budget is None):
            raise ValueError("place_epsilon and place_budget need each other")
        return self

    def slot_settings(self) -> dict[str, SlotSettings]:
        """Slots of location queries and of commands, by kind (DESIGN 8.8, 8.9)."""
        common = {"k": self.k, "margin": self.sybil_margin, "widths": self.time_slots, "rounds": self.slot_rounds}
        depths = {"location": self.finest_resolution + 1, "command": COMMAND_DEPTH}
        return {kind: SlotSettings(depth=depth, **common) for kind, depth in depths.items()}  # type: ignore[arg-type]

    def place_rules(self) -> PlaceRules:
        """How fine places may be shown; raises ConfigError if the population's file is not usable."""
        return self.place_rules_by(None if self.population is None else load_population(self.population))

    def place_rules_by(self, population: Mapping[str, int] | None) -> PlaceRules:
        """The same by a grid that is at hand."""
        return self._place_rules(population)

    def _place_rules(self, population: Mapping[str, int] | None) -> PlaceRules:
        return PlaceRules(
            finest=self.finest_resolution, sensitive=self.sensitive_places, night=self.night_resolution,
            night_hours=self.night_hours, population=population, min_population=self.min_population,
        )  # fmt: skip

    def place_noise(self) -> PlaceNoise | None:
        """The noise on places, None if there is none."""
        if self.place_epsilon is None or self.place_budget is None:
            return None
        return PlaceNoise(self.place_epsilon, self.place_budget)

    def settings(self) -> Settings:
        """The same for `proxid.anonymise.mix`."""
        return Settings(
            k=self.k,
            margin=self.sybil_margin,
            level=self.level,
            max_delay_records=self.max_delay_records,
            max_delay_s=self.max_delay,
            min_text_users=self.min_text_users,
            person_cap=self.person_cap,
            time_bucket_s=int(self.time_bucket),
        )

    def split_settings(self, epoch_seconds: int) -> SplitSettings:
        """The same for `proxid.anonymise.split`, and an epoch of so many seconds.

        Raises:
            ConfigError: the bucket does not divide the epoch, or a value is outside its range.
        """
        return SplitSettings(
            k=self.k,
            margin=self.sybil_margin,
            level=self.level,
            min_text_users=self.min_text_users,
            max_share=self.max_share,
            sensitive=tuple(tuple(path.split("/")) for path in self.sensitive_categories),
            sensitive_share=self.sensitive_share,
            bucket_s=int(self.bucket),
            epoch_s=epoch_seconds,
        )


class Retention(Section):
    """How long each kind is kept.

    Attributes:
        answers: sealed answers, for retries (at least the nonce's time). feeds: that a party
            acknowledged a group, and whose it was; the group itself leaves the feed at once.
        payloads: encrypted payloads of the evidence, whose headers stay.
        evidence_plain: events before their payload is encrypted, T of DESIGN 10.2. links: epoch links at IS.
    """

    answers: Duration = Field(default=300.0, ge=300)
    feeds: Duration = Field(default=7 * 86400.0, gt=0)
    evidence_plain: Duration = Field(default=60.0, gt=0)
    links: Duration = Field(default=365 * 86400.0, gt=0)
    payloads: Duration = Field(default=365 * 86400.0, gt=0)
