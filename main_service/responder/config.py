"""Who answers (DESIGN 5.5, 16)."""

from typing import Annotated, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from main_service.responder.skills import UNKNOWN
from proxid.runtime.config.fields import ConfigPath, Duration
from proxid.runtime.config.loading import Section

SkillName = Literal["units", "arithmetic", "calendar", "facts"]


def _url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("an upstream is http://HOST:PORT/v1 or https://…, with its key in key_file")
    return value


class UpstreamSettings(Section):
    """A server that speaks OpenAI's chat completions.

    Attributes:
        url: up to `/v1`. key_file: one line, sent as a bearer token. timeout: seconds of a question, waiting included.
        concurrency: questions at the server at once, from one worker. prompt: what it is told beforehand.
        thinks: its prompt begins its thoughts for it: an answer that was cut before they end is none.
        identifiers: `replace` sends stand-ins for them, `off` what was said. locale: whether it is told.
        failed: what is said when it gives no answer.
    """

    url: Annotated[str, AfterValidator(_url)]
    model: str = Field(min_length=1)
    key_file: ConfigPath | None = None
    timeout: Duration = Field(default=12.0, gt=0)
    concurrency: int = Field(default=32, ge=1, le=1024)
    max_tokens: int = Field(default=200, ge=1)
    thinks: bool = False
    prompt: str = (
        "Answer in at most two short sentences, to be spoken. You cannot control devices, send messages or set timers:"
        " say so when asked."
    )
    identifiers: Literal["replace", "off"] = "replace"
    locale: bool = False
    failed: str = Field(default="Sorry, I can't answer that just now.", min_length=1, max_length=500)


class ResponderSettings(Section):
    """Built-in skills first, then the upstream.

    Attributes:
        skills: in this order. unknown: what is said when nobody knows.
    """

    skills: tuple[SkillName, ...] = get_args(SkillName)
    unknown: str = Field(default=UNKNOWN, min_length=1, max_length=500)
    upstream: UpstreamSettings | None = None

    @model_validator(mode="after")
    def _once(self) -> Self:
        if len(set(self.skills)) < len(self.skills):
            raise ValueError("skills: each once")
        return self
