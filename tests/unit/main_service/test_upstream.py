"""An upstream is told the text and nothing else, and whatever it does is a sentence (DESIGN 5.5)."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from main_service.responder import Context, Outcome, Reply, Upstream
from main_service.responder.config import UpstreamSettings
from main_service.responder.stand_ins import put_back, replace
from proxid.classify.identifiers.spans import Span
from proxid.errors import ConfigError
from tests.support.upstream import Says, chat_server

HERE = Context(1_700_000_000_000, "en-GB")


def settings(url: str, **more: Any) -> UpstreamSettings:
    return UpstreamSettings(url=url, model="small", **({"identifiers": "off"} | more))


async def asked(url: str, *texts: str, now: Callable[[], float] | None = None, **more: Any) -> list[Reply]:
    upstream = Upstream(settings(url, **more), **({"now": now} if now else {}))
    try:
        return [await upstream.answer(text, HERE) for text in texts]
    finally:
        await upstream.aclose()


async def test_it_is_told_the_text_and_nothing_else() -> None:
    with chat_server(lambda text: f" You said {text}. ") as server:
        assert await asked(server.url, "why is the sky blue") == [Reply("You said why is the sky blue.")]
    head, _, body = server.seen[0].partition(b"\n\n")
    names = {line.partition(":")[0].lower() for line in head.decode().split("\n")[1:]}
    assert names == {"host", "accept", "accept-encoding", "connection", "user-agent", "content-length", "content-type"}
    told = json.loads(body)
    assert set(told) == {"model", "messages", "max_tokens", "stream"}
    assert told["messages"][1] == {"role": "user", "content": "why is the sky blue"}
    assert [message["role"] for message in told["messages"]] == ["system", "user"] and "en-GB" not in str(told)


async def test_its_key_and_the_locale_go_along_if_asked_for(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-123\n")
    with chat_server(lambda _: "yes") as server:
        await asked(server.url, "is it", key_file=tmp_path / "key", locale=True)
    assert b"authorization: Bearer sk-123" in server.seen[0].replace(b"Authorization", b"authorization")
    assert b"en-GB" in server.seen[0]


@pytest.mark.parametrize("held", [None, "", "two\nlines", "ümlaut"])
async def test_a_key_that_cannot_be_used_is_named(tmp_path: Path, held: str | None) -> None:
    if held is not None:
        (tmp_path / "key").write_text(held)
    with pytest.raises(ConfigError, match="key_file"):
        Upstream(settings("http://127.0.0.1:1/v1", key_file=tmp_path / "key"))


SECRET = "my secret question"


@pytest.mark.parametrize(
    "says",
    [
        lambda _: 500, lambda text: 401, lambda _: 302, lambda _: b"", lambda _: b"{}", lambda _: b"[" * 100_000,
        lambda _: b'{"choices": []}', lambda _: b'{"choices": [{"message": {"content": null}}]}', lambda _: "  ",
        lambda _: b'{"choices": [{"message": {"content": "\\ud800"}}]}', lambda _: b"x" * (2 << 20),
    ],
)  # fmt: skip
async def test_every_failure_is_the_sentence(says: Says, capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(says) as server:
        replies = await asked(server.url, SECRET)
    assert replies == [Reply("Sorry, I can't answer that just now.", Outcome.FAILED)]
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err and server.url not in said.out + said.err


@pytest.mark.parametrize(
    "thought",
    ["<think>\nWell, {}?\n</think>\n\n", "Well, {}?\n</think>", "<think></think>", "", "<THINK>{}</Think>",
     " <thinking>{}</thinking>", "[THINK]{}[/THINK]"],
)  # fmt: skip
async def test_what_a_model_thinks_aloud_is_not_spoken(thought: str) -> None:
    """Of those whose server leaves it in the answer, with or without what opens it."""
    with chat_server(lambda text: f"{thought.format(text)}Because it is.") as server:
        assert await asked(server.url, "why is the sky blue") == [Reply("Because it is.")]


@pytest.mark.parametrize(
    "answer",
    ["It sits between <think> and </think>, as in HTML.", "In its output <think> opens the reasoning.",
     "4.<think>check</think>"],
)  # fmt: skip
async def test_an_answer_that_speaks_of_thoughts_stays_whole(answer: str) -> None:
    with chat_server(lambda _: f"<think>a</think>{answer}") as server:
        assert await asked(server.url, "what is it") == [Reply(answer)]
    with chat_server(lambda _: answer) as server:
        assert await asked(server.url, "what is it") == [Reply(answer)]


@pytest.mark.parametrize("thought", ["<think> well, if", "[THINK] well", "<Thinking>"])
async def test_who_thinks_until_there_is_no_room_left_gave_no_answer(thought: str) -> None:
    """Again and again: that is no reason to ask nobody for a while."""
    with chat_server(lambda _: thought) as server:
        replies = await asked(server.url, *[SECRET] * 7)
        assert {reply.outcome for reply in replies} == {Outcome.FAILED} and len(server.seen) == 7


@pytest.mark.parametrize(("thinks", "outcome"), [(True, Outcome.FAILED), (False, Outcome.ANSWERED)])
async def test_a_thought_that_its_template_began_and_that_was_cut_is_no_answer(thinks: bool, outcome: Outcome) -> None:
    said = b'{"choices": [{"message": {"content": "Well, who asks is ill"}, "finish_reason": "length"}]}'
    with chat_server(lambda _: said) as server:
        assert (await asked(server.url, SECRET, thinks=thinks))[0].outcome is outcome


async def test_nobody_there_and_nobody_in_time() -> None:
    assert (await asked("http://127.0.0.1:9/v1", SECRET))[0].outcome is Outcome.FAILED
    held = threading.Event()
    with chat_server(lambda _: str(held.wait(30))) as server:
        assert (await asked(server.url, SECRET, timeout=0.3))[0].outcome is Outcome.LATE
        held.set()


async def test_after_five_failures_nobody_is_asked_for_a_while() -> None:
    clock = [0.0]
    broken = [True]
    with chat_server(lambda _: 500 if broken[0] else "hello") as server:
        upstream = Upstream(settings(server.url), now=lambda: clock[0])
        outcomes = [(await upstream.answer(SECRET, HERE)).outcome for _ in range(8)]
        assert outcomes == [Outcome.FAILED] * 5 + [Outcome.REFUSED] * 3 and len(server.seen) == 5
        clock[0] = 11.0
        assert (await upstream.answer(SECRET, HERE)).outcome is Outcome.FAILED  # one tries, and it is shut again
        assert (await upstream.answer(SECRET, HERE)).outcome is Outcome.REFUSED and len(server.seen) == 6
        clock[0] = 22.0
        both = await asyncio.gather(*(upstream.answer(SECRET, HERE) for _ in range(3)))  # again one tries
        assert sorted(reply.outcome for reply in both) == ["failed", "refused", "refused"] and len(server.seen) == 7
        clock[0], broken[0] = 33.0, False
        assert [(await upstream.answer(SECRET, HERE)).outcome for _ in range(2)] == [Outcome.ANSWERED] * 2
        await upstream.aclose()


async def test_who_tries_and_is_told_nothing_has_found_somebody_there() -> None:
    clock, said = [0.0], ["down"]
    with chat_server(lambda _: {"down": 500, "nothing": "<think>", "hello": "hello"}[said[0]]) as server:
        upstream = Upstream(settings(server.url), now=lambda: clock[0])
        for _ in range(5):
            await upstream.answer(SECRET, HERE)
        clock[0] = 11.0
        for said[0], outcome in (("nothing", Outcome.FAILED), ("hello", Outcome.ANSWERED)):
            assert (await upstream.answer(SECRET, HERE)).outcome is outcome
        await upstream.aclose()


async def test_so_many_at_once_and_no_more() -> None:
    held = threading.Event()
    with chat_server(lambda _: str(held.wait(30))) as server:
        upstream = Upstream(settings(server.url, concurrency=3))
        tasks = [asyncio.create_task(upstream.answer(f"question {i}", HERE)) for i in range(10)]
        while len(server.seen) < 3:  # noqa: ASYNC110 - of a thread
            await asyncio.sleep(0.01)
        held.set()
        assert {reply.outcome for reply in await asyncio.gather(*tasks)} == {Outcome.ANSWERED}
        await upstream.aclose()
    assert server.most <= 3 and len(server.seen) == 10


async def test_a_long_answer_ends_with_a_sentence() -> None:
    with chat_server(lambda _: "A sentence. " * 1000) as server:
        text = (await asked(server.url, "go on"))[0].text
    assert len(text) <= 4000 and text.endswith("A sentence.")


def test_stand_ins_go_and_the_words_come_back() -> None:
    said = "text anna and Anna's mother at 6175550123"
    found = (("6175550123", "PHONE"), ("anna", "NAME"), ("Anna", "NAME"))
    spans = [Span(said.index(word), said.index(word) + len(word), kind, "x") for word, kind in found]
    text, words = replace(said, spans)
    assert text == "text Person-1 and Person-1's mother at Number-1"
    assert put_back("I told person-1 (Number-1), not Person-2.", words) == "I told anna (6175550123), not Person-2."


@pytest.mark.parametrize(
    "url", ["ftp://host/v1", "http:///v1", "http://user:key@host/v1", "http://host/v1?key=1", "localhost:8080"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="key_file"):
        settings(url)
