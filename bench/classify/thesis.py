"""The thesis's Algorithm 1 on labelled queries: how many it files, how many rightly, by category (002, Table 3.4).

On both labelled files, since it learns from neither: 1,091 queries, where the thesis had 1,068 of AOL's filed by hand.
"""

from collections import Counter

from bench.classify.counts import Counts, share
from bench.classify.product import NO_TOPIC
from bench.classify.stages import understood
from proxid.classify import Pipeline, corpora, load_default

FILES = ("category_train.tsv", "category_dev.tsv")


def figures(pipeline: Pipeline) -> Counts:
    """Coverage and strict accuracy, and of every first level the share of its queries that is filed there."""
    filing = load_default(method="thesis").categories
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    covered = 0
    for row in [row for name in FILES for row in corpora.category(name)]:
        gold = next(row[name] for name in row if "tier1" in name).split("|")[0]
        state = understood(pipeline, row["text"])
        top = filing.path(state.words, state.kept)[0]
        total[gold] += 1
        right[gold] += top == gold
        covered += NO_TOPIC not in (gold, top)
    return {
        "thesis_category_coverage": share(covered, total.total() - total[NO_TOPIC]),
        "thesis_category_strict": share(right.total(), total.total()),
        **{f"table_3_4 {name}": share(right[name], total[name]) for name in sorted(total)},
    }
