"""What the forms still say: entries, contents, locations and commands that leave, at several populations."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bench import Figure
from bench.privacy.day import PEOPLE, Sessions, sessions
from bench.privacy.forms import MARGIN, K, Log, cut, split
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import SlotRecord, SlotSettings
from proxid.anonymise.slotted.visible import command_path
from proxid.anonymise.split.draws import Draws
from proxid.lab.attacks.in_rounds import visible_records
from proxid.lab.attacks.join import DAY
from proxid.lab.logs import CategoryTree
from proxid.lab.logs.jit import Codes
from proxid.lab.logs.synth.stream import synth_log
from proxid.lab.release.forms.rounds import SplitRelease
from proxid.lab.release.forms.visible import Visible

POPULATIONS = (100, 300, 1000)
MANY = 10_000
A_DAY = 5
SHAPES = (
    "play/music", "play/radio", "light/on", "light/off", "light/dim", "volume/change", "calendar/set", "calendar/ask",
    "list/add", "timer/set", "heating/set", "message/send",
)  # fmt: skip
"""Of commands, most frequent first; those of one domain are siblings."""


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
        said = f"one record a person and slot, siblings together; {PEOPLE} people, a day"
        figures[f"released_{kind}_before"] = {"value": before, "unit": "of records", "baseline": said}
        figures[f"released_{kind}"] = {
            "value": rounds, "unit": "of records", "reach": reach, "baseline": f"{said}: {before:.3f}"
        }  # fmt: skip
    return figures


def _general(wanted: int) -> dict[str, Figure]:
    """A day of people who ask five times each on average, in form `split` at level 1."""
    # Of the people who may appear two in five do.
    batch, known = synth_log(A_DAY * wanted, wanted * 13 // 5, 31, days=1.0, spread=0.4)
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
    return figures | _errors(wanted, log, done, visible) | _delays(wanted, log, done)


def _errors(wanted: int, log: Log, done: SplitRelease, visible: Visible) -> dict[str, Figure]:
    """Sum of the differences between shares of categories in the log and in the release: 0 none, 2 all.

    At the node by entries; one below by contents, among the records that show so much: rare ones show it seldom.
    """
    entries = share_error(log.known.tree, log.batch.category, done.entries.node, 1)
    contents = share_error(log.known.tree, log.batch.category, visible.category, 2)
    said = {"node": (entries, "the node, by entries"), "below": (contents, "one below, by contents")}
    return {
        f"share_error_{name}_{wanted}": {"value": value, "unit": "L1", "baseline": f"{what}; {log.name}"}
        for name, (value, what) in said.items()
    }


def share_error(tree: CategoryTree, asked: Codes, shown: Codes, depth: int) -> float:
    """L1 distance of the shares of categories at a depth, of the records on each side that reach it; 2 if none do."""
    above = np.where(tree.depth >= depth, tree.ancestors(depth), -1)
    sides = []
    for codes in (asked, shown):
        node = above[codes[codes >= 0]]
        sides.append(np.bincount(node[node >= 0], minlength=len(tree)) / max(int((node >= 0).sum()), 1))
    return float(np.abs(sides[0] - sides[1]).sum()) if sides[1].any() else 2.0


def _delays(wanted: int, log: Log, done: SplitRelease) -> dict[str, Figure]:
    """Hours from a request to its entry's tick, and to its epoch's close, when contents leave."""
    entries = done.entries
    asked = log.batch.time[entries.row]
    closed = (np.floor(asked / log.epoch_s) + 1) * log.epoch_s
    in_rounds = entries.round >= 0
    waited = {"people": entries.left - asked, "content": (closed - asked)[in_rounds]}
    return {
        f"delay_{name}_{wanted}": {
            "value": float(np.median(seconds)) / 3600 if len(seconds) else float("nan"), "unit": "h, median",
            "baseline": f"ticks of {log.bucket_s // 3600} h, epochs of {log.epoch_s // 3600} h; {log.name}",
        }
        for name, seconds in waited.items()
    }  # fmt: skip


def released(day: Sessions, kind: str, *, rounds: bool) -> float:
    """Share of a day's location queries or commands that leave, closes every quarter of an hour."""
    import h3

    settings = SlotSettings(K, MARGIN, depth=9 if kind == "location" else 3, rounds=rounds)
    pool, left, closed = SlotPool(settings, 86_400.0, Draws(bytes(32)).place), 0, 0.0
    chosen = np.flatnonzero(~day.general & (day.location == (kind == "location")))
    for row in chosen.tolist():
        time = float(day.time[row])
        while time >= closed + 900:
            closed += 900
            left += sum(len(group.members) for group in pool.close(closed).groups)
        cell = h3.latlng_to_cell(float(day.latitude[row]), float(day.longitude[row]), 8)
        shape = (*SHAPES[int(day.shape[row])].split("/"), "home")
        path = (
            tuple(h3.cell_to_parent(cell, resolution) for resolution in range(9))
            if kind == "location"
            else command_path(shape, h3.cell_to_parent(cell, 3))
        )
        identity = int(row).to_bytes(8, "big")
        pool.submit(SlotRecord(identity, str(day.person[row]), True, "all", path, "", time))
    left += sum(len(group.members) for group in pool.close(86_400.0).groups)
    return left / max(len(chosen), 1)
