"""Word lists that ship with the package: one entry a line under data/."""

from functools import cache
from importlib.resources import files


@cache
def lexicon(name: str) -> frozenset[str]:
    """The entries of the list called `name`."""
    return frozenset((files("proxid.classify") / "data" / f"{name}.tsv").read_text().split("\n")) - {""}
