"""Histories as Hypothesis draws them: rules over `tests.support.history`, one loop and one house for all of them."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RULE_MARKER as _RULE
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests.support.days import SERVICES
from tests.support.history import BUNDLES, MADE, PEOPLE, POLICIES, History, accept_all
from tests.support.lies import GATEWAY
from tests.support.still_house import Fuse, StillHouse, opened
from tests.support.still_jobs import STEPS
from tests.support.told import Objects
from tests.support.trial import PARTIES

STEPS_OF_ONE = 24
"""Of a history, at most."""
CLOCKS = (-400 * 86_400.0, -86_400.0, -3_000.0, -200.0, 200.0, 3_000.0, 86_400.0, 400 * 86_400.0)

person, bundle = st.sampled_from(PEOPLE), st.sampled_from(BUNDLES)
node, role, party = st.sampled_from(("node0", "node1")), st.sampled_from(SERVICES), st.sampled_from(PARTIES)
some = st.sets(person, min_size=1).map(sorted)
roles = st.sampled_from((SERVICES, SERVICES, *((one,) for one in SERVICES)))


class Histories(RuleBasedStateMachine):
    """A history; `house` and `loop` are set once for all."""

    house: ClassVar[StillHouse]
    form: ClassVar[str]
    loop: ClassVar[asyncio.AbstractEventLoop]
    began: ClassVar[int] = 0
    found: ClassVar[str] = ""
    """How many histories began, and how the first one failed that did."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History(self.house, self.form)
        self.failed = False
        type(self).began += 1
        self._do(self.history.begin())

    def _do(self, act: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self.loop.run_until_complete(act)
        except BaseException as error:
            self.failed = True
            type(self).found = type(self).found or f"{type(error).__name__}: {error}"
            raise

    def teardown(self) -> None:
        try:
            if not self.failed:
                self._do(self.history.end())
        finally:
            self.loop.run_until_complete(self.history.close())

    # What people do.

    @initialize(bundle=st.sampled_from(BUNDLES[1:]), people=some, settled=st.booleans())
    def a_day_before(self, bundle: str, people: list[str], settled: bool) -> None:
        """Hypothesis leaves out rules in many histories: what most others need is there in each."""
        self._everybody(bundle)
        self._do(self.history.ask(people, "node0"))
        if settled:
            self._do(self.house.settle())

    @rule(bundle=bundle)
    def everybody_chooses(self, bundle: str) -> None:
        self._everybody(bundle)

    def _everybody(self, bundle: str) -> None:
        for one in self.history.living:
            self._do(self.history.choose(one, bundle))

    @rule(person=person, bundle=bundle)
    def chooses(self, person: str, bundle: str) -> None:
        if person in self.history.living:
            self._do(self.history.choose(person, bundle))

    @rule(node=node)
    def everybody_asks(self, node: str) -> None:
        self._do(self.history.ask(self.history.living, node))

    @rule(people=some, node=node)
    def ask(self, people: list[str], node: str) -> None:
        self._do(self.history.ask(people, node))

    @rule(person=person)
    def objects(self, person: str) -> None:
        if person in self.history.living:
            self._do(self.history.object(person))

    @rule()
    def resume(self) -> None:
        for one in self.history.living:
            if self.history.told.objects(one) is not Objects.NO:
                self._do(self.history.object(one, resume=True))

    @rule(person=person, wait=st.booleans())
    def is_erased(self, person: str, wait: bool) -> None:
        if person in self.history.living and len(self.history.living) > 3:
            self._do(self.history.erase(person, wait))

    # What parties, machines and operators do.

    @rule(party=party, silent=st.booleans())
    def reads(self, party: str, silent: bool) -> None:
        self._do(self.history.receive(party, silent))

    @rule(job=st.sampled_from(sorted(STEPS)))
    def runs(self, job: str) -> None:
        self._do(self.house.step(job))

    @rule()
    def settles(self) -> None:
        self._do(self.house.settle())

    @rule(role=role, told=st.booleans())
    def dies(self, role: str, told: bool) -> None:
        if role in self.house.jobs:
            self._do(self.house.kill(role, told=told))

    @rule(role=role, at=st.integers(1, 12), after=st.booleans())
    def will_die(self, role: str, at: int, after: bool) -> None:
        if role in self.house.jobs:
            self.house.fuses["{gw}" if role == GATEWAY else "{ms}"] = Fuse(at, after)

    @rule(role=role)
    def goes(self, role: str) -> None:
        self._do(self.history.away(role))

    # What is drawn must not hang on what became of it (a step that was killed, an answer that was late): drawn again,
    # it would be another history. So rules look for themselves whether there is something to do.
    @rule(role=role)
    def comes_back(self, role: str) -> None:
        self._do(self.history.back(role))

    @rule(role=st.sampled_from((*SERVICES, "device")), by=st.sampled_from(CLOCKS))
    def clock_is_wrong(self, role: str, by: float) -> None:
        self._do(self.history.wrong(role, by))

    @precondition(lambda self: any(clock.set for clock in self.house.clocks.values()))
    @rule()
    def clocks_are_right(self) -> None:
        for clock in self.house.clocks.values():
            clock.set = 0.0
        self._do(self.house.compare())

    @rule(seconds=st.sampled_from((1.0, 30.0, 250.0, 4_000.0)))
    def time_passes(self, seconds: float) -> None:
        self._do(self.history.pass_time(seconds))

    @rule(after=st.sampled_from((5.0, 200.0, 400.0, 7_200.0)))
    def a_day_begins(self, after: float) -> None:
        self._do(self.history.day(after))
        self._do(self.house.compare())

    @rule(which=st.sampled_from(sorted(POLICIES["pairs"])), roles=roles)
    def policy_changes(self, which: str, roles: tuple[str, ...]) -> None:
        self.history.govern(which, *roles)

    @rule()
    def device_is_opened_again(self) -> None:
        self._do(self.history.reconnect())


@contextmanager
def one_house(form: str = "pairs") -> Iterator[type[Histories]]:
    """The machine's house, on a disk that syncs at once if there is one.

    Args:
        form: of the release.
    """
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="proxid-", dir=memory if os.access(memory, os.W_OK) else None))
    loop = asyncio.new_event_loop()
    stack, before = AsyncExitStack(), partial(accept_all, form=form)
    try:
        house = loop.run_until_complete(
            stack.enter_async_context(opened(folder, before, people=PEOPLE, anonymiser=MADE[form]))
        )
        yield type("Histories", (Histories,), {"house": house, "loop": loop, "form": form})
    finally:
        loop.run_until_complete(stack.aclose())
        loop.close()
        shutil.rmtree(folder)


def of_rules(machine: type[Histories], *names: str) -> type[Histories]:
    """The machine with no other rules than these."""
    others = [name for name, found in vars(Histories).items() if hasattr(found, _RULE) and name not in names]
    return type("Histories", (machine,), {**dict.fromkeys(others), "began": 0, "found": ""})


def run(machine: type[Histories], histories: int, number: int, steps: int = STEPS_OF_ONE) -> None:
    """So many histories of a seed, or fewer if there is one that fails."""
    chosen = settings(
        max_examples=histories, stateful_step_count=steps, deadline=None, derandomize=False, database=None,
        print_blob=True, phases=(Phase.generate,), suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
    )  # fmt: skip
    run_state_machine_as_test(seed(number)(machine), settings=chosen)
