"""What `docker compose --profile demo up` starts, as processes: set up, served, asked, received, witnessed, audited."""

from pathlib import Path

import pytest

from proxid.runtime.store.resolve import available_servers
from tests.support.compose import Compose

pytestmark = pytest.mark.slow


RUNNING = ("gateway", "main-service", "auditor", "witness", "acme", "globex")


def yet(compose: Compose) -> list[str]:
    """What should run and does not."""
    return [name for name in RUNNING if not compose.running(name)]


def test_the_demo_runs_from_nothing_to_a_clean_audit(tmp_path: Path) -> None:
    compose = Compose(tmp_path, available_servers()[0].program)
    try:
        for name in compose.services:
            compose.up(name)
        assert yet(compose) == []
        assert compose.finished("household") == 0, compose.output("household")
        assert compose.finished("audit") == 0, compose.output("audit")
        assert "answered" in compose.output("household")
        assert yet(compose) == []
        # Started anew it goes on with the folders that are there.
        compose.again("setup")
        assert compose.finished("setup") == 0
    finally:
        compose.down()
