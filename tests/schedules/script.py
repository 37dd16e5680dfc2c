"""What a seed decides, before anything runs: who does what in which order, and which line, clock, disk, service fails.

A seed first draws which kinds of steps there are at all (swarm testing, Groce et al. 2012): a schedule of everything
at once hides what needs two things in a row.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.schedules.line import AT_ONCE, Fault

PEOPLE: Final = tuple(f"person-{i}" for i in range(5))
PARTIES: Final = ("acme", "globex")
SERVICES: Final = ("gateway", "main-service")
LINES: Final = ("device", "subscriber", "forward", "gateway-store", "main-service-store")
"""Device to gateway, party to gateway, gateway to main service, and each service to its store."""
NODES: Final = ("news", "travel")
BUNDLES: Final = ("everything", "everything", "nothing", "searches", "only-acme", "aliased")
HOUR, DAY = 3600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Step:
    """One decision.

    Attributes:
        kind: a method of `play.Play`. pause: seconds of the loop's time until the next one.
    """

    kind: str
    arguments: tuple[object, ...]
    pause: float

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.arguments))}) then {self.pause:g} s"


@dataclass(frozen=True, slots=True)
class Script:
    """All decisions of a seed. form: of the releases. ending: seconds after the epoch's end at which all is looked at,
    or None: within it."""

    seed: int
    form: str
    steps: tuple[Step, ...]
    ending: float | None

    def __str__(self) -> str:
        lines = [f"seed {self.seed}, form {self.form}, ending {self.ending}"]
        return "\n".join([*lines, *(f"  {number:2} {step}" for number, step in enumerate(self.steps, 1))])


def script(seed: int) -> Script:
    """The same for the same seed, on every machine."""
    draw = random.Random(f"schedule {seed}")
    themes = draw.sample(sorted(_THEMES), draw.choice((1, 1, 2, 2, 3)))
    kinds = [*_ALWAYS, *(kind for theme in themes for kind in _THEMES[theme] for _ in range(2))]
    steps: list[Step] = [Step("everybody", ("everything",), 0.5), Step("chorus", (NODES[0],), draw.choice((0.0, 0.6)))]
    for _ in range(draw.randrange(8, 17)):
        steps += _STEPS[draw.choice(kinds)](draw)
    form = draw.choice(("pairs", "split"))
    return Script(seed, form, tuple(steps), draw.choice((None, 60.0, 400.0, 4000.0)))


def _pause(draw: random.Random) -> float:
    return draw.choice((0.0, 0.0, 0.02, 0.1, 0.3, 1.0))


def _one(kind: str, *choices: Sequence[object]) -> object:
    def made(draw: random.Random) -> list[Step]:
        return [Step(kind, tuple(draw.choice(options) for options in choices), _pause(draw))]

    return made


def _fault(draw: random.Random) -> list[Step]:
    line, fault = draw.choice(LINES), draw.choice(tuple(Fault))
    struck = Step("strike", (line, fault, draw.choice((0.05, 0.2, 0.6)), draw.randrange(2)), _pause(draw))
    if fault in AT_ONCE:
        return [struck]
    between = [_STEPS[draw.choice(_ALWAYS)](draw) for _ in range(draw.randrange(3))]
    return [struck, *(step for steps in between for step in steps), Step("heal", (line,), _pause(draw))]


def _clock(draw: random.Random) -> list[Step]:
    role = draw.choice((*SERVICES, *SERVICES, "device"))
    seconds = draw.choice((1, -1)) * draw.choice((100.0, 150.0, HOUR, DAY, DAY, 400 * DAY))
    wrong = Step("clock", (role, seconds), draw.choice((0.3, 1.5, 3.0)))
    between = [_STEPS[draw.choice((*_ALWAYS, "pass", "restart"))](draw) for _ in range(draw.randrange(3))]
    return [wrong, *(step for steps in between for step in steps), Step("clock", (role, 0.0), draw.choice((0.1, 2.0)))]


def _restart(draw: random.Random) -> list[Step]:
    role = draw.choice(SERVICES)
    between = [_STEPS[draw.choice(_ALWAYS)](draw) for _ in range(draw.randrange(2))]
    return [
        Step("halt", (role,), _pause(draw)), *(step for steps in between for step in steps),
        Step("serve", (role,), _pause(draw)),
    ]  # fmt: skip


def _disk(draw: random.Random) -> list[Step]:
    role = draw.choice(SERVICES)
    between = [_STEPS[draw.choice(_ALWAYS)](draw) for _ in range(draw.randrange(1, 3))]
    return [
        Step("disk_full", (role,), 0.0), *(step for steps in between for step in steps),
        Step("disk_room", (role, draw.choice((True, True, False))), _pause(draw)),
    ]  # fmt: skip


_ALWAYS: Final = ("ask", "ask", "chorus", "chorus", "consent", "receive")
_THEMES: Final[dict[str, tuple[str, ...]]] = {
    "lines": ("fault", "fault"),
    "clocks": ("clock", "pass"),
    "restarts": ("restart", "store", "party"),
    "disks": ("disk",),
    "rights": ("object", "resume", "erase", "access", "consent"),
    "doubles": ("double", "double"),
    "time": ("pass", "epoch"),
    "crowds": ("crowd", "ask", "receive"),
}
_STEPS: Final[dict[str, object]] = {
    "ask": _one("ask", PEOPLE, NODES),
    "chorus": _one("chorus", NODES),
    "consent": _one("consent", PEOPLE, BUNDLES),
    "receive": _one("receive", PARTIES),
    "object": _one("right", ("object",), PEOPLE),
    "resume": _one("right", ("resume",), PEOPLE),
    "erase": _one("right", ("erase",), PEOPLE),
    "access": _one("right", ("access",), PEOPLE),
    "fault": _fault,
    "clock": _clock,
    "restart": _restart,
    "store": _one("kill_store", SERVICES),
    "party": _one("receive_broken", PARTIES, (0.05, 0.2, 0.5)),
    "disk": _disk,
    "double": _one("double", ("device", "subscriber", "forward"), (0.0, 0.2, 1.0)),
    "pass": _one("time", (40.0, 200.0, 3000.0, 4000.0, 7 * HOUR)),
    "epoch": _one("epoch", (-20.0, 5.0, 200.0, 310.0, HOUR)),
    "crowd": _one("crowd", (20, 40)),
}
"""What a kind becomes."""
