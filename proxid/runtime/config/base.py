"""Configurations of the services: gateway, main service, auditor, witness (DESIGN 16)."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from proxid.errors import ConfigError
from proxid.protocol.epochs import EPOCH_SECONDS
from proxid.runtime.config.anonymiser import AnonymiserConfig, Retention
from proxid.runtime.config.fields import CENTURY, Address, ConfigPath, Duration, Name, StoreUrl
from proxid.runtime.config.loading import Config, Section
from proxid.runtime.config.policy import Policy, PolicyField, RequestType, with_settings
from proxid.runtime.config.trust import Tls, Trust, TrustField


def require(trust: Trust, *keys: str) -> None:
    """Raises ValueError naming a key that this party cannot do without."""
    for key in keys:
        if getattr(trust, key) is None:
            raise ValueError(f"trust.{key} is missing")


def require_parties(trust: Trust, parties: Collection[str]) -> None:
    """Raises ValueError naming the third parties of a policy whose keys are missing, and what to do."""
    missing = sorted(set(parties) - set(trust.parties))
    if missing:
        raise ValueError(
            f"trust.parties lacks the keys of {', '.join(missing)}: "
            "import the public.toml of each first (proxid init --into FOLDER --import FILE)"
        )


class PartyBase(Config):
    """What every networked party has.

    Attributes:
        name: own name. service: id of the Main Service, part of everything that is signed.
        data_dir: where its state lies. tls, trust: mutual TLS and the keys it believes.
    """

    name: Name
    service: str = Field(default="main-service", min_length=1, max_length=64)
    data_dir: ConfigPath = Field(default=Path("data"), validate_default=True)
    tls: Tls = Field(default_factory=Tls)
    trust: TrustField = Field(default_factory=Trust)
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class GovernedConfig(PartyBase):
    """What goes by a policy: its parties and bundles, and all that an audit recomputes from (`terms.document_of`).

    Each key but the policy may also stand in the policy's file, where it counts for everybody who has that file.

    Attributes:
        season_days: age of an account before it counts towards k (8.5).
        pipeline: version of classifier and masking that must be used; any if empty.
    """

    policy: PolicyField = Field(default_factory=Policy)
    epoch_seconds: int = Field(default=EPOCH_SECONDS, ge=60, le=CENTURY)
    epoch_grace: Duration = Field(default=300.0, ge=0)
    clock_skew: Duration = Field(default=120.0, gt=0)
    season_days: float = Field(default=7.0, ge=0, le=36_525)
    notice_spread: Duration = Field(default=86400.0, ge=0)
    pipeline: str = ""
    anonymiser: AnonymiserConfig = Field(default_factory=AnonymiserConfig)
    retention: Retention = Field(default_factory=Retention)

    @model_validator(mode="before")
    @classmethod
    def _settings_of_policy(cls, data: Any) -> Any:
        return with_settings(data)

    @model_validator(mode="after")
    def _ticks(self) -> Self:
        if self.anonymiser.form == "split":
            try:
                self.anonymiser.split_settings(self.epoch_seconds)
            except ConfigError:
                raise ValueError("anonymiser.bucket must divide epoch_seconds") from None
        return self


class ServiceConfig(GovernedConfig):
    """What gateway and main service share.

    Attributes:
        listen: where it serves; metrics_listen: where Prometheus reads, none if absent.
        store_url: its own Redis or Valkey; without one it starts a server in data_dir (DESIGN 16).
        store_max_memory: bytes that the embedded store may use; it refuses writes beyond, and never evicts.
        on_store_failure: says nothing any more: requests are refused while the store is away.
        shutdown_grace: seconds that running calls get to finish.
    """

    listen: Address
    metrics_listen: Address | None = None
    store_url: StoreUrl | None = None
    store_max_memory: int | None = Field(default=None, ge=16 * 1024 * 1024)
    appendfsync: Literal["always", "everysec"] = "always"
    on_store_failure: Literal["refuse"] = "refuse"
    workers: int = Field(default=1, ge=1, le=64)
    shutdown_grace: Duration = Field(default=10.0, ge=0)
    signing_key: ConfigPath = Field(default=Path("signing.key"), validate_default=True)
    nonce_ttl: Duration = Field(default=300.0, ge=300)

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        """Places and commands used to come under names of their own: who goes on with an old file has to say it."""
        named = [(bundle, party) for bundle, grants in self.policy.bundles.items() for party, grant in grants.items()
                 if not self.policy.one_name and grant.types != {RequestType.GENERAL}]  # fmt: skip
        for bundle, party in named[:1]:
            raise ValueError(
                f"policy: bundle {bundle} gives {party} places or commands; a party gets all kinds of requests of a "
                "person under one name now, the user_id or an alias of the epoch, since time alone joins two names: "
                f"write one_name = true if {bundle} is meant so, or give it other types"
            )
        return self


class Floors(Section):
    """What no policy may fall below, whoever accepted it (DESIGN 10.4).

    Attributes:
        k, sybil_margin, min_text_users, season_days, min_population, payloads, links, rate_per_minute: the least.
        finest_resolution, place_epsilon: the most; none if absent. rate_per_minute: requests of one person that the
            gateway takes in a minute. payloads, links: seconds that encrypted payloads, and the evidence keys
            that go with the links of an epoch, are kept; what a log says to have expired before is a violation.
        rollbacks: how often a service's log may go back to the entries of an earlier release.
    """

    k: int = Field(default=2, ge=2)
    sybil_margin: int = Field(default=0, ge=0)
    min_text_users: int = Field(default=1, ge=1)
    season_days: float = Field(default=0.0, ge=0)
    min_population: int = Field(default=0, ge=0)
    payloads: Duration = Field(default=0.0, ge=0)
    links: Duration = Field(default=0.0, ge=0)
    rate_per_minute: int = Field(default=1, ge=1)
    rollbacks: int = Field(default=3, ge=0)
    finest_resolution: int = Field(default=15, ge=0, le=15)
    place_epsilon: float | None = Field(default=None, gt=0)
