"""Profile divergence: the Jensen-Shannon divergence of users' topic distributions (000 eq. 9-11).

JSD(Π ‖ Π*) = ½·KL(Π ‖ M) + ½·KL(Π* ‖ M), M their mean, logarithms to base 2: 0 for equal profiles, 1 for disjoint
ones. The utility loss of a release is the mean over its users.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr

from proxid.errors import InputError

Reals = npt.NDArray[np.float64]


def profiles(user: npt.NDArray[np.int64], topic: npt.NDArray[np.int64], users: int, topics: int) -> Reals:
    """Counts of topics, a row a user (users × topics); rows of negative topics are left out."""
    kept = topic >= 0
    cell = user[kept].astype(np.int64) * topics + topic[kept]
    return np.bincount(cell, minlength=users * topics).reshape(users, topics).astype(np.float64)


def jensen_shannon(original: Reals, released: Reals) -> Reals:
    """JSD of every row pair of two arrays of counts or probabilities (… × topics), in bits.

    A user with nothing on both sides has 0, with nothing on one side 1 (everything is lost). Raises InputError for
    different shapes, negative or infinite values.
    """
    if original.shape != released.shape:
        raise InputError("profiles to compare have the same users and topics")
    if any((x < 0).any() or not np.isfinite(x).all() for x in (original, released)):
        raise InputError("a profile has no negative or infinite counts")
    p, q = _normalised(original), _normalised(released)
    mean = (p + q) / 2
    divergence = (_relative_entropy(p, mean) + _relative_entropy(q, mean)) / 2
    one_sided = (original.sum(-1) > 0) != (released.sum(-1) > 0)
    return np.where(one_sided, 1.0, np.clip(divergence, 0.0, 1.0))


def _normalised(counts: Reals) -> Reals:
    total = counts.sum(-1, keepdims=True)
    result: Reals = np.divide(counts, total, out=np.zeros_like(counts, dtype=np.float64), where=total > 0)
    return result


def _relative_entropy(p: Reals, mean: Reals) -> Reals:
    result: Reals = rel_entr(p, mean).sum(-1) / np.log(2)
    return result


def utility_loss(original: Reals, released: Reals) -> float:
    """Mean JSD of the users who issued anything (000 eq. 11). Raises InputError if nobody did."""
    active = original.sum(-1) > 0
    if not active.any():
        raise InputError("profile divergence needs a user with a query in some topic")
    return float(jensen_shannon(original[active], released[active]).mean())
