"""Configurations of auditor and witness (DESIGN 10, 16)."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from proxid.runtime.config.base import Floors, GovernedConfig, PartyBase, require
from proxid.runtime.config.classify import ClassifySettings
from proxid.runtime.config.fields import Address, ConfigPath, Duration, Name, VerifyKey
from proxid.runtime.config.trust import Role


class AuditorConfig(GovernedConfig):
    """The auditor: reads both services' evidence; judges each epoch by the policy that it was opened under (DESIGN 10).

    It has accepted the policy that this configuration says. A log that names none (version 1) is judged by that one.

    Attributes:
        opening_key: what services seal for it. older_opening_keys: those before it, for what was sealed to them.
        older_party_keys: by party the keys that it acknowledged with before, base64.
        floors: below which no accepted policy may fall.
        require_witness: a head that the trusted witness cosigned must be there, and not be older than `witness_lag`
            unless it covers the whole log.
        alias_period: seconds after which aliases changed, of evidence from before policies were documents.
        classify: what the service added to the classifier: without the same, its records are not classified again.
        pipeline_again: whether disclosed utterances are classified again (check 4).
        listen, metrics_listen: of `proxid serve auditor`. every: seconds between the starts of two audits.
        auditors: others with which heads are exchanged before each audit.
        report_to: roles that may fetch reports, besides the auditor's own certificate.
        presented_bytes: room for what one device or party presents; presented_keep: seconds until it goes.
        judgements_per_hour: of one of them.
        max_message: bytes of a call. shutdown_grace: seconds that running calls get to finish.
    """

    model_config = SettingsConfigDict(env_prefix="PROXID_AUDITOR__")
    role: ClassVar[str] = "auditor"

    gateway: Address = "127.0.0.1:7443"
    gateway_name: str = "gateway"
    main_service: Address = "127.0.0.1:7444"
    main_service_name: str = "main-service"
    signing_key: ConfigPath = Field(default=Path("signing.key"), validate_default=True)
    opening_key: ConfigPath = Field(default=Path("opening.key"), validate_default=True)
    older_opening_keys: tuple[ConfigPath, ...] = ()
    older_party_keys: Mapping[Name, tuple[VerifyKey, ...]] = {}
    floors: Floors = Field(default_factory=Floors)
    require_witness: bool = True
    witness_lag: Duration = Field(default=120.0, gt=0)
    alias_period: Duration = Field(default=30 * 86400.0, ge=60)
    classify: ClassifySettings = Field(default_factory=ClassifySettings)
    pipeline_again: bool = True
    listen: Address = "127.0.0.1:7445"
    metrics_listen: Address | None = None
    every: Duration = Field(default=3600.0, ge=1)
    auditors: tuple[Address, ...] = ()
    report_to: tuple[Role, ...] = ()
    presented_bytes: int = Field(default=64 * 1024 * 1024, ge=65_536)
    presented_keep: Duration = Field(default=365 * 86_400.0, gt=0)
    judgements_per_hour: int = Field(default=60, ge=1)
    max_message: int = Field(default=1024 * 1024, ge=65_536, le=4 * 1024 * 1024)
    shutdown_grace: Duration = Field(default=10.0, ge=0)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require(self.trust, "enrolment_authority", "screener", "service")
        return self


class WitnessConfig(PartyBase):
    """A witness cosigns the checkpoints of both logs (DESIGN 10.4 (1)).

    Attributes:
        auditors: to whom it shows what it cosigned, besides the services.
    """

    model_config = SettingsConfigDict(env_prefix="PROXID_WITNESS__")
    role: ClassVar[str] = "witness"

    gateway: Address = "127.0.0.1:7443"
    gateway_name: str = "gateway"
    main_service: Address = "127.0.0.1:7444"
    main_service_name: str = "main-service"
    signing_key: ConfigPath = Field(default=Path("signing.key"), validate_default=True)
    auditors: tuple[Address, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require(self.trust, "screener", "service")
        return self
