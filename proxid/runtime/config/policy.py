"""The public policy: third parties and the consent bundles that the operator offers (DESIGN 7).

    parties = ["acme", "umbrella"]

    [bundles.everything.acme]
    types = ["general", "location", "command"]
    as = "user_id"

The same file lies with the gateway, the main service and the auditor. It may also hold the settings that an audit
recomputes from (`anonymiser`, `season_days`, …): a configuration takes them from here unless it says otherwise itself.
The bundle `nothing` always exists and is everybody's default.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from proxid.protocol.consent import NOTHING
from proxid.runtime.config.anonymiser import AnonymiserConfig, Retention
from proxid.runtime.config.fields import CENTURY, Duration, Name
from proxid.runtime.config.loading import Section, load_section
from proxid.runtime.config.trust import table_or_file


class RequestType(StrEnum):
    """The types of 002 §5.2.2, what consent is given for."""

    GENERAL = "general"
    LOCATION = "location"
    COMMAND = "command"


class Fidelity(StrEnum):
    """How a user is named to a party."""

    USER_ID = "user_id"
    ALIAS = "alias"


class Grant(Section):
    """What one bundle allows one party."""

    types: frozenset[RequestType] = Field(min_length=1)
    as_: Fidelity = Field(default=Fidelity.USER_ID, alias="as")


Bundle = Mapping[Name, Grant]


class Policy(Section):
    """Parties in a fixed order, and for each bundle what each party may receive.

    Settings that are None are left to each configuration.

    Attributes:
        one_name: says that places and commands come under the same name as general requests; needed where a bundle
        has them.
    """

    parties: tuple[Name, ...] = ()
    bundles: Mapping[Name, Bundle] = {}
    one_name: bool = False
    epoch_seconds: int | None = Field(default=None, ge=60, le=CENTURY)
    epoch_grace: Duration | None = Field(default=None, ge=0)
    clock_skew: Duration | None = Field(default=None, gt=0)
    season_days: float | None = Field(default=None, ge=0, le=36_525)
    pipeline: str | None = None
    anonymiser: AnonymiserConfig | None = None
    retention: Retention | None = None

    @model_validator(mode="after")
    def _known_parties(self) -> Self:
        parties = set(self.parties)
        if len(parties) != len(self.parties):
            raise ValueError("a party is listed twice")
        for name, bundle in self.bundles.items():
            if name == NOTHING and bundle:
                raise ValueError("the bundle `nothing` allows nothing")
            if not parties.issuperset(bundle):
                raise ValueError(f"bundle {name} names a party that is not listed")
        return self

    def bundle(self, name: str) -> Bundle | None:
        """The grants of a bundle by party, or None if it is not offered."""
        return self.bundles.get(name, {} if name == NOTHING else None)

    def audience(self, bundle: str, kind: RequestType) -> tuple[str, ...]:
        """Parties, sorted, that a bundle allows one type of request; empty for an unknown bundle."""
        grants = self.bundle(bundle) or {}
        return tuple(sorted(party for party, grant in grants.items() if kind in grant.types))


SETTINGS: Final = tuple(name for name in Policy.model_fields if name not in {"parties", "bundles", "one_name"})
"""What a policy says besides parties, bundles and how people are named."""


def with_settings(data: Any) -> Any:
    """The keys of a configuration over the settings of its policy, as they stand in the files.

    A policy that is wrong is left to be told by its own field.
    """
    if not isinstance(data, dict) or "policy" not in data:
        return data
    policy = table_or_file(data["policy"])
    try:
        Policy.model_validate(policy)
    except ValidationError:
        return {**data, "policy": policy}
    said = {} if isinstance(policy, Policy) else {name: policy[name] for name in SETTINGS if name in policy}
    return {**said, **{name: _over(said.get(name), value) for name, value in data.items()}, "policy": policy}


def _over(below: Any, above: Any) -> Any:
    return {**below, **above} if isinstance(below, dict) and isinstance(above, dict) else above


PolicyField = Annotated[Policy, BeforeValidator(table_or_file)]
"""`[policy]` as a table, or `policy = "policy.toml"`."""


def load_policy(path: Path) -> Policy:
    """The policy of a file; raises ConfigError."""
    return load_section(Policy, path)
