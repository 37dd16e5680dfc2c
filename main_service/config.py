"""The Main Service's configuration (DESIGN 16)."""

from typing import ClassVar, Final, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from main_service.responder.config import ResponderSettings
from proxid.runtime.config.base import ServiceConfig, require, require_parties
from proxid.runtime.config.classify import ClassifySettings
from proxid.runtime.config.fields import Address, Duration

_FORWARDED: Final = 20.0
"""Seconds that a gateway waits for an answer unless configured (`forward_timeout`)."""


class MainServiceConfig(ServiceConfig):
    """The Main Service.

    Attributes:
        classify: what is added to the classifier; an auditor needs the same to run it again.
        responder: who answers.
        answer_timeout: seconds that a built-in skill may take; less than the gateway's `forward_timeout`.
    """

    model_config = SettingsConfigDict(env_prefix="PROXID_MAIN_SERVICE__")
    role: ClassVar[str] = "main-service"

    listen: Address = "127.0.0.1:7444"
    metrics_listen: Address | None = "127.0.0.1:9465"
    answer_timeout: Duration = Field(default=10.0, gt=0)
    responder: ResponderSettings = Field(default_factory=ResponderSettings)
    classify: ClassifySettings = Field(default_factory=ClassifySettings)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        upstream, most = self.responder.upstream, _FORWARDED - 3
        if upstream is not None and upstream.timeout > most:
            raise ValueError(f"responder.upstream.timeout: {most:g} s at most, since a gateway waits {_FORWARDED:g} s")
        require(self.trust, "screener", "auditor_seal")
        require_parties(self.trust, self.policy.parties)
        return self
