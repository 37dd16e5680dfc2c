"""What people were told in a history, and what a party may not get after it (DESIGN 7, 8.4, 11). It knows no service.

A choice, objection or erasure that was acknowledged takes back every text that its person had asked before, towards the
parties that it does not allow. One that was asked for and not acknowledged may be in effect or not.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum

Parties = frozenset[str]
NOBODY: Parties = frozenset()


@dataclass(slots=True)
class Text:
    """A text that somebody asked in an epoch, and the parties that may still get it."""

    owner: str
    epoch: int
    node: str
    may: set[str]


class Objects(Enum):
    """Whether a person objects, as far as they were told."""

    NO = 0
    PERHAPS = 1
    YES = 2


@dataclass(slots=True)
class Shown:
    """A record as a party reads it: under which name, whether that is the person's own, and the text or nothing."""

    user: str
    plain: bool
    node: str
    text: str


@dataclass(slots=True)
class Told:
    """See the module.

    Attributes:
        texts: by the text. erased: people whose erasure was accepted. groups: by party, epoch and number the texts and
            names of each group that came.
    """

    texts: dict[str, Text] = field(default_factory=dict)
    erased: set[str] = field(default_factory=set)
    groups: dict[tuple[str, int, int], frozenset[tuple[str, str]]] = field(default_factory=dict)
    entries: dict[tuple[str, int, int], Counter[tuple[str, str]]] = field(default_factory=dict)
    """By party, epoch and number: who was named at which node when a portion came first."""
    _objects: dict[str, Objects] = field(default_factory=lambda: defaultdict(lambda: Objects.NO))
    _chosen: dict[tuple[str, int], list[Parties]] = field(default_factory=lambda: defaultdict(lambda: [NOBODY]))
    """What may be in effect of a person's in an epoch: what was acknowledged last, and what was sent after it."""
    _came: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def objects(self, person: str) -> Objects:
        return self._objects[person]

    def asks(self, person: str, epoch: int, node: str, text: str) -> None:
        """Somebody asks, answered or not: what it may become was decided before."""
        may = set[str]().union(*self._chosen[person, epoch])
        if self._objects[person] is Objects.YES or person in self.erased:
            may = set()
        self.texts[text] = Text(person, epoch, node, may)

    def chooses(self, person: str, epoch: int, parties: Parties) -> None:
        """A choice is sent; what comes of it is not known yet."""
        self._chosen[person, epoch].append(parties)

    def refused(self, person: str, epoch: int) -> None:
        """The last choice that was sent was refused before any of it was in effect."""
        self._chosen[person, epoch].pop()

    def chose(self, person: str, epoch: int, parties: Parties) -> None:
        """A choice was acknowledged: of its epoch and those before, parties that it does not allow get nothing more."""
        self._chosen[person, epoch] = [parties]
        self._take_back(person, parties, epoch)

    def may_object(self, person: str) -> None:
        """A request to object, or to take that back, is sent."""
        self._objects[person] = Objects.PERHAPS

    def objected(self, person: str) -> None:
        self._objects[person] = Objects.YES
        self._take_back(person, NOBODY)

    def resumed(self, person: str) -> None:
        self._objects[person] = Objects.NO

    def erases(self, person: str) -> None:
        """An erasure was accepted."""
        self.erased.add(person)
        self._take_back(person, NOBODY)

    def _take_back(self, person: str, but: Collection[str], until: int | None = None) -> None:
        for text in self.texts.values():
            if text.owner == person and (until is None or text.epoch <= until):
                text.may.intersection_update(but)

    def came(self, party: str, epoch: int, number: int, records: Sequence[Shown], least: int) -> None:
        """A group of form `pairs` comes to a party, for the first time or again.

        Args:
            least: people that a group has.
        """
        place, users = (party, epoch, number), [record.user for record in records]
        what = f"group {number} of epoch {epoch} for {party}"
        same = frozenset((record.user, record.text) for record in records)
        assert self.groups.setdefault(place, same) == same, f"{what} came twice, and differs"
        assert len(set(users)) == len(users) >= least, f"{what} holds {users}"
        shown = [record.text for record in records if record.text]
        for text in shown:
            assert self._came.setdefault((party, text), (epoch, number)) == (epoch, number), f"{text} came twice"
            asked = self.texts[text]
            assert asked.epoch == epoch, f"{what} holds a text of epoch {asked.epoch}"
            assert party in asked.may, f"{what} holds what {asked.owner} asked, and does not let out"
        owners = [self.texts[text].owner for text in shown]
        assert len(set(owners)) == len(owners), f"{what} holds two texts of one person"
        if not records[0].plain:
            return
        for record in records:
            assert self._has(record.user, epoch, party), f"{what} names {record.user}, who lets nothing out"
            assert not record.text or self.texts[record.text].owner != record.user, f"{what} names an owner"
        if len(shown) == len(records):
            assert set(owners) == set(users), f"{what} names others than it is of"

    def came_entries(self, party: str, epoch: int, number: int, entries: Sequence[Shown]) -> None:
        """A portion of form `split` comes to a party: who asked at a node, for the first time or again, or cut."""
        place = (party, epoch, number)
        what = f"portion {number} of epoch {epoch} for {party}"
        said = self.entries.setdefault(place, Counter((entry.user, entry.node) for entry in entries))
        now = Counter((entry.user, entry.node) for entry in entries)
        assert now <= said, f"{what} came twice, and says more"
        assert not any(entry.text for entry in entries), f"{what} says what was asked"
        for entry in entries:
            if entry.plain:
                assert self._has(entry.user, epoch, party), f"{what} names {entry.user}, who lets nothing out"
        for user in {entry.user for entry in entries if entry.plain}:
            asked = sum(text.owner == user and text.epoch == epoch for text in self.texts.values())
            shown = sum(
                count for place, named in self.entries.items() if place[:2] == (party, epoch)
                for (name, _), count in named.items() if name == user
            )  # fmt: skip
            assert shown <= asked, f"{what}: {user} asked {asked} times, and is shown {shown} times"

    def came_contents(self, epoch: int, rows: Sequence[tuple[str, int]]) -> None:
        """Contents of form `split` come: what was asked in an epoch, without names.

        Args:
            rows: a text or nothing, and of how many records.
        """
        for text, records in rows:
            if asked := self.texts.get(text):
                assert (asked.epoch, records) == (epoch, 1), f"contents of epoch {epoch} hold {text} {records} times"
                assert asked.owner not in self.erased, f"contents of epoch {epoch} hold what an erased person asked"

    def _has(self, person: str, epoch: int, party: str) -> bool:
        own = [text for text in self.texts.values() if text.owner == person and text.epoch == epoch]
        return any(party in text.may for text in own)
