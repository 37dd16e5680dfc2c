"""A third party's configuration (DESIGN 16)."""

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from proxid.clients.auditing.config import PresentingConfig
from proxid.runtime.config.base import require
from proxid.runtime.config.fields import Address, ConfigPath


class PartyConfig(PresentingConfig):
    """A third party that subscribes to its feed."""

    model_config = SettingsConfigDict(env_prefix="PROXID_PARTY__")
    role: ClassVar[str] = "party"

    gateway: Address = "127.0.0.1:7443"
    gateway_name: str = "gateway"
    signing_key: ConfigPath = Field(default=Path("signing.key"), validate_default=True)
    opening_key: ConfigPath = Field(default=Path("opening.key"), validate_default=True)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require(self.trust, "screener", "service")
        return self
