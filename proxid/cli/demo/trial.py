"""The demo's folders and processes (see `proxid.cli.demo`)."""

import datetime
import math
import random
import socket
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from auditor.config import AuditorConfig
from device_sim.corpus import Event, read_events, shipped_events
from device_sim.simulate import Simulation
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.state import HouseholdState
from proxid.errors import OutputError
from proxid.runtime.config import load
from proxid.runtime.process.child import Child
from proxid.runtime.provision import TrialOptions, init_trial
from proxid.runtime.provision.templates import TICKS, Settings

PARTIES: Final = ("acme", "globex", "initech")
SERVICES: Final = ("main-service", "gateway")
AUDITOR: Final = "auditor"
REPORT: Final = "report.html"
"""The audit's page, in the demo's folder."""
WITNESS: Final = "witness"
WITNESS_SECONDS: Final = 5
SLOT_SECONDS: Final = (5, 10, 20)
"""Slots of location queries and commands that close while it runs (8.8); the usual quarter of an hour is longer."""
SLOTS: Final = (*(f"{seconds} s" for seconds in SLOT_SECONDS), "1 d")
LEAST_EPOCH: Final = 60
"""Seconds that every policy lets an epoch last at least."""
START_SECONDS: Final = 20
PERSON_SECONDS: Final = 0.25
"""In which everything starts, and each person chooses, on a busy machine."""
FAST: Final = 100.0
"""Requests a second that the parts together answer on a small machine."""
GRACE_SECONDS: Final = 3
_ACCOUNT_AGE: Final = datetime.timedelta(days=30)
_BUNDLES: Final = {"everything": 80, "searches": 15, "nothing": 5}
"""Bundle and weight: what people choose."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """See the command's options; household: people of each."""

    people: int = 100
    seconds: float = 90.0
    rate: float = 60.0
    k: int = 3
    seed: int = 7
    file: Path | None = None
    changes: float = 0.0
    form: str = "split"
    household: int = 10


