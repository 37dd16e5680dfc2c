"""The metrics' port: three paths and nothing else; whether it takes requests, and the word for what is missing."""

import http.client
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.parser import text_string_to_metric_families

from proxid import __version__
from proxid.runtime.observability import endpoint, metrics
from proxid.runtime.observability.endpoint import Facts, metrics_endpoint, missing

SLOW = 10.0
"""Seconds that a test waits for what comes at once."""


def asked(port: int | None, path: str, method: str = "GET", accept: str = "*/*") -> tuple[int, str]:
    assert port is not None
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SLOW)
    try:
        connection.request(method, path, headers={"Accept": accept})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.fixture
def well() -> Iterator[None]:
    def all_is_well() -> None:
        metrics.set_ready(True)
        metrics.set_store_away(False)
        metrics.set_log(0, blocked=False)
        metrics.set_clock_doubted(False)

    all_is_well()
    yield
    all_is_well()
    metrics.set_ready(False)


def test_paths_that_nobody_serves_are_not_found() -> None:
    with metrics_endpoint("127.0.0.1:0", Facts()) as port:
        assert asked(port, "/metrics")[0] == asked(port, "/metrics?name[]=up")[0] == 200
        for path in ("/", "/metrics/", "/metricsx", "/favicon.ico", "/healthz/x"):
            assert asked(port, path)[0] == 404, path
        assert asked(port, "/metrics", "POST")[0] == 501
        assert asked(port, "/readyz", "HEAD")[1] == ""


@pytest.mark.usefixtures("well")
def test_what_serving_needs_and_is_not_there_is_named() -> None:
    with metrics_endpoint("127.0.0.1:0", Facts()) as port:
        assert asked(port, "/readyz") == (200, "ready\n")
        metrics.set_store_away(True)
        metrics.set_log(7, blocked=True)
        assert asked(port, "/readyz") == (503, "not ready: store, log\n")
        assert asked(port, "/healthz") == (200, "ok\n")
        metrics.set_store_away(False)
        metrics.set_log(7, blocked=False)
        metrics.set_ready(False)
        assert asked(port, "/readyz") == (503, "not ready: start\n")
        metrics.set_clock_doubted(True)
        assert asked(port, "/readyz") == (503, "not ready: clock\n")


def test_nothing_is_ready_before_it_says_so() -> None:
    registry = CollectorRegistry()
    assert missing(registry) == ["start"]
    Gauge("proxid_ready", "…", registry=registry).set(2)
    assert missing(registry) == []


def test_build_certificates_and_disk_are_shown_and_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "broken.crt").write_text("no certificate")
    facts = Facts({"certificate": tmp_path / "broken.crt", "ca": tmp_path / "none.crt"}, tmp_path)
    with metrics_endpoint("127.0.0.1:0", facts) as port:
        assert asked(port, "/metrics")[1].count("# TYPE proxid_ready ") == 1
        families = {family.name: family for family in text_string_to_metric_families(asked(port, "/metrics")[1])}
    assert families["proxid_build_info"].samples[0].labels["version"] == __version__
    assert families["proxid_certificate_expiry_timestamp_seconds"].samples == []
    assert 0 < families["proxid_disk_free_bytes"].samples[0].value < families["proxid_disk_size_bytes"].samples[0].value
    nowhere = Facts({}, tmp_path / "none")
    assert not any(family.name.startswith("proxid_disk") for family in nowhere.collect())


@pytest.mark.parametrize("version", ["abc", "1", "", "9" * 5000, "1.x.0", "-1"])
def test_whatever_form_is_asked_for_there_is_an_answer(version: str) -> None:
    with metrics_endpoint("127.0.0.1:0", Facts()) as port:
        status, text = asked(port, "/metrics", accept=f"application/openmetrics-text; version={version}")
    assert status == 200 and "proxid_build_info" in text


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def test_who_opens_connections_and_says_nothing_takes_no_room_from_others() -> None:
    with metrics_endpoint("127.0.0.1:0", Facts()) as port:
        silent = [socket.create_connection(("127.0.0.1", port or 0), timeout=SLOW) for _ in range(3 * endpoint.CALLERS)]
        assert asked(port, "/healthz") == (200, "ok\n")  # whoever came before was let in before
        assert sum(map(is_open, silent)) <= endpoint.CALLERS
        for connection in silent:
            connection.close()


def test_who_says_a_request_slowly_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "SECONDS", 0.2)
    with (
        metrics_endpoint("127.0.0.1:0", Facts()) as port,
        socket.create_connection(("127.0.0.1", port or 0), timeout=0.05) as caller,
    ):
        ends = time.monotonic() + SLOW
        with pytest.raises(OSError, match=r"[Pp]ipe|reset"):
            while time.monotonic() < ends:
                caller.sendall(b"G")  # never silent for so long
                time.sleep(0.01)
