"""The OpenAI-compatible door: models and chat completions, streamed or not; a token is one person (DESIGN 5.6).

What proxid cannot carry is dropped and counted, never sent: system prompts (Home Assistant writes the house's devices
and people there), tools, images, `user`, earlier turns. The person's last message is asked. Whoever talks to this door
cannot be told to act at home, so a home command is answered by saying that it was not sent.
"""

import json
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxid.clients.agent.asking import Asking
from proxid.clients.agent.people import Tokens
from proxid.errors import Code
from proxid.jsontext import load_json
from proxid.runtime.observability.metrics import AGENT_DROPPED

MODEL: Final = "proxid"
_LARGEST: Final = 1 << 20
_STATUS: Final = {Code.OVERSIZED: 413, Code.ENCODING_INVALID: 413, Code.RATE_LIMITED: 429, Code.INPUT_INVALID: 400}
_HEARD: Final = frozenset({"model", "messages", "stream"})


class _Unusable(Exception):
    """A request that is not one: status, code and words."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__()
        self.status, self.code, self.text = status, code, text


def application(asking: Asking, tokens: Tokens) -> Starlette:
    """The door as an ASGI application."""

    async def models(request: Request) -> Response:
        try:
            _person(request, tokens)
        except _Unusable as error:
            return _refused(error)
        entry = {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}
        return JSONResponse({"object": "list", "data": [entry]})

    async def completions(request: Request) -> Response:
        try:
            user = _person(request, tokens)
            asked = _asked(await _body(request))
        except _Unusable as error:
            return _refused(error)
        said = await asking.ask(user, asked.text)
        if said.code in _STATUS:
            return _refused(_Unusable(_STATUS[said.code], said.code.value, said.text))
        return _answered(said.text, asked.stream)

    routes = [
        Route("/v1/models", models, methods=["GET"]),
        Route("/v1/chat/completions", completions, methods=["POST"]),
    ]
    return Starlette(routes=routes)


def _person(request: Request, tokens: Tokens) -> str:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    user = tokens.of(token.strip()) if kind.lower() == "bearer" else None
    if user is None:
        raise _Unusable(401, "invalid_api_key", "this token is nobody's: proxid agent token -u NAME")
    return user


async def _body(request: Request) -> dict[str, Any]:
    data = b""
    try:
        async for part in request.stream():
            data += part
            if len(data) > _LARGEST:
                raise _Unusable(413, "too_large", "the request is larger than 1 MiB")
    except ClientDisconnect:
        raise _Unusable(400, "broken_off", "the request is not whole") from None
    try:
        body = load_json(data.decode("utf-8"))
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise _Unusable(400, "invalid_json", "the request is no JSON object")
    return body


class _Asked:
    """The one utterance of a request, and whether its answer is streamed."""

    def __init__(self, text: str, stream: bool) -> None:
        self.text, self.stream = text, stream


def _asked(body: dict[str, Any]) -> _Asked:
    if body.get("model") != MODEL:
        raise _Unusable(404, "model_not_found", f"the one model here is {MODEL}")
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise _Unusable(400, "invalid_messages", "messages is a list of objects")
    dropped = Counter({name: 1 for name in ("tools", "user", "functions") if body.get(name)})
    dropped["other"] += len({*body} - _HEARD - {*dropped})
    text = None
    for message in messages:
        parts = _parts(message, dropped)
        if message.get("role") == "user" and parts:
            dropped["earlier"] += text is not None
            text = "\n".join(parts)
        elif message.get("role") != "user":
            dropped["system" if message.get("role") in ("system", "developer") else "earlier"] += 1
    for kind, count in dropped.items():
        AGENT_DROPPED.labels(kind).inc(count)
    if text is None:
        raise _Unusable(400, "no_text", "there is no text of a user among the messages")
    return _Asked(text, body.get("stream") is True)


def _parts(message: dict[str, Any], dropped: Counter[str]) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    found = []
    for part in content if isinstance(content, list) else []:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        if isinstance(text, str):
            found.append(text)
        else:
            dropped["image"] += 1
    return found


def _answered(text: str, stream: bool) -> Response:
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": MODEL}
    if not stream:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    return StreamingResponse(_chunks(head, text), media_type="text/event-stream")


def _chunks(head: dict[str, Any], text: str) -> Iterator[str]:
    """One chunk: an answer is one signed message."""
    for delta, reason in (({"role": "assistant", "content": text}, None), ({}, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield f"data: {json.dumps({**head, 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"
    yield "data: [DONE]\n\n"


def _refused(error: _Unusable) -> JSONResponse:
    kind = "invalid_request_error" if error.status < 500 else "api_error"
    return JSONResponse(
        {"error": {"message": error.text, "type": kind, "param": None, "code": error.code}}, error.status
    )
