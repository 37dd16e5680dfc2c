"""What is no visit of a person's is refused before a view sees it, and every answer tells the browser what it may do.

A page on the own machine can be asked for by every web site that its user visits: under a name that the site's owner
points at 127.0.0.1 (then `Host` is foreign), or by a form (then `Origin` is).
"""

from collections.abc import Collection
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY: Final = (
    "default-src 'none'; script-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS: Final = {
    "content-security-policy": _POLICY,
    # Not `no-referrer`: with that browsers say of their own forms that they come from nowhere.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_READING: Final = ("GET", "HEAD")


class Guard:
    """See the module.

    Args:
        hosts: what `Host` may say, with the port.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app, self._hosts = app, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI application."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] != "http":
            return
        app = self._app if self._is_visit(scope) else PlainTextResponse("refused", 403)
        await app(scope, receive, sending)

    def _is_visit(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        host = headers.getlist("host")
        if len(host) != 1 or host[0].lower() not in self._hosts:
            return False
        if scope["method"] in _READING:
            return True
        return headers.getlist("origin") == [f"http://{host[0].lower()}"] and headers.get(
            "sec-fetch-site", "same-origin"
        ) in ("same-origin", "none")
