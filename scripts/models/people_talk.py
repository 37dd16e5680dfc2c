"""Faults of `classify` on utterances as people talk (data/corpora/people_talk.tsv): the tables of docs/results/people-talk.md.

python -m scripts.models.people_talk           # prints them
python -m scripts.models.people_talk --writer  # by the writer's marks, without the second reader's corrections
"""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from proxid.classify import corpora, load_default
from proxid.classify.scoring import wilson

COMMIT = "281d7a1"
BEFORE = {
    "leaked: address": 5, "leaked: birthday": 1, "leaked: handle": 2, "leaked: name": 1, "leaked: name misheard": 2,
    "leaked: name spelled": 1, "leaked: number": 2, "leaked: plate": 2, "leaked: postcode": 3, "leaked: secret": 2,
    "leaked: utterances": 19, "leaked: utterances that are not rejected": 14, "masked though nobody's: utterances": 20,
    "type: command taken for general": 1, "type: command taken for location": 1, "type: general taken for command": 16,
    "type: general taken for location": 1, "type: location taken for command": 5, "type: no request taken for command": 6,
    "type: no request taken for general": 1, "type: request rejected": 21, "type: request taken for another": 24,
}  # fmt: skip
"""What this script counted with the product at COMMIT."""
_TOKEN = re.compile(r"<[A-Z]+>|[^\W\d_]+|\d+")


def tokens(text: str) -> list[str]:
    """Words and numbers, in small letters, and the slots of a masked text as they are."""
    return [found if found[0] == "<" else found.lower() for found in _TOKEN.findall(text)]


def hidden(text: Sequence[str], masked: Sequence[str]) -> list[str]:
    """For each token of the text "shown", "masked" (behind a slot) or "dropped" (hesitation), with the fewest dropped."""

    @cache
    def best(i: int, j: int) -> tuple[int, tuple[str, ...]]:
        if i == len(text):
            return (0 if j == len(masked) else len(text) + 1), ()
        word = masked[j] if j < len(masked) else ""
        slot, same = [(j + 1, 0, "masked"), (j, 0, "masked")], [(j + 1, 0, "shown")] * (word == text[i])
        steps = slot if word.startswith("<") else same
        ways = [(best(i + 1, to), cost, fate) for to, cost, fate in [*steps, (j, 1, "dropped")]]
        return min(((rest[0] + cost, (fate, *rest[1])) for rest, cost, fate in ways), key=lambda way: way[0])

    return list(best(0, 0)[1])


def places(text: Sequence[str], words: str, start: int = 0) -> list[range]:
    """Where the words stand, in order, from a place on."""
    sought = tokens(words)
    if found := [range(i, i + len(sought)) for i in range(start, len(text)) if text[i : i + len(sought)] == sought]:
        return found
    raise ValueError(f"not in the utterance: {words}")


def marks(row: dict[str, str], text: Sequence[str]) -> tuple[list[tuple[str, range]], set[int]]:
    """The identifiers of an utterance, each with its kind, and the places whose masking counts neither way."""
    spans, at = list[tuple[str, range]](), 0
    for span in filter(None, row["spans"].split(" | ")):
        kind, _, words = span.partition(":")
        spans.append((kind, places(text, words, at)[0]))
        at = spans[-1][1].stop
    neutral = [place for words in filter(None, row["neutral"].split(" | ")) for place in places(text, words)]
    return spans, {i for place in neutral for i in place}


def main() -> None:
    """Count and print."""
    rows, before = list(corpora.table("people_talk.tsv")), BEFORE
    if "--writer" in sys.argv:
        before = {}
        rows = [row | {"types": row["writer_types"], "spans": row["writer_spans"], "neutral": ""} for row in rows]
    pipeline = load_default()
    total, faults, listed = Counter[str](), Counter[str](), list[str]()
    for row in rows:
        answer, text = pipeline.classify(row["text"]), tokens(row["text"])
        kind = "" if answer.type is None else str(answer.type)
        fates = ["masked"] * len(text) if answer.masked is None else hidden(text, tokens(answer.masked))
        spans, neutral = marks(row, text)
        leaks = [(of, [text[i] for i in span if fates[i] == "shown" and i not in neutral]) for of, span in spans]
        total.update([f"leaked: {of}" for of, _ in spans] + ["leaked: utterances"] * bool(spans))
        faults.update(f"leaked: {of}" for of, words in leaks if words)
        faults["leaked: utterances"] += (leaky := any(words for _, words in leaks))
        faults["leaked: utterances that are not rejected"] += leaky and bool(kind)
        meant = {i for _, span in spans for i in span} | neutral
        over = [text[i] for i, fate in enumerate(fates) if fate == "masked" and i not in meant]
        faults["masked though nobody's: utterances"] += bool(over)
        types = row["types"].split("|")
        group = "no request" if "other" in types else types[0]
        wrong = bool(kind) and kind not in types
        total[f"type: {group}"] += 1
        faults[f"type: {group} taken for {kind}"] += wrong
        rejected = not kind and group != "no request"
        faults["type: request taken for another"] += wrong and group != "no request"
        faults["type: request rejected"] += rejected
        said = [f"leaks {of} ({' '.join(words)})" for of, words in leaks if words]
        said += [f"masks {' '.join(over)}"] * bool(over) + [f"{row['types']} taken for {kind}"] * wrong
        said += [f"{row['types']} rejected"] * rejected
        if said:
            listed.append(f"- {row['id']}: {'; '.join(said)}")
    total["leaked: utterances that are not rejected"] = total["leaked: utterances"]
    total["masked though nobody's: utterances"] = len(rows)
    total["type: request rejected"] = total["type: request taken for another"] = len(rows) - total["type: no request"]
    show(total, faults, before)
    print("", *listed, sep="\n")


def show(total: Counter[str], faults: Counter[str], before: Mapping[str, int]) -> None:
    """Print the table."""
    print(f"| fault | of | now | 95 % interval | at {COMMIT} |\n|---|---|---|---|---|")
    leaks = {name for name in total if name.startswith("leaked: ")}
    for name in sorted(leaks | {*before} | {name for name, count in faults.items() if count}):
        low, high = wilson(faults[name], of := total[name] or total[name.partition(" taken for ")[0]])
        print(f"| {name} | {of} | {faults[name]} | {low:.2f}-{high:.2f} | {before.get(name, 0) if before else ''} |")


if __name__ == "__main__":
    main()
