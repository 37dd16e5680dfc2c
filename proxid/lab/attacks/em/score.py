"""How often the attack was right, over the contents that show something below the node: the others name no content."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proxid.lab.attacks.em.blocks import Blocks
from proxid.lab.intervals import clustered_rate
from proxid.lab.logs.jit import Flags, Longs, Reals

SURE = 0.9
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Guesses:
    """A line a scored record: whether the likeliest person is its owner, its posterior, and its block."""

    right: Flags
    posterior: Reals
    block: Longs


def guess(blocks: Blocks, post: Reals, shown: Flags) -> Guesses:
    """The likeliest owner of every record of the contents that are `shown`; equal records have equal guesses."""
    starts = blocks.cell_at[:-1]
    best = np.maximum.reduceat(post, starts) if len(starts) else np.zeros(0)
    content = np.repeat(np.arange(len(starts)), blocks.content_people)
    at_best = np.flatnonzero(post >= best[content])
    first = at_best[np.unique(content[at_best], return_index=True)[1]]
    hits = blocks.owned[first]
    block = np.repeat(np.arange(len(blocks)), np.diff(blocks.content_at))
    record = np.repeat(np.flatnonzero(shown), blocks.count[shown])
    begin = np.cumsum(blocks.count[shown]) - blocks.count[shown]
    inside = np.arange(len(record)) - np.repeat(begin, blocks.count[shown])
    return Guesses(inside < hits[record], (best / blocks.count)[record], block[record])


def _over(guesses: Guesses, limit: float) -> dict[str, float]:
    sure = guesses.posterior > limit + ROUNDING
    return {
        "share": float(sure.mean()) if len(sure) else float("nan"),
        "right": float(guesses.right[sure].mean()) if sure.any() else float("nan"),
    }


def _statements(blocks: Blocks, post: Reals, shown: Flags) -> dict[str, float]:
    """Statements "this person asked this, in this block" of a probability of SURE and more."""
    sure = (post >= SURE - ROUNDING) & np.repeat(shown, blocks.content_people)
    made = int(sure.sum())
    return {"made": made, "right": float((blocks.owned[sure] > 0).mean()) if made else float("nan")}


def found_of(blocks: Blocks, post: Reals, shown: Flags, person: int) -> tuple[int, int]:
    """(attacked, found): one person's records in the contents shown, and those whose likeliest owner the person is."""
    content, people = blocks.cells()
    mine = (people == person) & shown[content]
    best = np.maximum.reduceat(post, blocks.cell_at[:-1]) if len(blocks.count) else np.zeros(0)
    named = mine & (post >= best[content])
    return int(blocks.owned[mine].sum()), int(blocks.owned[named].sum())


def score(blocks: Blocks, even: Reals, post: Reals, shown: Flags) -> dict[str, Any]:
    """The report. even: what counts and membership alone say (`Learner.even`), which is chance."""
    guesses = guess(blocks, post, shown)
    chance = guess(blocks, even, shown)
    records = int(blocks.count.sum())
    return {
        "blocks": len(blocks),
        "records": records,
        "scored": len(guesses.right),
        "shown_share": len(guesses.right) / records if records else float("nan"),
        "right": clustered_rate(guesses.right, guesses.block).as_dict(),
        "chance": float(chance.posterior.mean()) if len(guesses.right) else float("nan"),
        "over_half": _over(guesses, 0.5),
        "over_nine_tenths": _over(guesses, SURE),
        "statements": {"attack": _statements(blocks, post, shown), "counts_alone": _statements(blocks, even, shown)},
    }
