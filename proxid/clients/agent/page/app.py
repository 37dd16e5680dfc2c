"""The page's views: each is one person's, whom the session names; no address and no form says whose it is."""

import json
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.page.deeds import Deeds
from proxid.clients.agent.page.guard import Guard
from proxid.clients.agent.page.rows import cut, part, passed
from proxid.clients.agent.page.sessions import Session, Sessions
from proxid.clients.household.told import meaning_of, moment, objection_of, standing_of
from proxid.clients.household.words import LANGUAGES, Words, words_in
from proxid.errors import ProxidError

COOKIE: Final = "__Host-proxid"
_PACKAGE: Final = "proxid.clients.agent.page"
_LARGEST: Final = 1 << 16
"""Bytes of a form."""
_FORM: Final = "application/x-www-form-urlencoded"
_PAGES: Final = Environment(
    loader=PackageLoader(_PACKAGE, "templates"), autoescape=True, undefined=StrictUndefined,
    trim_blocks=True, lstrip_blocks=True,
)  # fmt: skip

Fields = dict[str, str]
View = Callable[[Request, Session], Awaitable[Response]]
Deed = Callable[[Request, Session, Fields], Awaitable[Response]]


def application(deeds: Deeds, codes: Codes, port: int) -> ASGIApp:
    """The page as an ASGI application, for a listener at `port` of this machine."""
    page = _Page(deeds, codes)
    get, post = ["GET"], ["POST"]
    routes = [
        Route("/", page.enter, methods=get),
        Route("/enter", page.entered, methods=post),
        Route("/style.css", _style, methods=get),
        Route("/schema.json", _schema, methods=get),
        Route("/consent", page.shown(page.consent), methods=get),
        Route("/asked", page.shown(page.asked), methods=get),
        Route("/passed", page.shown(page.passed), methods=get),
        Route("/rights", page.shown(page.rights), methods=get),
        Route("/leave", page.done(page.leave), methods=post),
        Route("/language", page.done(page.language), methods=post),
        Route("/export.{form}", page.done(page.export), methods=post),
        *(Route(path, page.done(page.doing(deed, to)), methods=post) for path, (deed, to) in deeds.forms.items()),
    ]
    return Guard(Starlette(routes=routes), [f"{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]")])


def _preferred(request: Request) -> str:
    """The first of our languages that the browser names."""
    for one in request.headers.get("accept-language", "").split(","):
        tag = one.partition(";")[0].strip().partition("-")[0].lower()
        if tag in LANGUAGES:
            return tag
    return LANGUAGES[0]


def _show(name: str, language: str, user: str | None = None, status: int = 200, **values: Any) -> HTMLResponse:
    text = _PAGES.get_template(f"{name}.html.j2").render(
        t=words_in(language)["page"], c=words_in(language)["consent"], language=language, user=user, here=name,
        said=values.pop("said", []), moment=moment, cut=cut, **values,
    )  # fmt: skip
    return HTMLResponse(text, status)


def _to(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)


async def _fields(request: Request) -> Fields:
    """A form's; of fields that come twice the last, of what is no form, or not all of it, nothing."""
    data = b""
    try:
        async for piece in request.stream():
            data += piece
            if len(data) > _LARGEST:
                return {}
    except ClientDisconnect:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
        return {}
    try:
        return {key: values[-1] for key, values in parse_qs(data.decode("utf-8"), max_num_fields=32).items()}
    except ValueError:
        return {}


async def _style(_request: Request) -> Response:
    return Response(files(_PACKAGE).joinpath("style.css").read_text("utf-8"), media_type="text/css")


async def _schema(_request: Request) -> Response:
    text = files("proxid.clients.household").joinpath("personal-data.schema.json").read_text("utf-8")
    return Response(text, media_type="application/schema+json")


