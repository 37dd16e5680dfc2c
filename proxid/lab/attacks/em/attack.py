"""`proxid attack --attack em`: owners by profiles that are learnt from the release itself."""

from typing import Any

import numpy as np

from proxid.lab.attacks.em.blocks import Blocks, blocks_of, groups_of
from proxid.lab.attacks.em.chains import Chains, chains_of
from proxid.lab.attacks.em.learn import Known, Learner
from proxid.lab.attacks.em.score import found_of, score
from proxid.lab.attacks.in_rounds import visible_records
from proxid.lab.attacks.registry import Options
from proxid.lab.attacks.scoring import person_report
from proxid.lab.logs import LogBatch
from proxid.lab.logs.jit import Codes, Longs
from proxid.lab.released_log import Release


def known_records(original: LogBatch, items: int, seed: int) -> Longs:
    """Rows of the input that the attacker knows beforehand: so many of every person, drawn; all of who has fewer."""
    order = np.lexsort((np.random.default_rng(seed).random(len(original)), original.user))
    user = original.user[order]
    rank = np.arange(len(user)) - np.searchsorted(user, user, "left")
    return np.sort(order[rank < items])


def known_codes(user: Codes, asked: Chains) -> Known:
    """What known records say of their people: user and chain of each, in the codes of the release."""
    table = asked.codes
    used = table >= 0
    person = np.broadcast_to(user[:, None], table.shape)[used]
    return Known(person, table[used])


def em(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it, from nothing or from `known` items a person.

    On groups of pairs texts are left out: a person's text leaves once an epoch, so that a repeated one speaks against
    him. On rounds the attacker is told more than a release says, which record stands in which round: what is shown
    of rounds is added up, and who reads the sums alone knows less.
    """
    if not release.grouped:
        return {"reason": "the release has no groups"}
    if not release.exact:
        return {"reason": "needs the truth file"}
    split = release.mechanism.mode == "split"
    blocks, category, text = _rounds(release) if split else _groups(release)
    return {
        "covered_by_theorem": False,
        "claim": release.mechanism.bound,
        "known_items": options.known,
        **attack_blocks(release, blocks, (category, text), options),
    }


def attack_blocks(
    release: Release, blocks: Blocks, said: tuple[Codes, Codes], options: Options
) -> dict[str, Any]:  # fmt: skip
    """Learn and score. said: category and text of each content that the blocks number."""
    category, text = said
    rows = known_records(release.original, options.known, options.seed)
    asked = release.original.take(rows)
    # One numbering of codes for what is released and what is known.
    every = np.concatenate([category, asked.category])
    texts = np.concatenate([text, np.full(len(asked), -1, np.int32)])
    chains = chains_of(release.tree, every, texts, release.mechanism.level)
    released = Chains(chains.codes[: len(category)], chains.size)
    known = known_codes(asked.user, Chains(chains.codes[len(category) :], chains.size))
    learner = Learner(blocks, released, known)
    even = learner.even()
    post = learner.learn(progress=options.progress)
    shown = released.below[blocks.content]
    report = score(blocks, even, post, shown)
    if release.person >= 0:
        report["person"] = person_report(release, *found_of(blocks, post, shown, release.person))
    return report


def _groups(release: Release) -> tuple[Blocks, Codes, Codes]:
    shown = release.released
    never_own = release.mechanism.mode == "mix"
    blocks, _ = groups_of(shown.group, shown.user, release.owner, never_own=never_own)
    return blocks, shown.category, np.full(len(shown), -1, np.int32)


def _rounds(release: Release) -> tuple[Blocks, Codes, Codes]:
    rows, visible = visible_records(release)
    keys = (visible.category.astype(np.int64) << 32) | (visible.text.astype(np.int64) + 1)
    every, content = np.unique(keys, return_inverse=True)
    blocks = blocks_of(release.released.group[rows].astype(np.int64), release.owner[rows], content)
    return blocks, (every >> 32).astype(np.int32), ((every & 0xFFFFFFFF) - 1).astype(np.int32)
