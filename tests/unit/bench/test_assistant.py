"""`proxid bench assistant`: what cannot be measured is refused; the upstream counts, and knows who asked."""

import asyncio
import os

import httpx
import pytest

from bench.assistant import Options
from bench.assistant.page import page_figures
from bench.assistant.upstream import CountingUpstream, owner
from proxid.errors import InputError


@pytest.mark.parametrize(("name", "value"), [("asks", "0"), ("slow", "19"), ("asks", "x")])
def test_options_that_cannot_be_measured_are_refused(name: str, value: str) -> None:
    with pytest.raises(InputError):
        Options.parse({name: value})
    assert Options.parse({"another": "1"}) == Options()


async def test_the_upstream_counts_questions_and_finds_who_asked() -> None:
    async with CountingUpstream().running() as upstream, httpx.AsyncClient(trust_env=False) as client:
        body = {"messages": [{"role": "user", "content": "why"}]}
        for _ in range(2):
            answer = await client.post(f"{upstream.url}/chat/completions", json=body)
            assert answer.json()["choices"][0]["message"]["content"] == "So it is."
        assert upstream.calls == {"why": 2}
        assert await asyncio.to_thread(owner, upstream.ports["why"], [1, os.getpid()]) == os.getpid()


def test_the_page_is_measured_with_two_thousand_rows() -> None:
    assert page_figures()["page_2000_rows_kb"]["value"] > 50
