"""What the forms guarantee and what they do not, as data for the manifest (docs/anonymity.md)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from proxid.anonymise.split.settings import SplitSettings
from proxid.lab.release.forms.measured import best_attack
from proxid.lab.release.partition.plan import PartitionPlan

_COMPROMISED = "none: the seed is known, so the draws can be recomputed"
_PEOPLE = "the people feed is personal data, not anonymous: who asked at which node in which bucket"
_JOIN = "two parties that join their feeds: a person's day is nobody else's for most (proxid attack --attack join)"


def split_guarantee(
    settings: SplitSettings, budget: PartitionPlan | None, *, content: str, known_seed: bool
) -> dict[str, Any]:
    """The guarantee of `split`."""
    if content == "none":
        return {"kind": "none: there are no contents", "not_covered": [_PEOPLE, _JOIN]}
    if budget is not None:
        return {
            **budget.guarantee.as_dict(),
            "kind": "differential privacy of contents, given the people feed",
            "unit": "a person's contents of one epoch; epochs add up",
            "not_covered": [_PEOPLE, _JOIN],
        }
    n = settings.n
    return {
        "kind": _COMPROMISED if known_seed else "contents in rounds, without names",
        "unit": "record",
        "outsider": {"bound": f"1/{n}", "value": 1 / n},
        "members": {"colluding": settings.margin, "bound": f"1/{settings.k + 1}", "value": 1 / (settings.k + 1)},
        "best_attack": best_attack("split", asdict(settings), 1 / (n - 1)),
        "adversary": "an even prior on who asked which content of a round",
        "claimed": f"1/{n - 1} and a point to who learns profiles from the release (proxid attack --attack em)",
        "texts": f"shown if at least {settings.threshold} people of the round asked them, or a unit of them",
        "not_covered": [
            _PEOPLE,
            "people ask again for what they asked before: who learns habits, from releases or otherwise, guesses"
            " better than the bound (proxid attack --attack em, with --known for what was known before)",
            f"that a person asked something that up to {settings.max_share:.0%} of a round asked",
            _JOIN,
        ],
    }


def cohort_guarantee(options: Mapping[str, Any], n: int, *, known_seed: bool) -> dict[str, Any]:
    """The guarantee of `cohort`."""
    return {
        "kind": _COMPROMISED if known_seed else "fixed cohorts under uniform permutations",
        "unit": "person",
        "outsider": {"bound": f"1/{n}", "value": 1 / n},
        "best_attack": best_attack("cohort", options, 1 / n),
        "adversary": "an even prior on which member of a cohort is which, however long it watches",
        "not_covered": [
            "a text or category that names its owner by itself",
            "that somebody of the cohort asked what the cohort's records say",
            _JOIN,
        ],
    }
