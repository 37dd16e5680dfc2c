"""Cursors that no feed has are refused as such, before the store sees them."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.feeds import Feeds
from proxid.errors import RecordMismatchError


@pytest.mark.parametrize("cursor", [1 << 53, (1 << 64) - 1])
async def test_a_cursor_beyond_any_feed_is_refused(cursor: int) -> None:
    screener: Any = SimpleNamespace(party_keys={"acme": b""})
    nobody: Any = SimpleNamespace()
    feeds = Feeds(screener, nobody, nobody, nobody, nobody)  # a store that was asked would fail
    with pytest.raises(RecordMismatchError):
        await anext(feeds.stream("acme", cursor, follow=False))
