"""`proxid attack --attack em`: owners by profiles that are learnt from the release itself."""

from typing import Any

import numpy as np

from proxid.lab.attacks.em.blocks import groups_of
from proxid.lab.attacks.em.chains import Chains, chains_of
from proxid.lab.attacks.em.learn import Known, Learner
from proxid.lab.attacks.em.score import score
from proxid.lab.attacks.registry import Options
from proxid.lab.logs import LogBatch
from proxid.lab.logs.jit import Longs
from proxid.lab.released_log import Release


def known_records(original: LogBatch, items: int, seed: int) -> Longs:
    """Rows of the input that the attacker knows beforehand: so many of every person, drawn; all of who has fewer."""
    order = np.lexsort((np.random.default_rng(seed).random(len(original)), original.user))
    user = original.user[order]
    rank = np.arange(len(user)) - np.searchsorted(user, user, "left")
    return np.sort(order[rank < items])


def known_codes(original: LogBatch, rows: Longs, asked: Chains) -> Known:
    """What the rows say of their people; `asked` are the chains of the rows, in the codes of the release."""
    table = asked.codes
    used = table >= 0
    person = np.broadcast_to(original.user[rows][:, None], table.shape)[used]
    return Known(person, table[used])


def em(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it: on the groups of a release; with `known` items a person to start from.

    Texts are left out: in mode `mix` a person's text leaves once an epoch, so that a repeated one speaks against him.
    """
    if not release.grouped:
        return {"reason": "the release has no groups"}
    if not release.exact:
        return {"reason": "needs the truth file"}
    shown, level = release.released, release.mechanism.level
    blocks, rows = groups_of(shown.group, shown.user, release.owner)
    known_rows = known_records(release.original, options.known, options.seed)
    asked = release.original.take(known_rows)
    # One numbering of codes for what is released and what is known.
    category = np.concatenate([shown.category, asked.category])
    chains = chains_of(release.tree, category, np.full(len(category), -1, np.int32), level)
    released = Chains(chains.codes[: len(shown)], chains.size)
    known = known_codes(release.original, known_rows, Chains(chains.codes[len(shown) :], chains.size))
    learner = Learner(blocks, released, known)
    even = learner.even()
    post = learner.learn(progress=options.progress)
    return {
        "covered_by_theorem": False,
        "claim": release.mechanism.bound,
        "known_items": options.known,
        **score(blocks, even, post, released.below[rows]),
    }
