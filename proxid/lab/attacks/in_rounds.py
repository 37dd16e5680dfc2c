"""Records of a release in the form `split` as they are shown: worked out again from log, truth and the library."""

import numpy as np

from proxid.anonymise.split.settings import SplitSettings
from proxid.lab.logs.jit import Longs
from proxid.lab.mechanism import Mechanism
from proxid.lab.release.forms.visible import Visible, texts_of, visible_in_rounds
from proxid.lab.released_log import Release


def settings_of(mechanism: Mechanism) -> SplitSettings:
    """The library's settings, as far as they decide what is shown of a round."""
    return SplitSettings(
        k=mechanism.k,
        margin=mechanism.margin,
        level=mechanism.level,
        min_text_users=mechanism.min_text_users,
        max_share=mechanism.max_share,
    )


def visible_records(release: Release) -> tuple[Longs, Visible]:
    """Released rows that stand in a round, and what is shown of each.

    Identifiers are not taken out of texts here: that makes some texts distinct that the release shows alike.
    """
    if "visible" not in release.cache:
        rows = np.flatnonzero((release.released.group >= 0) & (release.origin >= 0))
        asked = release.original.take(release.origin[rows])
        texts = texts_of(release.texts, None) if release.texts is not None else lambda code: ()
        rounds = release.released.group[rows].astype(np.int64)
        settings = settings_of(release.mechanism)
        shown = visible_in_rounds(asked.category, asked.query, rounds, release.tree, texts, settings)
        release.cache["visible"] = rows, shown
    result: tuple[Longs, Visible] = release.cache["visible"]
    return result
