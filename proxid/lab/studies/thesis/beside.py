"""The thesis's published numbers beside ours, and the verdicts on mode mix."""

from collections.abc import Iterable
from typing import Any

from proxid.lab.intervals import ALPHA
from proxid.lab.studies.thesis import published
from proxid.lab.studies.thesis.figures.beyond import theorem_tests
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.studies.thesis.published import Published
from proxid.lab.studies.thesis.results import DEANONYMISERS, RECORD_LINKAGE, Results, percent

Row = dict[str, Any]


def beside(results: Results) -> list[Row]:
    """A row a published number: what the thesis prints, what this run gives, a remark on how they compare."""
    low, deep = Cell("thesis", 3, 13), Cell("thesis", 200, 13)
    rows: list[Row] = []

    def add(what: Published, ours: float | None, remark: str = "") -> None:
        rows.append(
            {
                "figure": what.figure,
                "what": what.what,
                "thesis": f"{what.relation if what.relation != '=' else ''}{what.value:g}",
                "measured": ours,
                "unit": what.unit,
                "remark": remark,
            }
        )

    if "thesis" in results.plan.modes:
        share = results.get(low, "metrics", "share", "released_share") or 0.0
        held = f"{1 - share:.0%} of this log is still held, and counts as not linked"
        add(published.RL3_BEST, percent(results.rate(low, "rl3", "pair_linkage", "of_input")), held)
        add(published.RL1_BEST, percent(results.rate(low, "rl1", "pair_linkage", "of_input")), held)
        add(published.RL_LARGE_K, _best(results, deep, RECORD_LINKAGE, "pair_linkage"), "most hits are coincidences")
        test = results.kolmogorov_smirnov("rl3")
        add(published.KS_DISTANCE, test["distance"] if test else None, "a point a cell on each side")
        add(published.KS_P_VALUE, test["p_value"] if test else None, "the thesis's is that of 50 points a side")
        for level in (results.plan.levels[0], results.plan.levels[-1]):
            own = percent(results.get(Cell("thesis", 3, level), "own_texts"))
            add(published.OWN_TEXTS, own, f"ℓ = {level}; none under its owner, but two people may ask one text")
        _add_utility(results, add)
        _add_time(results, add)
    if "thesis3" in results.plan.modes:
        _add_chapter3(results, add)
    return rows


def _best(results: Results, cell: Cell, names: Iterable[str], what: str) -> float | None:
    rates = [results.rate(cell, name, what, "of_input") for name in names]
    known = [rate for rate in rates if rate is not None]
    return percent(max(known)) if known else None


def _add_utility(results: Results, add: Any) -> None:
    k = 10 if 10 in results.plan.ks else results.plan.ks[0]
    for what, level in ((published.LOSS_LEVEL_1, 1), (published.LOSS_LEVEL_6, 6)):
        loss = percent(results.get(Cell("thesis", k, level), "metrics", "emd", "loss_n1"))
        add(what, loss, f"N1, k = {k}; the thesis does not say how it normalises")
    for what, level in ((published.DELAY_LEVEL_6, 6), (published.DELAY_DEEP, 13)):
        series = results.get(Cell("thesis", k, level), "series", "delay") or [None]
        add(what, series[-1], f"k = {k}, at the end of a log of {results.records:,} records: not yet stable")


def _add_time(results: Results, add: Any) -> None:
    columns = "; on columns {:.2f} µs"
    first = Cell("thesis", 3, 1)
    cost = results.get(first, "cost", "anonymiser") or {}
    add(published.TIME_K3, cost.get("one_record_us"), "one record at a time" + columns.format(cost.get("us", 0)))
    large = results.get(Cell("thesis", 200, 1), "cost", "anonymiser") or {}
    add(published.TIME_K190, large.get("one_record_us"), "k = 200" + columns.format(large.get("us", 0)))
    times = [results.get(c, "cost", "anonymiser", "one_record_us") for c in results.cells if c.mode == "thesis"]
    known = [time for time in times if time is not None]
    add(published.TIME_MEAN, sum(known) / len(known) if known else None, "one record at a time, another machine")
    memory = results.get(Cell("thesis", 3, 1), "cost", "anonymiser", "most_bytes")
    add(published.MEMORY_ANONYMISER, memory and memory / 1e6, "state alone; the thesis gives the whole process")


def _add_chapter3(results: Results, add: Any) -> None:
    first = Cell("thesis3", 3, 1)
    matches = percent(results.get(first, "chapter3", "matches"))
    add(published.A_MATCHES, matches, "Algorithm 2 as printed keeps no query from its own issuer")
    rest = percent(results.get(first, "chapter3", "best_without_own"))
    said = "" if rest is None else f"; without records under their own owner {rest:.1f} %: the difference is open"
    add(published.DEANON_BEST, _best(results, first, DEANONYMISERS, "same_record"), f"identical records, k = 3{said}")
    add(published.TIME_CHAPTER_3, results.get(first, "cost", "anonymiser", "one_record_us"), "one record at a time")


def mix_verdicts(results: Results) -> dict[str, Any]:
    """Of all tests against 1/(n-1) how many are equal, undecided, different; and records over their posterior bound."""
    verdicts = {"equal": 0, "undecided": 0, "different": 0}
    for _, _, test in theorem_tests(results):
        verdicts[test["verdict"]] += 1
    over = {"outsider": 0, "members": 0}
    records = dict(over)
    for cell, result in results.cells.items():
        if cell.mode != "mix" or cell.ladder:
            continue
        for name, key in (("informed", "outsider"), (f"informed+{cell.mechanism.margin}", "members")):
            posterior = result["attacks"][name].get("posterior", {})
            over[key] += posterior.get("over_bound", 0) + posterior.get("group_faults", 0)
            records[key] += posterior.get("records", 0)
    return {
        "tests": sum(verdicts.values()),
        "level": ALPHA / results.plan.tests,
        "verdicts": verdicts,
        "largest_z": max((abs(test["z"]) for _, _, test in theorem_tests(results)), default=0.0),
        "records_over_bound": over,
        "records": records,
    }


def excess(results: Results) -> list[Row]:
    """A row a cell: neighbour and informed rates over what is claimed, and records whose posterior is over it."""
    rows = []
    for cell in results.cells:
        if cell.ladder:
            continue
        bound = cell.mechanism.bound
        row: Row = {"mode": cell.mode, "k": cell.k, "level": cell.level, "claimed_percent": 100 * bound}
        for attack in ("rl3", "neighbour", "informed"):
            rate = results.rate(cell, attack)
            row[f"{attack}_percent"] = percent(rate)
            row[f"{attack}_over_claimed"] = None if rate is None else rate / bound
        row["posterior_over_share"] = results.get(cell, "attacks", "informed", "posterior", "over_bound_share")
        rows.append(row)
    return rows
