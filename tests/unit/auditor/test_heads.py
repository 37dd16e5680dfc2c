"""Check 1 on heads alone: what a missing cosignature is, what a wrong one is, and when each goes away."""

import dataclasses
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from auditor.checks.c1_heads import HeadCheck, HeadRules
from auditor.event_log import Log
from auditor.findings import Report, Violation
from auditor.generations import ReadLog
from auditor.reading.damage import Damage
from auditor.reading.source import Heads, LeafList
from proxid.errors import EvidenceForeignError, EvidenceUnreadableError
from proxid.evidence.checkpoint import Checkpoint, cosign, with_cosignature, witness
from proxid.evidence.events import EventType
from proxid.evidence.leaf import Leaf, LeafHeader
from proxid.evidence.merkle import Frontier, consistency_proof, inclusion_proof
from proxid.evidence.note import Note, Verifier
from tests.support.scene import MALLORY, SERVICE, key

ORIGIN = "proxid/ms/gateway"
LOG = Verifier(ORIGIN, SERVICE.public)
WITNESS = key("witness")
NOW, LAG = 1_000_000, 3_600
LEAVES = [Leaf(bytes([n]) * 16, LeafHeader(n, EventType.CONSENT, b"{}").encode()) for n in range(1, 9)]


class ProvenLog(LeafList):
    """A log that proves what it shows."""

    away = False

    def __init__(self, leaves: Sequence[Leaf], honest: Sequence[Leaf], heads: Heads) -> None:
        super().__init__(leaves, heads)
        self._levels: list[list[bytes]] = []
        frontier = Frontier()
        for leaf in honest:
            for level, root in frontier.append(leaf.hash):
                if level == len(self._levels):
                    self._levels.append([])
                self._levels[level].append(root)

    def consistency(self, old: int, size: int) -> list[bytes]:
        if self.away:
            raise EvidenceUnreadableError("the log is away")
        return consistency_proof(lambda level, at: self._levels[level][at], old, size)

    def inclusion(self, number: int, size: int) -> list[bytes]:
        return inclusion_proof(lambda level, at: self._levels[level][at], number - 1, size)


def signed(leaves: Sequence[Leaf]) -> Note:
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf.hash)
    return Checkpoint(ORIGIN, len(leaves), frontier.root).sign(SERVICE)


def cosigned(leaves: Sequence[Leaf], seconds: int = NOW) -> bytes:
    note = signed(leaves)
    return with_cosignature(note, cosign(note, "witness", WITNESS, seconds)).encode()


class Reading:
    """Reads one log again and again, as audits with a state do."""

    def __init__(self, honest: Sequence[Leaf] = LEAVES) -> None:
        self.report = Report()
        self.honest = honest
        rules = HeadRules(LOG, witness("witness", WITNESS.public), LAG)
        self.check = HeadCheck("gateway", rules, Frontier(), self.report, lambda: NOW)

    def read(
        self, size: int, *notes: bytes, shown: Sequence[Leaf] = LEAVES, away: bool = False, known: Sequence[bytes] = ()
    ) -> list[str]:
        """Read up to a size; what could not be checked."""
        heads = Heads(signed(self.honest[:size]).encode(), notes or (cosigned(LEAVES[:size]),) * bool(known))
        source = ProvenLog(shown, self.honest, heads)
        source.away = away
        first = self.check.frontier.size
        assert self.check.begin(source, heads, known) == size
        for leaf in shown[first:size]:
            self.check.leaf(leaf)
        self.check.end(source, size, heads.latest)
        return [missing.text for missing in self.check.missing]

    @property
    def texts(self) -> list[str]:
        return [violation.text for violation in self.report.violations]


def test_a_missing_cosignature_is_not_checked_and_gone_when_a_later_one_covers_it() -> None:
    log = Reading()
    (text,) = log.read(4)
    assert "no head is cosigned" in text and log.read(4) == [text]
    assert log.read(6, cosigned(LEAVES[:6])) == [] and log.report.violations == []


def test_a_late_cosignature_is_not_checked() -> None:
    log = Reading()
    (text,) = log.read(4, cosigned(LEAVES[:4], NOW - LAG - 1))
    assert "no recent head" in text
    assert log.read(4, cosigned(LEAVES[:4])) == [] and log.report.violations == []


