"""Configurations of a household's device and of the offline enrolment authority (DESIGN 16)."""

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from proxid.clients.auditing.config import PresentingConfig
from proxid.clients.household.doors import AgentSettings
from proxid.protocol.epochs import EPOCH_SECONDS
from proxid.protocol.request import LOCALE
from proxid.runtime.config.base import require
from proxid.runtime.config.classify import ClassifySettings
from proxid.runtime.config.fields import CENTURY, Address, ConfigPath, Duration, Name
from proxid.runtime.config.loading import Config
from proxid.runtime.config.policy import Policy, PolicyField
from proxid.runtime.config.wording import LOCALE_PATTERN
from proxid.runtime.transport.retry import SECONDS


class DeviceConfig(PresentingConfig):
    """A household's device. It trusts pk_MS, pk_IS and pk_EA and nothing else that it is told (DESIGN 2).

    Attributes:
        gateway: address of the gateway; gateway_name: the name its certificate must carry.
        timeout: seconds of one call. deadline, attempts: seconds, and calls with the same nonce, before giving up.
        epoch_seconds, clock_skew: by them it judges the epoch that the gateway tells.
        locale: of all its people; another than the usual one marks them.
        exact_location: whether places are sent as they are given, not only to about a hundred metres.
        agent: doors of `proxid agent`. classify: what is added to the classifier that tells it home commands.
        policy: of earlier versions, and of no effect: what counts is the document that the epoch's key names.
    """

    model_config = SettingsConfigDict(env_prefix="PROXID_DEVICE__")
    role: ClassVar[str] = "device"

    gateway: Address = "127.0.0.1:7443"
    gateway_name: str = "gateway"
    timeout: Duration = Field(default=26.0, gt=0)
    deadline: Duration = Field(default=SECONDS, gt=0)
    attempts: int = Field(default=100, ge=1)
    epoch_seconds: int = Field(default=EPOCH_SECONDS, ge=60, le=CENTURY)
    clock_skew: Duration = Field(default=120.0, gt=0)
    locale: str = Field(default=LOCALE, max_length=35, pattern=LOCALE_PATTERN)
    exact_location: bool = False
    agent: AgentSettings = Field(default_factory=AgentSettings)
    classify: ClassifySettings = Field(default_factory=ClassifySettings)
    policy: PolicyField = Field(default_factory=Policy)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        require(self.trust, "enrolment_authority", "screener", "service")
        return self


class EnrolmentAuthorityConfig(Config):
    """The enrolment authority: an offline signer, no network."""

    model_config = SettingsConfigDict(env_prefix="PROXID_EA__")
    role: ClassVar[str] = "ea"

    name: Name = "ea"
    signing_key: ConfigPath = Field(default=Path("signing.key"), validate_default=True)
