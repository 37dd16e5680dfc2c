"""An evidence volume that is full: the service refuses by name, stays, and goes on when there is room."""

import resource
from pathlib import Path

import pytest

from auditor.findings import Verdict
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.household.household import Household
from proxid.errors import RefusedError, UpstreamError
from tests.e2e.test_store_failure import ask_until_answered, patient, verdict


@pytest.mark.parametrize("name", ["main-service", pytest.param("gateway", marks=pytest.mark.slow)])
async def test_refused_by_name_while_there_is_no_room_and_served_afterwards(tmp_path: Path, name: str) -> None:
    trial = DemoTrial(tmp_path / "trial", DemoOptions(people=3, form="pairs"))
    (tmp_path / "trial").mkdir()
    trial.provision()
    household = None
    try:
        trial.start()
        household = Household.open(patient(trial.devices()[0]))
        user = household.users[0]
        await household.consent(user, "everything")
        assert (await household.ask(user, "what is two plus two")).text
        pid = trial.children[name].pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        seen = set()
        for _ in range(40):
            try:
                await household.ask(user, "what time is it")
            except (RefusedError, UpstreamError) as error:
                seen.add(error.remote.value if isinstance(error, RefusedError) else error.code.value)
                break
        assert seen == {"log_full" if name == "gateway" else "upstream_unreachable"}
        assert trial.dead() == []
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await ask_until_answered(household)
        assert trial.dead() == [] and trial.children[name].pid == pid
        assert verdict(trial) is Verdict.CLEAN
    finally:
        if household is not None:
            await household.close()
        trial.stop()
