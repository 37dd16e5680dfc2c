"""What leaves at a tick, as pure functions (DESIGN 8.11): the store and the auditor's replay obey the same rules.

The gateway sees who has an entry in a tick and sends requests of its own: a node that it knows to be in the tick is
a guess at everybody's. Hence a tick has `MIN_NODES` nodes and none with over half of the entries, or nothing leaves.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.settings import MIN_NODES, SplitSettings
from proxid.anonymise.split.types import Leaving, Node, SplitReason, SplitRecord, Suppressed

Waiting = Mapping[Node, Sequence[SplitRecord]]
"""Records of one audience by the node at which they wait, each in order of arrival."""


def node_of(path: Node, settings: SplitSettings) -> Node:
    """Where a record of a category waits."""
    return path[: settings.level]


def may_leave(counts: Collection[int]) -> bool:
    """Whether entries may leave at a tick, by how many lie in each node."""
    return len(counts) >= MIN_NODES and 2 * max(counts) <= sum(counts)


def leaving_at_close(
    waiting: Waiting, opened: Collection[Node], settings: SplitSettings, draws: Draws
) -> tuple[list[Leaving], list[Suppressed]]:
    """What of one audience leaves at the close, and what is given up.

    Args:
        waiting: everything that still waits. opened: the nodes that are open.
    """
    leaving, suppressed = _raise(waiting, opened, settings)
    kept, surplus = _uniform(leaving, draws)
    return kept, suppressed + surplus


def _raise(
    waiting: Waiting, opened: Collection[Node], settings: SplitSettings
) -> tuple[list[Leaving], list[Suppressed]]:
    """Entries of closed nodes move up, never above depth 1; n distinct people who came up open a node for themselves.

    Those who were at the node by themselves do not count for who comes up, nor the other way round: a node that
    opens with the help of others would tell that its own were too few.
    """
    leaving = [Leaving(record, node) for node in sorted(waiting) if node in opened for record in waiting[node]]
    suppressed: list[Suppressed] = []
    moved: dict[int, dict[Node, list[SplitRecord]]] = defaultdict(lambda: defaultdict(list))
    for node in sorted(waiting):
        if node not in opened:
            moved[len(node) - 1][node[:-1]] += waiting[node]
    for depth in range(settings.level - 1, 0, -1):
        for node in sorted(moved[depth]):
            records = moved[depth][node]
            if len({record.person for record in records}) >= settings.n:
                leaving += [Leaving(record, node, raised=True) for record in records]
            else:
                moved[depth - 1][node[:-1]] += records
    for node in sorted(moved[0]):
        suppressed += [Suppressed(record, SplitReason.TOO_FEW) for record in moved[0][node]]
    return leaving, suppressed


def _uniform(leaving: Sequence[Leaving], draws: Draws) -> tuple[list[Leaving], list[Suppressed]]:
    """The tick rule where nothing can wait any longer: the surplus of the biggest node is given up, drawn by lot."""
    nodes: dict[Node, list[Leaving]] = defaultdict(list)
    for left in leaving:
        nodes[left.node].append(left)
    if len(nodes) < MIN_NODES:
        return [], _given_up(leaving)
    biggest = max(nodes.values(), key=len)
    surplus = 2 * len(biggest) - len(leaving)
    if surplus <= 0:
        return list(leaving), []
    drawn = sorted(biggest, key=lambda left: draws.surplus(left.record.id))[:surplus]
    gone = {left.record.id for left in drawn}
    return [left for left in leaving if left.record.id not in gone], _given_up(drawn)


def _given_up(leaving: Iterable[Leaving]) -> list[Suppressed]:
    return [Suppressed(left.record, SplitReason.TICK_UNIFORM) for left in leaving]
