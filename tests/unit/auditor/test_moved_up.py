"""What waits moves up, and is given up, at the time of the pool that is run again (check 5), before its epoch ends."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from auditor.checks.c5_groups import Groups
from auditor.checks.c5_spill import Spill
from auditor.checks.c7_completeness import Sets
from auditor.findings import GROUPS, Report, Verdict
from auditor.policies import Policies
from proxid.anonymise.mix.cycle import seed_commitment
from proxid.anonymise.mix.settings import Settings
from proxid.errors import GroupMismatchError
from proxid.evidence.disclosure import disclosure_info
from proxid.evidence.events import BufferedPayload
from tests.support.scene import MS
from tests.unit.auditor.test_expired_events import trusted

EPOCH, HOUR = 10, 3600.0
START = EPOCH * 86_400.0
AT, ABOVE = ("Home", "garden"), ("Home",)


class Told:
    """Two records that wait from the epoch's start on, and what is said of them."""

    def __init__(self) -> None:
        trust = replace(trusted(), settings=Settings(k=3, level=2, min_text_users=3, max_delay_s=HOUR))
        self.groups, self.report = Groups(Policies(trust), Spill(Sets(None))), Report()
        seed = bytes(32)
        sealed = trust.opening.public.seal(seed, disclosure_info(MS, EPOCH))
        self.groups.opened(EPOCH, seed_commitment(seed, EPOCH, MS), sealed)
        for number in (1, 2):
            self.asked(number, START + number)

    def asked(self, number: int, time: float) -> "Told":
        payload = BufferedPayload(
            bytes([number]) * 64, f"px{number}", True, "acme", "general", b"", "one/1", AT, (f"text {number}",),
            int(time * 1000),
        )  # fmt: skip
        self.groups.buffered(EPOCH, payload)
        return self

    def raised(self, number: int, time: float) -> "Told":
        self.groups.raised(EPOCH, bytes([number]) * 64, (AT, ABOVE), time)
        return self

    def gone(self, number: int, time: float, reason: str = "epoch_end") -> "Told":
        self.groups.gone(EPOCH, bytes([number]) * 64, reason, time)
        return self

    def verdict(self) -> Verdict:
        self.groups.hold()
        self.groups.overdue.finish(self.report)
        assert {reason.rule for reason in self.report.reasons} <= {GROUPS}
        return self.report.verdict


LATER = START + 2 * HOUR


def test_what_moved_up_is_given_up_at_the_time_of_the_last_move() -> None:
    told = Told().raised(1, LATER).raised(2, LATER).gone(1, LATER).gone(2, LATER)
    assert told.verdict() is Verdict.CLEAN


def test_what_nothing_was_due_of_is_given_up_at_the_time_of_the_last_record() -> None:
    assert Told().gone(1, START + 2).gone(2, START + 2).verdict() is Verdict.CLEAN


@pytest.mark.parametrize(
    "tell",
    [
        lambda: Told().raised(1, LATER).raised(2, LATER - 1),
        lambda: Told().raised(1, LATER).raised(2, LATER).gone(1, LATER - 1),
        lambda: Told().raised(1, LATER).raised(2, LATER).gone(1, LATER + 1),
        lambda: Told().gone(1, START + 1),
    ],
)
def test_another_time_than_the_pools_is_a_lie(tell: Callable[[], Told]) -> None:
    with pytest.raises(GroupMismatchError, match="another time"):
        tell()


def test_what_was_due_and_is_said_to_have_waited_where_it_was_is_not_clean() -> None:
    """The second one's move is left out; as if a service had been killed just before it."""
    assert Told().raised(1, LATER).gone(2, LATER).gone(1, LATER).verdict() is Verdict.UNCHECKED
