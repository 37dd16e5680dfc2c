"""Configurations of the services: gateway, main service, auditor, witness (DESIGN 16)."""

from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from proxid.config.anonymiser import AnonymiserConfig, Retention
from proxid.config.fields import CENTURY, Address, ConfigPath, Duration, Name, StoreUrl
from proxid.config.loading import Config, Section
from proxid.config.policy import Policy, PolicyField, with_settings
from proxid.config.trust import Tls, Trust, TrustField


def require(trust: Trust, *keys: str) -> None:
    """Raises ValueError naming a key that this party cannot do without."""
    for key in keys:
        if getattr(trust, key) is None:
            raise ValueError(f"trust.{key} is missing")


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
        alias_period: seconds after which a party's aliases change (9).
        pipeline: version of classifier and masking that must be used; any if empty.
    """

    policy: PolicyField = Field(default_factory=Policy)
    epoch_seconds: int = Field(default=86_400, ge=60, le=CENTURY)
    epoch_grace: Duration = Field(default=300.0, ge=0)
    clock_skew: Duration = Field(default=120.0, gt=0)
    season_days: float = Field(default=7.0, ge=0, le=36_525)
    alias_period: Duration = Field(default=30 * 86400.0, ge=60)
    notice_spread: Duration = Field(default=86400.0, ge=0)
    pipeline: str = ""
    anonymiser: AnonymiserConfig = Field(default_factory=AnonymiserConfig)
    retention: Retention = Field(default_factory=Retention)

    @model_validator(mode="before")
    @classmethod
    def _settings_of_policy(cls, data: Any) -> Any:
        return with_settings(data)


class ServiceConfig(GovernedConfig):
    """What gateway and main service share.

    Attributes:
        listen: where it serves; metrics_listen: where Prometheus reads, none if absent.
        store_url: its own Redis or Valkey; without one it starts a server in data_dir (DESIGN 16).
        store_max_memory: bytes that the embedded store may use; it refuses writes beyond, and never evicts.
        on_store_failure: `refuse` requests while the store is away, or `answer` them without logging.
        shutdown_grace: seconds that running calls get to finish.
    """

    listen: Address
    metrics_listen: Address | None = None
    store_url: StoreUrl | None = None
    store_max_memory: int | None = Field(default=None, ge=16 * 1024 * 1024)
    appendfsync: Literal["always", "everysec"] = "always"
    on_store_failure: Literal["refuse", "answer"] = "refuse"
    workers: int = Field(default=1, ge=1, le=64)
    shutdown_grace: Duration = Field(default=10.0, ge=0)
    signing_key: ConfigPath = Field(default=Path("signing.key"), validate_default=True)
    nonce_ttl: Duration = Field(default=300.0, ge=300)
    """Bytes of the largest message taken from the wire."""


class GatewayConfig(ServiceConfig):
    """The Identity Screener.

    Attributes:
        main_service: address of MS. main_service_name: the name its certificate must carry.
        rate_per_minute: requests of one person.
        max_message: bytes of the largest message that anybody may send; the largest request takes 18 kB.
        notice_spread: seconds over which notices to parties under a person's aliases are spread.
        alias_key: file of the HMAC key of aliases.
    """

    model_config = SettingsConfigDict(env_prefix="PROXID_GATEWAY__")
    role: ClassVar[str] = "gateway"

    listen: Address = "127.0.0.1:7443"
    metrics_listen: Address | None = "127.0.0.1:9464"
    main_service: Address = "127.0.0.1:7444"
    main_service_name: str = "main-service"
    rate_per_minute: int = Field(default=60, ge=1)
    max_message: int = Field(default=65_536, ge=65_536, le=4_194_304)
    forward_timeout: Duration = Field(default=20.0, gt=0)
    alias_key: ConfigPath = Field(default=Path("alias.key"), validate_default=True)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require(self.trust, "enrolment_authority", "service", "auditor_seal")
        return self


class MainServiceConfig(ServiceConfig):
    """The Main Service.

    Attributes:
        answer_timeout: seconds that a responder may take; less than the gateway's `forward_timeout`.
    """

    model_config = SettingsConfigDict(env_prefix="PROXID_MAIN_SERVICE__")
    role: ClassVar[str] = "main-service"

    listen: Address = "127.0.0.1:7444"
    metrics_listen: Address | None = "127.0.0.1:9465"
    answer_timeout: Duration = Field(default=10.0, gt=0)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require(self.trust, "screener", "auditor_seal")
        missing = set(self.policy.parties) - set(self.trust.parties)
        if missing:
            raise ValueError("trust.parties lacks the keys of a party of the policy")
        return self


class Floors(Section):
    """What no policy may fall below, whoever accepted it (DESIGN 10.4).

    Attributes:
        k, sybil_margin, min_text_users, season_days, min_population, payloads: the least. finest_resolution,
        place_epsilon: the most; none if absent. payloads: seconds that encrypted payloads are kept.
    """

    k: int = Field(default=2, ge=2)
    sybil_margin: int = Field(default=0, ge=0)
    min_text_users: int = Field(default=1, ge=1)
    season_days: float = Field(default=0.0, ge=0)
    min_population: int = Field(default=0, ge=0)
    payloads: Duration = Field(default=0.0, ge=0)
    finest_resolution: int = Field(default=15, ge=0, le=15)
    place_epsilon: float | None = Field(default=None, gt=0)


class AuditorConfig(GovernedConfig):
    """The auditor: reads both services' evidence; judges each epoch by the policy that it was opened under (DESIGN 10).

    It has accepted the policy that this configuration says. A log that names none (version 1) is judged by that one.

    Attributes:
        floors: below which no accepted policy may fall.
        require_witness: a head that the trusted witness cosigned must be there, and not be older than `witness_lag`
            unless it covers the whole log.
    """

    model_config = SettingsConfigDict(env_prefix="PROXID_AUDITOR__")
    role: ClassVar[str] = "auditor"

    gateway: Address = "127.0.0.1:7443"
    gateway_name: str = "gateway"
    main_service: Address = "127.0.0.1:7444"
    main_service_name: str = "main-service"
    signing_key: ConfigPath = Field(default=Path("signing.key"), validate_default=True)
    opening_key: ConfigPath = Field(default=Path("opening.key"), validate_default=True)
    floors: Floors = Field(default_factory=Floors)
    require_witness: bool = False
    witness_lag: Duration = Field(default=3600.0, gt=0)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require(self.trust, "enrolment_authority", "screener", "service")
        return self


class WitnessConfig(PartyBase):
    """A witness cosigns the checkpoints of both logs (DESIGN 10.4 (1))."""

    model_config = SettingsConfigDict(env_prefix="PROXID_WITNESS__")
    role: ClassVar[str] = "witness"

    gateway: Address = "127.0.0.1:7443"
    gateway_name: str = "gateway"
    main_service: Address = "127.0.0.1:7444"
    main_service_name: str = "main-service"
    signing_key: ConfigPath = Field(default=Path("signing.key"), validate_default=True)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require(self.trust, "screener", "service")
        return self
