"""What a store's URL may say: all that the documentation names; a slip in it is one of the configuration."""

import pytest

from proxid.errors import ConfigError
from proxid.runtime.store import connect
from proxid.runtime.store.connection import shown_url


@pytest.mark.parametrize("scheme", ["redis", "rediss", "valkey", "valkeys"])
def test_each_scheme_that_a_configuration_takes_is_one_of_a_client(scheme: str) -> None:
    made = connect(f"{scheme}://10.0.0.7:6380/2").connection_pool.make_connection()
    assert (made.host, made.port, made.db) == ("10.0.0.7", 6380, 2)


@pytest.mark.parametrize("rest", [":port", ":99999", ":6379/0?socket_timeout=abc", ":6379/0?frob=1", ":6379/?retry=1"])
def test_a_slip_is_named_and_not_repeated(rest: str) -> None:
    with pytest.raises(ConfigError) as error:
        connect(f"redis://:planted@10.0.0.7{rest}")
    assert "store_url" in error.value.rule and "planted" not in error.value.rule


def test_no_message_shows_a_password() -> None:
    for url in ("redis://:planted@h:1/0", "redis://h:1/0?password=planted&db=3", "rediss://u:planted@h:1"):
        assert "planted" not in shown_url(url) and "h:1" in shown_url(url)
    assert shown_url("unix:///a/b.sock?db=2") == "unix:///a/b.sock"
