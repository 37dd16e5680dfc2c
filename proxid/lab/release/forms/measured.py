"""What the strongest shipped attack finds in each form, for manifests: the first table of docs/results/privacy.md."""

from collections.abc import Mapping
from typing import Any, Final

LOG: Final = "100,000 synthetic records of 1,000 people, k = 10, m = 1"
FOUND: Final[dict[tuple[str, int], float]] = {
    ("pairs", 1): 0.5998, ("pairs", 2): 0.2854, ("pairs", 4): 0.0861,
    ("split", 1): 0.0535, ("split", 2): 0.0542, ("split", 4): 0.0447,
    ("cohort", 1): 0.0833, ("cohort", 2): 0.0833, ("cohort", 4): 0.0833,
}  # fmt: skip
"""Share of the records that show something below the node whose owner `em` names, by form and level."""
_K, _MARGIN = 10, 1


def best_attack(form: str, options: Mapping[str, Any], claim: float) -> dict[str, Any]:
    """What a manifest says of it: measured on another log, or not at all at these parameters."""
    said: dict[str, Any] = {"attack": "em", "claim": claim, "measure": "proxid attack --attack em --check"}
    if (options["k"], options["margin"]) == (_K, _MARGIN):
        found = FOUND.get((form, options["level"]))
        said |= {} if found is None else {"found": found, "log": LOG}
    return said


def excess_warning(said: Mapping[str, Any]) -> list[str]:
    """What a release warns of where the attack finds far more owners than its theorem lets one guess."""
    found = said.get("found", 0.0)
    if found <= 2 * said["claim"]:
        return []
    return [
        f"who learns people's profiles from such releases named the owners of {found:.0%} of the records of"
        f" {said['log']}, where the bound for one group is {said['claim']:.1%}: form split does not pair them"
    ]
