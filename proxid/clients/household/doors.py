"""`[agent]` of a household's `device.toml`: the doors that assistants come through (DESIGN 5.6, 16)."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from proxid.runtime.config.fields import Address
from proxid.runtime.config.loading import Section

_LOOPBACK = ("127.", "localhost", "[::1]")


def _is_near(host: str) -> bool:
    return host.startswith(_LOOPBACK) or host == "::1"


class WyomingDoor(Section):
    """One listener for one person or satellite: the protocol says nothing of who speaks, and has no password.

    Attributes:
        uri: `tcp://HOST:PORT` or `unix:///PATH`. user: whom everything that comes in is asked for.
    """

    uri: str
    user: str = Field(min_length=1)

    @model_validator(mode="after")
    def _formed(self) -> Self:
        parts = urlsplit(self.uri)
        if not ((parts.scheme == "unix" and parts.path) or (parts.scheme == "tcp" and parts.hostname and parts.port)):
            raise ValueError("uri: tcp://HOST:PORT or unix:///PATH")
        return self

    @property
    def near(self) -> bool:
        """Whether nobody from outside of this machine reaches it."""
        parts = urlsplit(self.uri)
        return parts.scheme == "unix" or _is_near(parts.hostname or "")


class AgentSettings(Section):
    """The doors.

    Attributes:
        openai: HOST:PORT of the OpenAI-compatible door, None for none. wyoming: one entry a person or satellite.
        page: HOST:PORT of people's page, on this machine alone, at every address of `localhost`; None for none.
        metrics_listen: HOST:PORT where Prometheus reads what was dropped, none if absent.
        commands: `home` does not send what the classifier calls a home command, `share` sends it as anything else.
        exposed: doors may listen on other addresses than this machine's.
    """

    openai: Address | None = "127.0.0.1:7447"
    page: Address | None = "127.0.0.1:7449"
    wyoming: tuple[WyomingDoor, ...] = ()
    metrics_listen: Address | None = None
    commands: Literal["home", "share"] = "home"
    exposed: bool = False

    @model_validator(mode="after")
    def _near(self) -> Self:
        far = [at for at in (self.openai, self.metrics_listen) if at is not None and not _is_near(at)]
        if not self.exposed and (far or not all(door.near for door in self.wyoming)):
            raise ValueError(
                "a door listens beyond this machine, for whoever reaches it: exposed = true if that is meant"
            )
        if self.page is not None and not _is_near(self.page):
            raise ValueError("page: listens on this machine alone, as in 127.0.0.1:7449")
        return self
