"""The metrics' port: three paths and nothing else, and what it says before anybody has asked for anything."""

import http.client

from proxid.runtime.observability.metrics import metrics_endpoint


def asked(port: int | None, path: str, method: str = "GET") -> tuple[int, str]:
    assert port is not None
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_paths_that_nobody_serves_are_not_found() -> None:
    with metrics_endpoint("127.0.0.1:0") as port:
        assert asked(port, "/metrics")[0] == asked(port, "/metrics?name[]=up")[0] == 200
        for path in ("/", "/metrics/", "/metricsx", "/favicon.ico", "/healthz/x", "//metrics"):
            assert asked(port, path)[0] == 404, path
        assert asked(port, "/metrics", "POST")[0] == 501
