"""What the forms still say: entries, contents, locations and commands that leave, at several populations."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bench import Figure
from bench.privacy.day import PEOPLE, Sessions, sessions
from bench.privacy.forms import MARGIN, K, cut, split
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import SlotRecord, SlotSettings
from proxid.anonymise.slotted.visible import command_path
from proxid.lab.attacks.in_rounds import visible_records
from proxid.lab.attacks.join import DAY
from proxid.lab.logs.synth.stream import synth_log

POPULATIONS = (100, 300, 1000)
MANY = 10_000
A_DAY = 5
SHAPES = tuple("play radio light dim volume calendar remind lists timer heating message news".split())  # noqa: SIM905


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Option `many`: with 10,000 people too."""
    figures: dict[str, Figure] = {}
    for people in (*POPULATIONS, MANY) if "many" in options else POPULATIONS:
        figures |= _general(people)
    for name in ("people", "content"):
        best = 300 if name == "people" else 1000
        figures[f"released_{name}"] = {**figures[f"released_{name}_{best}"], "reach": 0.9 if name == "people" else None}
    day = sessions(PEOPLE, 3)
    for kind, reach in (("location", 0.8), ("command", 0.9)):
        rounds, before = (released(day, kind, rounds=rounds) for rounds in (True, False))
        figures[f"released_{kind}"] = {
            "value": rounds, "unit": "of records", "reach": reach,
            "baseline": f"one record a person and slot, siblings together: {before:.3f}; {PEOPLE} people, a day",
        }  # fmt: skip
    return figures


def _general(wanted: int) -> dict[str, Figure]:
    """A day of people who ask five times each on average, in form `split` at level 1."""
    # Of the people who may appear two in three do.
    batch, known = synth_log(A_DAY * wanted, wanted * 3 // 2, 31, days=1.0, spread=0.4)
    batch = replace(batch, time=DAY * np.linspace(0, 1, len(batch), endpoint=False))
    people = len(np.unique(batch.user))
    log = cut(batch, known, f"{people} people, {A_DAY} requests each, a day, level 1", 86_400, 21_600)
    done, release = split(log, 1)
    rows, visible = visible_records(release)
    below = (known.tree.depth[visible.category] > 1) | (visible.text >= 0)
    shares = {
        "people": len(done.entries) / len(batch),
        "content": len(rows) / len(batch),
        "below": float(below.sum()) / len(batch),
        "text": float((visible.text >= 0).sum()) / len(batch),
    }
    said = {"people": "entries", "content": "in rounds", "below": "shown below the node", "text": "with a text or unit"}
    figures: dict[str, Figure] = {
        f"released_{name}_{wanted}": {"value": value, "unit": "of records", "baseline": f"{said[name]}; {log.name}"}
        for name, value in shares.items()
    }
    return figures


def released(day: Sessions, kind: str, *, rounds: bool) -> float:
    """Share of a day's location queries or commands that leave, closes every quarter of an hour."""
    import h3

    settings = SlotSettings(K, MARGIN, depth=9 if kind == "location" else 3, rounds=rounds)
    pool, left, closed = SlotPool(settings, 86_400.0), 0, 0.0
    chosen = np.flatnonzero(~day.general & (day.location == (kind == "location")))
    for row in chosen.tolist():
        time = float(day.time[row])
        while time >= closed + 900:
            closed += 900
            left += sum(len(group.members) for group in pool.close(closed).groups)
        cell = h3.latlng_to_cell(float(day.latitude[row]), float(day.longitude[row]), 8)
        shape = (SHAPES[int(day.shape[row])], "set", "home")
        path = (
            tuple(h3.cell_to_parent(cell, resolution) for resolution in range(9))
            if kind == "location"
            else command_path(shape, h3.cell_to_parent(cell, 3))
        )
        identity = int(row).to_bytes(8, "big")
        pool.submit(SlotRecord(identity, str(day.person[row]), True, "all", path, "", time))
    left += sum(len(group.members) for group in pool.close(86_400.0).groups)
    return left / max(len(chosen), 1)