def test_a_cosignature_of_a_time_that_has_not_come_is_not_checked() -> None:
    """Whoever was given one by a witness whose clock was ahead could show that head as the newest until then."""
    log = Reading()
    (text,) = log.read(4, cosigned(LEAVES[:4], NOW + LAG + 1))
    assert "time that has not come" in text
    assert log.read(4, cosigned(LEAVES[:4], NOW + LAG)) == [] and log.report.violations == []


def test_a_recent_cosignature_of_less_than_was_read_without_it_does_not_do() -> None:
    """Else a service could show an auditor a head that it never shows the witness, and then go on with an older one."""
    log = Reading()
    assert log.read(6) != []
    (text,) = log.read(8, cosigned(LEAVES[:5]))
    assert "has not yet cosigned" in text
    assert log.read(8, cosigned(LEAVES[:6])) == []


def test_a_head_that_cannot_be_compared_now_is_not_checked() -> None:
    log = Reading()
    assert log.read(6, cosigned(LEAVES[:6])) == []
    away = log.read(8, cosigned(LEAVES[:5]), away=True)
    assert "could not be compared: the log is away" in away[0] and log.report.violations == []
    assert log.read(8, cosigned(LEAVES)) == []


def test_a_wrong_cosignature_stays_a_violation_and_is_listed_once() -> None:
    log, note = Reading(), signed(LEAVES[:4])
    line = cosign(note, "witness", WITNESS, NOW)
    wrong = with_cosignature(note, dataclasses.replace(line, signature=line.signature[:-1] + b"\0")).encode()
    for _ in range(2):
        log.read(4, wrong)
    assert log.texts == ["a head that is shown as cosigned: cosignature does not hold"]
    log.read(4, cosigned(LEAVES[:4]))
    assert len(log.texts) == 1


def test_another_witness_does_not_count_and_is_no_violation() -> None:
    log, note = Reading(), signed(LEAVES[:4])
    other = with_cosignature(note, cosign(note, "witness", MALLORY, NOW)).encode()
    assert "no head is cosigned" in log.read(4, other)[0] and log.report.violations == []


def test_a_forked_head_stays_a_violation_and_is_listed_once() -> None:
    log = Reading()
    forked = [*LEAVES[:2], dataclasses.replace(LEAVES[2], salt=bytes(16)), LEAVES[3]]
    for _ in range(2):
        log.read(4, cosigned(forked))
    assert log.texts == ["the head that the witness cosigned is not a beginning of this history: it is forked"]


def test_a_head_that_somebody_made_up_accuses_nobody() -> None:
    log = Reading()
    made_up = Checkpoint(ORIGIN, 3, bytes(32)).sign(MALLORY).encode()
    (text,) = log.read(4, known=[made_up])
    assert "shows nothing" in text and log.report.violations == []
    log.read(4, known=[Checkpoint(ORIGIN, 4, bytes(32)).sign(SERVICE).encode()])
    assert log.texts == ["a head that somebody else was shown is not a beginning of this history: it is forked"]


@pytest.mark.parametrize("number", [1, 3, 8])
def test_a_changed_leaf_is_named(number: int) -> None:
    log = Reading()
    shown = list(LEAVES)
    shown[number - 1] = dataclasses.replace(shown[number - 1], salt=bytes(16))
    log.read(8, cosigned(LEAVES), shown=shown)
    text = "leaf hash is not the one that the signed head covers: salt or header was changed"
    assert Violation(1, "gateway", number, text) in log.report.violations


def test_no_leaf_is_named_where_none_can_be_told_from_the_others() -> None:
    log = Reading()
    log.read(8, cosigned(LEAVES), shown=[LEAVES[0], *LEAVES[:7]][::-1])
    assert log.texts and all(violation.event == 0 for violation in log.report.violations)


def test_a_log_that_ends_early_says_where() -> None:
    log = Reading()
    log.read(8, cosigned(LEAVES), shown=LEAVES[:5])
    assert "log ends after leaf 5, and its signed head covers more" in log.texts