class DemoTrial:
    """Everything that the demo puts on disk and starts.

    Args:
        folder: empty or new.
    """

    parties: tuple[str, ...] = PARTIES

    def __init__(self, folder: Path, options: DemoOptions) -> None:
        self.folder = folder
        self.options = options
        self._gateway, self._main_service = _free_addresses(2)
        self.children: dict[str, Child] = {}
        self._begun = time.time()

    def provision(self) -> None:
        """Keys and configurations of every party, and everybody enrolled."""
        households = tuple(f"household-{i + 1}" for i in range(-(-self.options.people // self.options.household)))
        settings = Settings(
            gateway=self._gateway,
            main_service=self._main_service,
            # One machine plays a hundred people: no limit of one person is meant for it.
            by_role={"gateway": {"rate_per_minute": 10_000, "metrics_listen": "127.0.0.1:0"},
                     "main-service": {"metrics_listen": "127.0.0.1:0"}},
            anonymiser={"form": self.options.form, "k": self.options.k, "time_slots": SLOTS},
            **self._epoch(),
        )  # fmt: skip
        now = datetime.datetime.now(datetime.UTC)
        init_trial(self.folder, TrialOptions(self.parties, households, settings), now)
        self._enrol(int((now - _ACCOUNT_AGE).timestamp()))

    def _epoch(self) -> dict[str, Any]:
        if self.options.form == "pairs":
            return {}
        return {"epoch_seconds": self.epoch, "shared": {"epoch_grace": GRACE_SECONDS}}

    @cached_property
    def epoch(self) -> int:
        """Seconds of an epoch of form `split`, whose contents are shown when it closes: soon after everybody has asked.

        Epochs are counted from 1970, so that its length says when it ends; it may have begun before the demo.
        """
        options, now = self.options, self._begun
        asking = min(options.seconds, len(self.events()) / min(options.rate, FAST))
        needed = START_SECONDS + PERSON_SECONDS * options.people + asking
        least = max(LEAST_EPOCH, TICKS * math.ceil(needed / TICKS))
        lengths = range(least, 4 * least, TICKS)
        return min(lengths, key=lambda seconds: (seconds - now % seconds < needed, seconds - now % seconds))

    @property
    def ends(self) -> float:
        """Unix seconds until which everything is shown; 0 for pairs."""
        return 0.0 if self.options.form == "pairs" else (self._begun // self.epoch + 1) * self.epoch + GRACE_SECONDS

    @property
    def shortened(self) -> str:
        """What is quicker here than in earnest, in words."""
        if self.options.form == "pairs":
            return ""
        return (
            f"; an epoch lasts {self.epoch} s here, not a day, and entries leave every {self.epoch // TICKS} s, not 6 h"
        )

    def _enrol(self, since: int) -> None:
        authority = load(EnrolmentAuthorityConfig, self.folder / "ea/ea.toml")
        users, configs = self.users, self.devices()
        for i, config in enumerate(configs):
            state = HouseholdState(config.data_dir)
            requests = enrolment.make_request(state, users[i :: len(configs)])
            assert config.trust.enrolment_authority is not None
            issued = enrolment.issue(authority, requests, since)
            enrolment.accept(state, issued, config.trust.enrolment_authority)

    @property
    def users(self) -> list[str]:
        """USER_IDs of those who take part."""
        return list(dict.fromkeys(event.user for event in self._corpus))[: self.options.people]

    @cached_property
    def _corpus(self) -> list[Event]:
        return shipped_events() if self.options.file is None else list(read_events(self.options.file))

    def events(self) -> list[Event]:
        """What they say, in a simulated order."""
        options = self.options
        # A file of one's own is replayed as it is, with places; only what the package ships is made to repeat.
        repeats = Simulation().repeats if options.file is None else 0.0
        events = Simulation(options.seed, options.people, repeats).events(self._corpus)
        source = random.Random(options.seed)  # noqa: S311 - a simulation, not a secret
        for user in source.sample(self.users, round(options.changes * len(self.users))):
            change = Event(user, "", consent=source.choice(list(_BUNDLES)))
            events.insert(source.randrange(len(events) // 4, len(events)), change)
        return events

    def bundles(self) -> dict[str, str]:
        """The bundle that each of them chooses."""
        source = random.Random(self.options.seed)  # noqa: S311 - a simulation, not a secret
        chosen = source.choices(list(_BUNDLES), list(_BUNDLES.values()), k=len(self.users))
        return dict(zip(self.users, chosen, strict=True))

    def devices(self) -> list[DeviceConfig]:
        """Configurations of the households."""
        return [load(DeviceConfig, path) for path in sorted(self.folder.glob("devices/*/device.toml"))]

    def auditor(self) -> AuditorConfig:
        """The auditor's configuration."""
        return load(AuditorConfig, self.auditor_path)

    @property
    def auditor_path(self) -> Path:
        """Its file."""
        return self.folder / "auditor/auditor.toml"

    def party_path(self, party: str) -> Path:
        """A party's configuration file."""
        return self.folder / f"parties/{party}/party.toml"

    def feed(self, party: str) -> Path:
        """What a party has received."""
        return self.folder / f"parties/{party}/data/feed.jsonl"

    def start(self) -> None:
        """Start the services, the witness and the parties; raises ChildError if one does not come up."""
        self.start_services()
        self._start(WITNESS, [*self._witness(), "--every", str(WITNESS_SECONDS)])
        self.start_parties()

    def start_parties(self) -> None:
        """Start the third parties."""
        for party in self.parties:
            self._start(party, ["subscribe", "--config", str(self.party_path(party)), "--follow", "--json"])

    def start_services(self) -> None:
        """Start the services alone; raises ChildError if one does not come up."""
        for name in SERVICES:
            self._serve(name)
        for name in SERVICES:
            self.children[name].wait_ready()

    def start_again(self, name: str) -> None:
        """Start a service that was stopped; raises ChildError if it does not come up."""
        self._serve(name).wait_ready()

    def _serve(self, name: str) -> Child:
        return self._start(name, ["serve", name, "--config", str(self.folder / name / f"{name}.toml")])

    def _start(self, name: str, arguments: list[str]) -> Child:
        self.children[name] = child = Child(name, arguments, self.logs)
        child.start()
        return child

    def _witness(self) -> list[str]:
        return ["witness", "--config", str(self.folder / "witness/witness.toml"), "--json"]

    def witness(self) -> Child:
        """A witness that was just started, in the place of the one that ran; it cosigns both heads once and ends."""
        if WITNESS in self.children:
            self.children.pop(WITNESS).stop()
        return self._start(WITNESS, [*self._witness(), "--once"])

    def audit(self) -> Child:
        """An auditor that was just started; it prints its report as an object and ends.

        It demands the witness's cosignatures, and what devices and parties hold for it.
        """
        held = [option for name in ("devices", "parties") for option in ("--receipts", str(self.folder / name))]
        page = ["--html", str(self.folder / REPORT)]
        return self._start(AUDITOR, ["audit", "--config", str(self.auditor_path), "--json", *page, *held])

    @property
    def logs(self) -> Path:
        """Folder of all processes' output."""
        folder = self.folder / "logs"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            raise OutputError("the demo's folder cannot be written") from None
        return folder

    def dead(self) -> list[str]:
        """Names of processes that should run and do not."""
        return [name for name, child in self.children.items() if name != AUDITOR and not child.running]

    def stop_parties(self) -> None:
        """End the third parties: what is in their feeds, and acknowledged, is final."""
        for party in self.parties:
            self.children.pop(party).stop()

    def stop(self) -> None:
        """End every process, parties first, so that nothing is on the wire."""
        for child in reversed(self.children.values()):
            child.stop()


def _free_addresses(count: int) -> list[str]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    finally:
        for one in sockets:
            one.close()
