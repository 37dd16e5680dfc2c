"""Logs and metrics cannot carry what they must not: planted values are searched for)."""

import io
import json
import logging
import re
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from proxid.errors import Code, ConfigError
from proxid.runtime.observability.endpoint import Facts, metrics_endpoint
from proxid.runtime.observability.events import EVENTS, FIELDS, UNLISTED, keep_listed
from proxid.runtime.observability.logging import configure_logging
from proxid.runtime.observability.metrics import observe_call
from proxid.runtime.transport.methods import note
from tests.support.logs import logging_restored

PLANTED = "my name is Zebulon Quux"
ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("proxid", "gateway", "main_service", "auditor", "device_sim")
CALL = re.compile(r"_log\.(?:debug|info|warning|error|exception)\(\s*f?\"([^\"]*)\"([^\n]*)")


@pytest.fixture
def output() -> Iterator[io.StringIO]:
    with logging_restored():
        stream = io.StringIO()
        configure_logging("gateway", "debug", stream)
        yield stream


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_listed_line_comes_out_whole(output: io.StringIO) -> None:
    structlog.get_logger().info("refused", method="Ask", code="rate_limited")
    (line,) = lines(output)
    assert (line["event"], line["method"], line["code"]) == ("refused", "Ask", "rate_limited")
    assert (line["level"], line["service"]) == ("info", "gateway")


@pytest.mark.parametrize("field", [*FIELDS, "text", "user_id", "utterance", "msg"])
def test_planted_value_comes_out_nowhere(output: io.StringIO, field: str) -> None:
    logger = structlog.get_logger()
    logger.info(PLANTED)
    logger.info("refused", **{field: PLANTED})
    logger.bind(**{field: PLANTED}).warning(f"refused {PLANTED}")
    assert "Zebulon" not in output.getvalue()
    assert [line["event"] for line in lines(output)] == [UNLISTED, "refused", UNLISTED]


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.binary(), st.lists(st.text()))))
def test_only_listed_fields_pass(event: dict[str, object]) -> None:
    kept = keep_listed(event)
    assert set(kept) <= {"event", *FIELDS}
    assert kept["event"] in EVENTS | {UNLISTED}


def test_other_ways_of_printing_are_led_through_the_filter(output: io.StringIO) -> None:
    try:
        raise ValueError(PLANTED)
    except ValueError as error:
        logging.getLogger("grpc._cython").exception("unexpected %s", PLANTED)
        structlog.get_logger().exception("failed")
        sys.excepthook(type(error), error, error.__traceback__)

    def fail() -> None:
        raise KeyError(PLANTED)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert "Zebulon" not in output.getvalue()
    found = lines(output)
    assert [line["event"] for line in found] == ["library message", "failed", "uncaught", "uncaught"]
    assert [line["error_type"] for line in found] == ["ValueError", "ValueError", "ValueError", "KeyError"]
    assert "test_observability.py:" in str(found[0]["where"])


def test_a_failed_call_says_where_it_failed_and_nothing_of_what_it_was_about(output: io.StringIO) -> None:
    try:
        getattr(None, PLANTED)
    except AttributeError as error:
        assert note(error, "Ask") is Code.INTERNAL
    (line,) = lines(output)
    assert (line["event"], line["error_type"]) == ("failed", "AttributeError")
    assert "test_observability.py:" in str(line["where"]) and "Zebulon" not in output.getvalue()


def test_closed_output_is_no_failure(output: io.StringIO) -> None:
    output.close()
    structlog.get_logger().error("failed")


def test_every_log_call_of_the_source_is_listed() -> None:
    """A line that is not listed comes out as `unlisted event`, and helps nobody."""
    called = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for match in CALL.finditer(path.read_text(encoding="utf-8")):
                called.add(match[1])
                fields = re.findall(r"(\w+)=", match[2])
                assert set(fields) <= {*FIELDS, "exc_info"}, f"{path.name}: a field is not listed"
    assert called - EVENTS == set()


def test_metrics_are_served_and_codes_are_closed() -> None:
    with metrics_endpoint("127.0.0.1:0", Facts()) as port:
        observe_call("Ask", "ok", 0.01)
        observe_call("Ask", PLANTED, 0.01)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text = answer.read().decode()
    assert 'proxid_calls_total{code="ok",method="Ask"}' in text
    assert "Zebulon" not in text


def test_no_address_no_endpoint_and_a_taken_one_is_an_error() -> None:
    with metrics_endpoint(None, Facts()) as port:
        assert port is None
    with (
        metrics_endpoint("127.0.0.1:0", Facts()) as port,
        pytest.raises(ConfigError),
        metrics_endpoint(f"127.0.0.1:{port}", Facts()),
    ):
        pass
