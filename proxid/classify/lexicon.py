"""Word lists that ship with the package: one entry a line under data/, in some with what it stands for."""

from functools import cache
from importlib.resources import files


@cache
def lexicon(name: str) -> frozenset[str]:
    """The entries of the list called `name`."""
    return frozenset((files("proxid.classify") / "data" / f"{name}.tsv").read_text().split("\n")) - {""}


@cache
def mapping(name: str) -> dict[str, str]:
    """A two-column list of the package as a mapping."""
    text = (files("proxid.classify") / "data" / f"{name}.tsv").read_text()
    return dict(line.split("\t")[:2] for line in text.splitlines())
