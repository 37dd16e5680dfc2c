"""Rounds: everybody's first record, everybody's second, … (DESIGN 8.11), and what is shown of one.

In a round everybody has one record, so a record has as many possible owners as the round has people, and what is
shown is a function of the multiset of the round's contents: whoever dealt them to its people in another way would
have shown the same. Nothing that is shown of a round depends on anything outside it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Contents, Leaving, Node, NodeRounds, Row, SplitRecord
from proxid.encoding import encode
from proxid.errors import RestrictionError

Shown = tuple[Node, str]
"""What is shown of one record: a category prefix, and a text, a unit or nothing."""


def deal(
    records: Iterable[SplitRecord], settings: SplitSettings, draws: Draws
) -> tuple[list[list[SplitRecord]], list[SplitRecord]]:
    """The rounds of one node, and the records that none took.

    Args:
        records: of distinct ids, in any order.
    """
    own: dict[str, list[SplitRecord]] = defaultdict(list)
    for record in records:
        own[record.person].append(record)
    for mine in own.values():
        mine.sort(key=lambda record: draws.place(record.id))
    rounds: list[list[SplitRecord]] = []
    while True:
        at = len(rounds)
        everybodys = [mine[at] for person, mine in sorted(own.items()) if len(mine) > at]
        if len(everybodys) < settings.n:
            return rounds, [record for _, mine in sorted(own.items()) for record in mine[at:]]
        rounds.append(everybodys)


def show(contents: Sequence[tuple[Node, Sequence[str]]], depth: int, settings: SplitSettings) -> Counter[Shown]:
    """What is shown of one round: `show_each`, counted."""
    return Counter(show_each(contents, depth, settings))


def show_each(contents: Sequence[tuple[Node, Sequence[str]]], depth: int, settings: SplitSettings) -> list[Shown]:
    """What is shown of each record of one round.

    Args:
        contents: of each record its category and its texts, as in `SplitRecord`. depth: of the node.

    The longest prefix that T records carry, below no prefix that more carry than may have one in common; and the text,
    or else the longest unit, that T records with this prefix carry, and none of whose units too many carry.
    """
    people = len(contents)
    prefixes: Counter[Node] = Counter()
    texts: Counter[str] = Counter()
    for path, said in contents:
        prefixes.update(path[:end] for end in range(depth + 1, len(path) + 1))
        texts.update(set(said))
    cut = [_prefix(path, depth, prefixes, people, settings) for path, _ in contents]
    together: Counter[Shown] = Counter()
    for path, said in contents:
        often = {text for text in said if texts[text] >= settings.threshold}
        together.update((path[:end], text) for end in range(depth, len(path) + 1) for text in often)
    shown: list[Shown] = []
    for (path, said), prefix in zip(contents, cut, strict=True):
        if prefix is None:
            shown.append((path[:depth], ""))
            continue
        few = all(texts[text] <= settings.most(path, people) for text in said)
        text = next((x for x in said if few and together[prefix, x] >= settings.threshold), "")
        shown.append((prefix, text))
    return shown


def _prefix(path: Node, depth: int, carried: Counter[Node], people: int, settings: SplitSettings) -> Node | None:
    """The longest prefix that may be shown; None where nothing may be, since too many have a prefix in common."""
    shown = path[:depth]
    for end in range(depth + 1, len(path) + 1):
        prefix = path[:end]
        if carried[prefix] > settings.most(prefix, people):
            return None
        if carried[prefix] >= settings.threshold:
            shown = prefix
    return shown


def add_up(shown: Iterable[Counter[Shown]]) -> tuple[Row, ...]:
    """Rows of all rounds together, in order of their canonical bytes."""
    total: Counter[Shown] = Counter()
    for one in shown:
        total.update(one)
    rows = [Row(path, text, count) for (path, text), count in total.items()]
    return tuple(sorted(rows, key=row_bytes))


def row_bytes(row: Row) -> bytes:
    """A row's canonical bytes: E(E(path), text, records)."""
    return encode(encode(*row.path), row.text, row.records)


def form(audience: str, left: Iterable[Leaving], settings: SplitSettings, draws: Draws) -> Contents:
    """The contents of one audience: formed once, of what left unraised in the epoch and was not withdrawn.

    Raises:
        RestrictionError: a round breaks an invariant; nothing of the audience may be shown.
    """
    nodes: dict[Node, list[SplitRecord]] = defaultdict(list)
    for leaving in left:
        if len(leaving.node) == settings.level and not leaving.raised:
            nodes[leaving.node].append(leaving.record)
    shown: list[Counter[Shown]] = []
    evidence = []
    for node in sorted(nodes):
        rounds, rest = deal(nodes[node], settings, draws)
        for one in rounds:
            check(one, node, settings)
            shown.append(show([(record.path, record.texts) for record in one], settings.level, settings))
        evidence.append(NodeRounds(node, tuple(map(len, rounds)), len(rest)))
    return Contents(audience, add_up(shown), tuple(evidence))


def check(one: Sequence[SplitRecord], node: Node, settings: SplitSettings) -> None:
    """What the theorem of `docs/anonymity.md` rests on, checked for every round before anything of it is shown.

    Raises:
        RestrictionError: fewer than n people, a person or record twice, or a record of another node.
    """
    people = {record.person for record in one}
    if len(people) != len(one) or len({record.id for record in one}) != len(one):
        raise RestrictionError("a person or a record stands twice in a round")
    if len(people) < settings.n:
        raise RestrictionError("a round has fewer distinct people than k + 1 + margin")
    if any(record.path[: len(node)] != node for record in one):
        raise RestrictionError("a record of another node stands in a round")
