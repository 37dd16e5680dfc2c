"""Cross-validates the network of categories: `python -m scripts.models.cross_validation [SPLIT [HALF]]`.

category_train.tsv is cut into two halves; each is held out of every text that is trained on, with whatever resembles one
of its queries, and filed by the runtime under a tier-1. Those who use the result to choose must not see report figures.
"""

import sys

from proxid.classify import pipeline
from proxid.classify.categories import Categories
from scripts.models import subjects


def half(split: int, which: int) -> tuple[int, int]:
    """How many queries of a half the network trained without them files right, and how many there are."""
    held = subjects.half(split, which)
    topic = subjects.train([split, which])
    assert topic.arrays and isinstance(topic.filing, Categories)
    states = [pipeline.load_default().read(text) for text, _ in held]
    tops = [topic.filing.top(topic.filing.odds(state.words)) if state else "" for state in states]
    return sum(top == wanted for top, (_, wanted) in zip(tops, held, strict=True)), len(held)


def main() -> None:
    """Print the share of each half that was asked for."""
    split = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for which in [int(sys.argv[2])] if len(sys.argv) > 2 else [0, 1]:
        right, count = half(split, which)
        print(f"split {split} half {which}: {right} of {count}, {right / count:.4f}", flush=True)


if __name__ == "__main__":
    main()
