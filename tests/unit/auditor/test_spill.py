"""What a replay remembers on disk is what a pool remembers in memory, and names nobody."""

import random
from pathlib import Path

from auditor.checks.c5_spill import EpochMemory, Spill
from auditor.checks.c7_completeness import Sets
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record

EPOCH = 7


def records(count: int, seed: int) -> list[Record]:
    source = random.Random(seed)
    found = []
    for i in range(count):
        text = source.randrange(40)
        units = (f"text {text}".encode(), f"unit {text % 5}".encode())
        person = f"person-{source.randrange(25)}"
        identity = source.randrange(count).to_bytes(4, "big") if source.random() < 0.1 else i.to_bytes(4, "big")
        found.append(Record(identity, person, person != "person-0", "all", ("Home", f"n{text % 4}"), units, float(i)))
    return found


def test_a_pool_on_disk_does_what_a_pool_in_memory_does() -> None:
    settings = Settings(k=3, level=2)
    spill = Spill(Sets())
    plain, spilled = Pool(settings), Pool(settings, EpochMemory(spill, EPOCH))
    done = [(plain.submit(record), spilled.submit(record)) for record in records(1_500, seed=1)]
    assert all(one == other for one, other in done)
    outcomes = {one.outcome.value for one, _ in done}
    assert {"buffered", "repeated", "duplicate"} <= outcomes
    rungs = {m.rung.name for one, _ in done for group in one.groups for m in group.members}
    assert {"TEXT", "CATEGORY"} <= rungs or {"TEXT", "UNIT"} <= rungs


def test_it_goes_on_from_a_state_and_forgets_an_epoch(tmp_path: Path) -> None:
    sets = Sets(tmp_path / "sets.db")
    kept = Spill(sets)
    memory = EpochMemory(kept, EPOCH)
    ids, issuers = memory.submitted(), memory.issuers("all", 2)
    ids.add(b"one")
    issuers.count("ann", (b"text",))
    sets.save()
    spill = Spill(sets)
    spill.key = kept.key
    memory = EpochMemory(spill, EPOCH)
    ids, issuers = memory.submitted(), memory.issuers("all", 2)
    assert b"one" in ids and b"two" not in ids
    issuers.count("ann", (b"text",))
    assert issuers.rung((b"text",))[1] is None
    issuers.count("ben", (b"text",))
    assert issuers.rung((b"text",))[1] == 0
    spill.drop(EPOCH)
    assert b"one" not in ids and issuers.rung((b"text",))[1] is None


def test_the_file_names_nobody(tmp_path: Path) -> None:
    sets = Sets(tmp_path / "sets.db")
    memory = EpochMemory(Spill(sets), EPOCH)
    memory.entered("all").add(("px1somebody", b"what-was-said-16"))
    memory.issuers("all", 3).count("px1somebody", (b"what-was-said-16",))
    sets.save()
    data = (tmp_path / "sets.db").read_bytes()
    assert b"px1somebody" not in data and b"what-was-said" not in data
