"""Algorithm 4 against its worked example (002 Tables 4.2 and 4.3), with the table's choices forced."""

import json
from collections import Counter
from pathlib import Path

from proxid.lab.thesis.algorithm4 import Thesis

VECTOR = json.loads((Path(__file__).parent / "thesis_stream.json").read_text())


class Forced:
    """Chooses what the table chose: the query of the next output, then an entry of its published user."""

    def __init__(self, outputs: list) -> None:
        self.outputs, self.mechanism, self.step = [o for step in outputs for o in step], None, 0

    def randrange(self, stop: int) -> int:
        user, text, category = self.outputs[self.step // 2]
        vertex = self.mechanism.vertices[category.split("/")[0]]
        self.step += 1
        items = [q.query for q in vertex.queries] if self.step % 2 else vertex.users
        assert len(items) == stop
        return items.index(text if self.step % 2 else user)


def replay() -> tuple[Thesis, list]:
    """The mechanism after all records, and what each of them released."""
    forced = Forced(VECTOR["outputs"])
    forced.mechanism = Thesis(VECTOR["k"], VECTOR["level"], forced)
    released = [forced.mechanism.feed(*record) for record in VECTOR["records"]]
    return forced.mechanism, released


def test_outputs_of_the_worked_example() -> None:
    """Every step releases what the tables say, no more and no less."""
    _, released = replay()
    assert [[list(record[:3]) for record in step] for step in released] == VECTOR["outputs"]


def test_buffers_after_the_worked_example() -> None:
    """What is left in each category is what Table 4.3 ends with."""
    mechanism, _ = replay()
    for name, left in VECTOR["left"].items():
        vertex = mechanism.vertices[name]
        assert Counter(vertex.users) == Counter(left["users"])
        assert Counter(q.query for q in vertex.queries) == Counter(left["queries"])
    assert mechanism.waiting == 4
