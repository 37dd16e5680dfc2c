"""The public policy: third parties and the consent bundles that the operator offers (DESIGN 7).

    parties = ["acme", "umbrella"]

    [bundles.everything.acme]
    types = ["general", "location", "command"]
    as = "user_id"

The same file lies with the gateway, the main service, the auditor and every device. The bundle `nothing` always
exists and is everybody's default.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from proxid.config.fields import Name
from proxid.config.loading import Section, load_section
from proxid.config.trust import table_or_file
from proxid.protocol.consent import NOTHING


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
    """Parties in a fixed order, and for each bundle what each party may receive."""

    parties: tuple[Name, ...] = ()
    bundles: Mapping[Name, Bundle] = {}

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


PolicyField = Annotated[Policy, BeforeValidator(table_or_file)]
"""`[policy]` as a table, or `policy = "policy.toml"`."""


def load_policy(path: Path) -> Policy:
    """The policy of a file; raises ConfigError."""
    return load_section(Policy, path)