class _Page:
    def __init__(self, deeds: Deeds, codes: Codes) -> None:
        self._deeds, self._codes = deeds, codes
        self._sessions = Sessions(time.monotonic)

    def _session(self, request: Request) -> Session | None:
        return self._sessions.of(request.cookies.get(COOKIE, ""))

    def shown(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        """A view for whoever has a session; others are asked for their code."""

        @wraps(view)
        async def framed(request: Request) -> Response:
            session = self._session(request)
            return _to("/") if session is None else await view(request, session)

        return framed

    def done(self, deed: Deed) -> Callable[[Request], Awaitable[Response]]:
        """A form of whoever has a session; whoever has none did nothing."""

        @wraps(deed)
        async def framed(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                return PlainTextResponse("refused", 403)
            return await deed(request, session, await _fields(request))

        return framed

    def doing(self, deed: Callable[[Session, Fields], Awaitable[list[str]]], to: str) -> Deed:
        """A form that does something: what came of it is said on the page that it leads back to."""

        async def form(_request: Request, session: Session, fields: Fields) -> Response:
            try:
                session.said = await deed(session, fields)
            except ProxidError as error:
                session.said = [self._deeds.problem(error, session.language)]
            return _to(to)

        return form

    def _shown(self, name: str, session: Session, **values: Any) -> HTMLResponse:
        said, session.said = session.said, []
        return _show(name, session.language, session.user, said=said, **values)

    async def enter(self, request: Request) -> Response:
        """Where a code is typed."""
        return _show("enter", _preferred(request)) if self._session(request) is None else _to("/consent")

    async def entered(self, request: Request) -> Response:
        """A code was typed."""
        language = _preferred(request)
        user = self._codes.take((await _fields(request)).get("code", ""))
        if user is None:
            return _show("enter", language, status=403, said=[words_in(language)["page"]["enter"]["wrong"]])
        response = _to("/consent")
        cookie = self._sessions.begin(user, language)
        response.set_cookie(COOKIE, cookie, path="/", secure=True, httponly=True, samesite="strict")
        return response

    async def leave(self, request: Request, _session: Session, _fields: Fields) -> Response:
        """The session ends."""
        self._sessions.end(request.cookies.get(COOKIE, ""))
        response = _to("/")
        response.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")
        return response

    async def language(self, _request: Request, session: Session, _fields: Fields) -> Response:
        """The other language."""
        session.language = LANGUAGES[LANGUAGES.index(session.language) - 1]
        return _to("/consent")

    async def consent(self, _request: Request, session: Session) -> Response:
        """What is in effect, and the choices."""
        if self._deeds.is_erased(session.user):
            return _to("/rights")
        words: Words = words_in(session.language)
        try:
            found, lasting = await self._deeds.standing(session.user)
        except ProxidError as error:
            session.said.append(self._deeds.problem(error, session.language))
            return self._shown("consent", session, now=None, choices=[], chosen="", lasting=False)
        choices = [(name, meaning_of(found.policy, name, words)) for name in found.policy.bundles]
        now = objection_of(self._deeds.objection(session.user), words) + standing_of(found, lasting, words)
        if not found.pending:
            now += meaning_of(found.policy, found.bundle, words)
        return self._shown(
            "consent", session, now=now, choices=choices, chosen=found.bundle, lasting=bool(found.lasting)
        )

    async def asked(self, request: Request, session: Session) -> Response:
        """The own history."""
        history = self._deeds.history(session.user)
        rows = part([*history.asked()], request.query_params.get("from", ""))
        return self._shown("asked", session, kept=history.kept, part=rows)

    async def passed(self, request: Request, session: Session) -> Response:
        """What went to whom, as it was answered last."""
        if session.held is None:
            return self._shown("passed", session, at=None)
        (at, kept, held), words = session.held, words_in(session.language)
        rows = part(passed(held, kept, words), request.query_params.get("from", ""))
        return self._shown("passed", session, at=at, part=rows, waiting=held["main_service"]["waiting"])

    async def rights(self, _request: Request, session: Session) -> Response:
        """Rights, and who holds what."""
        values = self._deeds.rights_of(session)
        return self._shown("rights", session, **values)

    async def export(self, request: Request, session: Session, _fields: Fields) -> Response:
        """Everything, as a file to take along."""
        form = request.path_params["form"]
        if form not in ("json", "html"):
            return PlainTextResponse("refused", 404)
        try:
            document = await self._deeds.everything(session.user)
        except ProxidError as error:
            session.said = [self._deeds.problem(error, session.language)]
            return _to("/rights")
        name = {"content-disposition": f'attachment; filename="proxid.{form}"'}
        if form == "json":
            text = json.dumps(document, ensure_ascii=False, indent=1)
            return Response(text, media_type="application/json", headers=name)
        values = self._deeds.export_of(document, session.language)
        shown = _show("export", session.language, session.user, **values)
        shown.headers.update(name)
        return shown
