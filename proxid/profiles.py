"""A person's profile (002 §3.3.4.3, DESIGN 8.10): the share of their records in every category.

In per cent with one decimal, cut off and not rounded: the thesis's example prints 1 of 51 records as 1.9 %.
"""

from collections.abc import Iterable, Mapping

Counts = dict[str, dict[str, int]]
"""Records by person, as published, and category."""


def percentages(counts: Mapping[str, int], categories: Iterable[str] = ()) -> dict[str, float]:
    """Per cent of the records in each category, one decimal, cut off; `categories` adds those without records."""
    total = sum(counts.values())
    names = dict.fromkeys([*categories, *counts])
    return {name: counts.get(name, 0) * 1000 // total / 10 if total else 0.0 for name in names}


def count(counts: Counts, user: str, category: str, records: int = 1) -> None:
    """Count records of a person in a category."""
    profile = counts.setdefault(user, {})
    profile[category] = profile.get(category, 0) + records


def at_level(counts: Counts, level: int) -> Counts:
    """The same records by the ancestors of their categories, `level` names deep."""
    found: Counts = {}
    for user, profile in counts.items():
        for category, records in profile.items():
            count(found, user, "/".join(category.split("/")[:level]), records)
    return found
