"""One cell of the study: release the log, attack the release, measure what is left (002 §4.4, DESIGN 8.3, 8.4, 14)."""

from dataclasses import asdict
from typing import Any

import numpy as np

from proxid.anonymise.mix.settings import Settings
from proxid.lab.attacks.registry import ATTACKS, Options, load_attack
from proxid.lab.columns.engines import MixEngine, ThesisEngine, mix_engine, shown_log, thesis3_engine, thesis_engine
from proxid.lab.columns.released import Released
from proxid.lab.logs import Dictionaries, LogBatch
from proxid.lab.released_log import Release, make_release
from proxid.lab.studies.thesis.chapter3 import release_without_restriction
from proxid.lab.studies.thesis.growth import growth
from proxid.lab.studies.thesis.measure import Cost, attacker_costs, feed_timed, record_cost
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.studies.thesis.results import DEANONYMISERS
from proxid.lab.studies.thesis.series import progress_series
from proxid.lab.utility.registry import evaluate

PAPERS_ATTACKS = ("rl1", "rl2", "rl3", "deanon1", "deanon2", "deanon3", "deanon4", "neighbour")
CONTENT_ATTACKS = ("disclosure-category", "disclosure-text")
CONTENT_PAIRS = 20_000_000
"""Statistical disclosure counts pairs of members and contents, n a record: run up to so many (a gigabyte)."""
METRICS = ("share", "delay", "buffers", "emd", "jsd")


def run_cell(batch: LogBatch, dictionaries: Dictionaries, cell: Cell, *, tests: int, seed: int) -> dict[str, Any]:
    """Everything the figures and tables need of a cell; `seed` is the study's."""
    seed = cell.seed(seed)
    release, cost = release_cell(batch, dictionaries, cell, seed)
    result: dict[str, Any] = {
        "cell": asdict(cell),
        "suppressed": cost.suppressed,
        "metrics": evaluate(release, METRICS),
        "attacks": attacks(release, cell, tests=tests, seed=seed),
        "series": progress_series(release),
    }
    if not cell.ladder:
        result["cost"] = {"anonymiser": cost.as_dict(), **attacker_costs(release, seed)}
        result["cost"]["anonymiser"]["one_record_us"] = record_cost(batch, dictionaries, cell, seed)
    if cell.mode == "thesis":
        result["own_texts"] = own_texts(release)
    if cell.mode == "thesis3" and cell.level == 1:
        result["chapter3"] = chapter3(release, cell, seed)
        result["chapter3"]["growth"] = growth(batch, dictionaries, cell.k, cell.level, seed)
    return result


def release_cell(batch: LogBatch, dictionaries: Dictionaries, cell: Cell, seed: int) -> tuple[Release, Cost]:
    """Run the mechanism on the whole log; what it shows is coded in dictionaries of the cell's own."""
    known = Dictionaries(dictionaries.user, dictionaries.query, dictionaries.url, dictionaries.tree)
    engine = make_engine(known, cell, seed)
    parts, cost = feed_timed(engine, batch)
    whole = Released.concatenate(parts)
    log = shown_log(whole, known)
    position = np.searchsorted(batch.row, whole.row)  # rows are numbered in the order of the batch
    at = np.searchsorted(batch.row, whole.at) + 1
    no_text = known.query.code("")
    release = make_release(batch, log, known.tree, cell.mechanism, no_text=no_text, origin=position, at=at)
    return release, cost


def make_engine(dictionaries: Dictionaries, cell: Cell, seed: int) -> MixEngine | ThesisEngine:
    """The cell's mechanism."""
    if cell.mode == "thesis":
        return thesis_engine(dictionaries, cell.k, cell.level, seed=seed)
    if cell.mode == "thesis3":
        return thesis3_engine(dictionaries, cell.k, cell.level, seed=seed)
    return mix_engine(dictionaries, Settings(k=cell.k, level=cell.level), ladder=cell.ladder, seed=seed)


def attack_names(cell: Cell, records: int) -> tuple[str, ...]:
    """The attacks on so many released records of a cell; a `ladder` cell asks only what the ladder changes."""
    content = CONTENT_ATTACKS if records * (cell.k + 2) <= CONTENT_PAIRS else ()
    if cell.ladder:
        return (*content, "homogeneity", "vanity")
    if cell.mode == "mix":
        groups = tuple(name for name in ATTACKS if name.startswith("group-"))
        return (*PAPERS_ATTACKS, *groups, *content, "informed", "homogeneity", "vanity")
    return (*PAPERS_ATTACKS, "informed", "homogeneity", "vanity")


def attacks(release: Release, cell: Cell, *, tests: int, seed: int) -> dict[str, Any]:
    """Every attack of the cell, and the informed adversary with m and with m + 1 members beside."""
    options = Options(seed=seed, cells=tests)
    found = {name: load_attack(name)(name, release, options) for name in attack_names(cell, len(release.released))}
    if not cell.ladder:
        margin = cell.mechanism.margin
        for members in (margin, margin + 1):
            helped = Options(seed=seed, cells=tests, colluders=members)
            found[f"informed+{members}"] = load_attack("informed")("informed", release, helped)
    return found


def chapter3(release: Release, cell: Cell, seed: int) -> dict[str, Any]:
    """Figures 3.6 and 3.7: matches in the release, with and without growing k; de-anonymisers on sorted logs."""
    rows_in = max(len(release.original), 1)
    user, origin = release_without_restriction(release.original.user, release.original_node, cell.k, seed)
    sorted_first = Options(seed=seed, by_time=True)
    by_time = {f"deanon{i}": load_attack(f"deanon{i}")(f"deanon{i}", release, sorted_first) for i in range(1, 5)}
    return {
        "matches": float((release.released.user == release.owner).sum() / rows_in),
        "matches_without_restriction": float((user == release.original.user[origin]).sum() / rows_in),
        "by_time": {name: found["same_record"]["of_input"] for name, found in by_time.items()},
        "best_without_own": best_without_own(release, seed),
    }


def best_without_own(release: Release, seed: int) -> float:
    """What the best de-anonymiser finds, over all input, in the release without records under their own owner.

    The printed Algorithm 2 publishes some; whether they are why it finds more than the thesis prints (figure 3.7).
    """
    kept = release.released.user != release.owner
    rest = make_release(
        release.original, release.released.take(kept), release.tree, release.mechanism,
        no_text=release.no_text, origin=release.origin[kept],
    )  # fmt: skip
    found = [load_attack(name)(name, rest, Options(seed=seed)) for name in DEANONYMISERS]
    return max(float(one["same_record"]["of_input"]["value"]) for one in found)


def own_texts(release: Release) -> float:
    """Share of the published (user, text) pairs that stand in the input (002 §4.4.3: none): their user asked it too."""
    keys = [(log.user.astype(np.int64) << 32) | log.query for log in (release.original, release.released)]
    return float(np.isin(keys[1], keys[0]).mean()) if len(keys[1]) else 0.0
