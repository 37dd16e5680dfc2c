"""What a streaming release guarantees, and what it does not (DESIGN 8.3, 8.4, 8.7)."""

from typing import Any

from proxid.lab.release.forms.measured import best_attack

_COMPROMISED = "none: the seed is known, so the assignment can be recomputed"


def guarantee(options: dict[str, Any], *, known_seed: bool) -> dict[str, Any]:
    """The guarantee of a mode with its options, as data for the manifest."""
    if options["mode"] != "mix":
        return {
            "kind": "none",
            "claimed": f"1/{options['k']} (Pàmies-Estrems 2020)",
            "why": "guessing the user published most near a record, or knowing who has how much waiting, exceeds 1/k",
        }
    k, margin = options["k"], options["margin"]
    found: dict[str, Any] = {
        "kind": "probabilistic k-anonymity",
        "unit": "record",
        "outsider": {"bound": f"1/{k + margin}", "value": 1 / (k + margin)},
        "members": {"colluding": margin, "bound": f"1/{k}", "value": 1 / k},
        "best_attack": best_attack("pairs", options, 1 / (k + margin)),
        "adversary": "knows who arrived when at which node, and everything released",
        "not_covered": [
            "that the published user asked something at the node is true",
            "records of one person that are linked by their texts",
            "records of one person that are linked by their categories below the node: who learns people's profiles"
            " from the release names more owners than the bound, at shallow levels most (proxid attack --attack em)",
            "words of a query that the category path says (proxid attack --attack leaf)",
            "two parties that join their feeds (proxid attack --attack join)",
        ],
    }
    if options["ladder"]:
        shown = options["min_text_users"] + margin
        found["texts"] = f"shown if at least {shown} people issued them, or a unit of them, in the epoch"
    else:
        found["not_covered"].append("a text that names its owner is shown as it is (no ladder)")
    if not options["mask"] or not options["ladder"]:
        found["not_covered"].append("identifiers in texts are not taken out")
    if known_seed:
        found["kind"] = _COMPROMISED
    return found
