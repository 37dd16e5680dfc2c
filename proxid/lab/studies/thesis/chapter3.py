"""Chapter 3's anonymiser without its growing k, the case A(NR) of figure 3.6 (002 §3.4.3).

When k entries wait in a category, a random user and a random query leave, also if all the users are one: so its output
holds records under their own owner.
"""

from typing import Any

import numpy as np

from proxid.lab.logs.jit import Codes, Longs, Scalar, compiled
from proxid.lab.stretches import draw, random_state


@compiled
def _run(node: Codes, k: int, held: Any, fill: Longs, random: Any, out: Any) -> Scalar:
    """held[place, 0, :] are rows whose user waits, held[place, 1, :] rows whose query waits."""
    made = 0
    for row in range(len(node)):
        place = node[row]
        held[place, 0, fill[place]] = held[place, 1, fill[place]] = row
        fill[place] += 1
        if fill[place] == k:
            for side in range(2):
                pick = draw(random, k)
                out[side, made] = held[place, side, pick]
                held[place, side, pick] = held[place, side, k - 1]
            fill[place] -= 1
            made += 1
    return made


def release_without_restriction(user: Codes, node: Codes, k: int, seed: int) -> tuple[Codes, Longs]:
    """Published users, and the input row of each released query."""
    place = np.unique(node, return_inverse=True)[1].astype(np.int32)
    held = np.zeros((int(place.max(initial=0)) + 1, 2, k), np.int64)
    out = np.empty((2, len(user)), np.int64)
    made = _run(place, k, held, np.zeros(len(held), np.int64), random_state(seed), out)
    return user[out[0, :made]], out[1, :made]
