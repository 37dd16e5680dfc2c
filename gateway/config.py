"""The Identity Screener's configuration (DESIGN 16)."""

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from proxid.runtime.config.base import ServiceConfig, require, require_parties
from proxid.runtime.config.fields import Address, ConfigPath, Duration


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
        require_parties(self.trust, self.policy.parties)
        return self