def test_a_head_younger_than_an_export_accuses_nobody_and_of_a_service_itself_it_does() -> None:
    for time, said in (
        (float(NOW), []),
        (None, ["a head that somebody else was shown is of a longer history than this one"]),
    ):
        log = Reading()
        heads = Heads(signed(LEAVES[:4]).encode(), (cosigned(LEAVES[:4]),), time)
        log.check.begin(ProvenLog(LEAVES, LEAVES, heads), heads, [signed(LEAVES).encode()])
        assert log.texts == said
        assert [reason.text.partition("; ")[2] for reason in log.check.missing] == ["export again"] * (not said)


def test_an_export_older_than_the_last_is_the_auditors_mistake_and_a_newer_shorter_one_is_not() -> None:
    log = Reading()

    def begin(size: int, time: float) -> None:
        heads = Heads(signed(LEAVES[:size]).encode(), (cosigned(LEAVES[:size]),), time)
        log.check.begin(ProvenLog(LEAVES, LEAVES, heads), heads)

    begin(6, NOW)
    for leaf in LEAVES[:6]:
        log.check.leaf(leaf)
    with pytest.raises(EvidenceForeignError, match="exported before"):
        begin(4, NOW - 10)
    log.check.exported = NOW
    begin(4, NOW + 10)
    assert log.texts == ["log is shorter than at an earlier audit"]


def followed(proofs: bool, **damage: Any) -> ReadLog:
    """A log of eight leaves whose successor names the head of six, as an audit has read both."""
    report, nothing = Report(), cast(Any, None)
    log, verifier = Log("gateway", {}, {}, report, cast(Any, None)), Verifier(ORIGIN, SERVICE.public)
    log.damage = Damage(**damage)
    read = ReadLog(log, verifier, None, LAG, report, lambda: NOW, nothing, nothing, nothing)
    read.named.append(signed(LEAVES[:6]).encode())
    read.sizes.append(6)
    read.turn(2, 6)
    old = ProvenLog(LEAVES, LEAVES, Heads(b""))
    old.away = not proofs
    part: Any = SimpleNamespace(source=SimpleNamespace(log=lambda generation: old))
    read.parts = [part]
    return read


LOST: list[dict[str, Any]] = [{"forgot": [7]}, {"given_up": [(3, 6)]}]
"""What a successor of six leaves admits: that the store was lost, or that leaves were."""


def test_a_head_that_a_device_holds_of_a_log_with_a_successor_is_compared_with_what_that_names() -> None:
    for damage in ({}, LOST[0]):
        read = followed(True, **damage)
        assert read.compare(signed(LEAVES[:4]).encode()) and read.report.reasons == []
    forked = signed([*LEAVES[:2], LEAVES[3]]).encode()
    for damage in ({}, *LOST):
        read = followed(True, **damage)
        assert not read.compare(forked)
        assert ["forked" in violation.text for violation in read.report.violations] == [True]


@pytest.mark.parametrize("damage", LOST)
def test_an_operator_who_lost_what_a_device_had_seen_a_moment_before_is_not_accused(damage: dict[str, Any]) -> None:
    """The other service holds a head that is seconds old, a promise the newest: what it names is what is left."""
    read = followed(True, **damage)
    for size in (7, 8):
        assert not read.compare(signed(LEAVES[:size]).encode())
    assert read.report.violations == []
    (reason,) = read.report.reasons
    assert "may explain it" in reason.text


@pytest.mark.parametrize("damage", [{}, {"forgot": [9]}, {"given_up": [(1, 2)]}])
def test_who_lost_nothing_there_hides_what_a_device_had_seen(damage: dict[str, Any]) -> None:
    read = followed(True, **damage)
    assert not read.compare(signed(LEAVES).encode())
    assert ["of a longer history" in violation.text for violation in read.report.violations] == [True]


def test_a_head_whose_proof_was_lost_with_the_log_is_told_by_that_alone_and_else_once() -> None:
    for damage, told in (({"given_up": [(3, 6)]}, 0), ({"given_up": [(1, 2)]}, 1), ({}, 1)):
        read = followed(False, **damage)
        assert [read.compare(signed(LEAVES[:size]).encode()) for size in (3, 4, 4)] == [False] * 3
        assert (len(read.report.reasons), read.report.violations) == (told, [])
