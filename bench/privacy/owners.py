"""Owners that profiles learnt from the release name: `split` next to `pairs` of the same log, in the same run."""

from collections.abc import Mapping

from bench import Figure
from bench.privacy.forms import MARGIN, K, asked, owners_found, pairs, split
from proxid.lab.attacks.registry import Options, load_attack

LEAST = {1: 0.55, 2: 0.20}
"""What the attack finds on pairs of the synthetic log, at least: a weaker one measures nothing."""
USUAL = 100_000
REACH = 1 / (K + MARGIN) + 0.01


def require_strength(level: int, found: float) -> None:
    """Raises RuntimeError where the attack finds too few owners in pairs: then it says nothing about `split` either."""
    if found < LEAST.get(level, 0):
        raise RuntimeError(f"the attack finds {found:.3f} of the owners in pairs at level {level}: it is too weak")


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Levels 1, 2, 4. Raises RuntimeError where the attack is too weak on pairs of the usual log."""
    log = asked(options)
    figures: dict[str, Figure] = {}
    halves, sure, leaks, shown = [], [], 0, 0.0
    by_counts = 0
    for level in (1, 2, 4):
        weak = owners_found(pairs(log, level))
        value = weak["right"]["value"]
        if len(log.batch) >= USUAL and "log" not in options:
            require_strength(level, value)
        figures[f"em_pairs_level{level}"] = _share(value, log.name)
        _, release = split(log, level)
        found = owners_found(release)
        shown = found["scored"] / len(log.batch) if level == 1 else shown
        leaks += load_attack("leaf")("leaf", release, Options())["leaks"]
        if not found["scored"]:  # so few people that nothing below the node is shown
            continue
        halves.append(found["over_half"]["share"])
        by_counts += found["statements"]["counts_alone"]["made"]
        sure.append(found["statements"]["attack"]["made"] / found["scored"])
        figures[f"em_level{level}"] = _share(found["right"]["value"], f"pairs: {value:.3f}", REACH)
        figures[f"em_chance_level{level}"] = _share(found["chance"], "the person with most records of the round")
    figures["em_over_half"] = _share(max(halves, default=0.0), "posteriors over 1/2 at the worst level", 0.001)
    said = "statements that a person asked a content in a round, of 0.9 and more, to records shown; the worst level"
    figures["em_statements"] = _share(max(sure, default=0.0), said, 0.01)
    figures["statements_by_counts"] = {
        "value": by_counts, "unit": "statements", "baseline": "the same from one round's counts; all levels", "reach": 0
    }  # fmt: skip
    figures["shown_level1"] = _share(shown, "of all records; only these are scored")
    figures["path_leaks"] = {"value": leaks, "unit": "records", "baseline": "all levels", "reach": 0}
    return figures


def _share(value: float, baseline: str, reach: float | None = None) -> Figure:
    return {"value": value, "unit": "of records", "baseline": baseline, "reach": reach}
