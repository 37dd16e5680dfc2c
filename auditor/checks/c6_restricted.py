"""That the Main Service was told who objects, and goes by it (check 6 of DESIGN 10.4; ADR 0042).

The gateway tells it by a signed word, which RESTRICTED holds, and OBJECTED holds the Main Service's promise of that. So
who records an objection has told it, and who was told has said so itself: from then on nothing of the person's comes to
wait until another word ends that, as its own log shows. Entries from before say none of it: of these nobody can tell
which of the two did not do its part.

The gateway records an objection once the Main Service has promised: killed in between, it says it anew. So a word that
no OBJECTED names is explained by a later one that the same person's OBJECTED names; until then it is unchecked. One
that says of a PROX_ID what a recorded one had said already changes nothing, and needs no record: two of the gateway's
processes may say it, if one was started anew meanwhile.
"""

from collections.abc import Callable, Iterable, Set
from typing import Final, NamedTuple

from auditor.checks.c3_links import People, Person
from auditor.findings import CONSENT, GATEWAY, MAIN_SERVICE, Report, Unchecked
from auditor.trust import Trust
from proxid.errors import ConsentError, CredentialError, MessageInvalidError
from proxid.evidence.checkpoint import origin
from proxid.evidence.events import Event, EventType, RestrictedPayload
from proxid.evidence.note import Verifier
from proxid.evidence.promise import Promise
from proxid.protocol.restriction import Restriction
from proxid.protocol.rights import Right, RightsRequest, Told

_SAID: Final = "the main service was told of {} objections, or that they are taken back, which are not recorded yet"
_UNSAID: Final = "{} objections are said to be taken back without a word of the gateway's, which has not recorded that"


class Word(NamedTuple):
    """A word of the gateway's in the main service's log: its digest, whom it is of, whether an objection begins."""

    digest: bytes
    prox_id: str
    begins: bool


class RestrictedState(NamedTuple):
    """A `Restrictions`, for storing."""

    named: dict[bytes, str]
    promises: list[bytes]
    words: list[Word]
    restricted: dict[str, bool]
    freed: set[str]
    older: set[tuple[str, bool]]
    unread: bool


class Restrictions:
    """Holds OBJECTED and RESTRICTED against each other."""

    def __init__(self, trust: Trust, people: People) -> None:
        self._trust, self._people = trust, people
        self._named: dict[bytes, str] = {}
        """Digests of words that OBJECTED names, and whose PROX_ID each is of."""
        self._promises: list[bytes] = []
        """Those that do not stand in the main service's log, or not yet."""
        self._words: dict[bytes, Word] = {}
        """By digest, as they came to the main service."""
        self._restricted: dict[str, bool] = {}
        """PROX_IDs of which nothing may wait, by its log, and whether that is the gateway's word."""
        self._freed: set[str] = set()
        """Those of which something may again without a word of the gateway's."""
        self._older: set[tuple[str, bool]] = set()
        """Users of OBJECTED from before there were words, and whether they object by it."""
        self._unread = False

    def recorded(self, request: RightsRequest, told: Iterable[tuple[bytes, bytes]], newest: int) -> int | None:
        """OBJECTED that names words; the epoch of a PROX_ID of which the main service must have been told and was not.

        Args:
            told: of each the subject tag and a `Told`; of whom nothing can be read any more, it is taken as it is.
            newest: the epoch that the gateway opened last.

        Raises:
            CredentialError: a word or its promise is of something else, or was named before. ProxidError: a signature
                or form does not hold.
        """
        begins, found = request.right is Right.OBJECT, set[str]()
        for tag, data in told:
            one, person = Told.decode(data), self._people.of_tag(tag)
            promise = self._promise(one.promise)
            if person is not None:
                word = one.word(self._trust.service, person.prox_id, begins)
                word.verify(self._trust.screener, self._trust.service)
                if person.user_id != request.user_id or promise.asked != word.digest:
                    raise CredentialError("the main service was told of somebody else, or something else")
                found.add(person.prox_id)
            if promise.asked in self._named:
                raise CredentialError("the main service was told of another objection")
            self._named[promise.asked] = "" if person is None else person.prox_id
            self._promises.append(one.promise)
        last = self._last_of(request, newest)
        if last is None or {last.prox_id, *filter(None, (last.instead,) if begins else ())} <= found:
            return None
        return last.epoch

    def _last_of(self, request: RightsRequest, newest: int) -> Person | None:
        """The newest epoch's in which the person has a key: under its PROX_IDs something may wait."""
        first = self._trust.epochs.number(request.time_ms / 1000)
        linked = (self._people.last_of(request.user_id, epoch) for epoch in range(newest, first - 1, -1))
        return next(filter(None, linked), None)

    def _promise(self, data: bytes) -> Promise:
        """What the main service promised; raises ProxidError."""
        promise, trust = Promise.decode(data), self._trust
        first = Verifier(origin(trust.service, MAIN_SERVICE), trust.service_key)
        promise.verify_of(first, EventType.RESTRICTED, promise.asked)  # of which word is compared by the caller
        return promise

    def recorded_older(self, request: RightsRequest | None) -> None:
        """OBJECTED that names no words, or that cannot be read (None)."""
        if request is None:
            self._unread = True
        else:
            self._older.add((request.user_id, request.right is Right.OBJECT))

    def heeded(self, event: Event) -> tuple[Person | None, bool, bool]:
        """RESTRICTED: whose it is, if that is known, whether the restriction begins, and whether the gateway said so.

        Raises:
            MessageInvalidError: it says something else than the word that it holds. ConsentError: the word was heeded
                before. ProxidError: it is not the gateway's.
        """
        fields, payload = event.fields, RestrictedPayload.decode(event.payload)
        begins, prox_id = fields["begins"], payload.prox_id
        person = self._filed(event, prox_id)
        if not isinstance(begins, bool) or bool(fields["word"]) is not bool(payload.word):
            raise MessageInvalidError("event says something else than the word that it holds")
        if payload.word:
            word = Restriction.decode(payload.word)
            word.verify(self._trust.screener, self._trust.service)
            if (word.prox_id, word.begins, word.digest.hex()) != (prox_id, begins, fields["word"]):
                raise MessageInvalidError("event says something else than the word that it holds")
            if word.digest in self._words:
                raise ConsentError("a word of the gateway's was heeded twice")
            self._words[word.digest] = Word(word.digest, prox_id, begins)
        if begins:
            self._restricted[prox_id] = bool(payload.word)
            self._freed.discard(prox_id)
        else:
            self._restricted.pop(prox_id, None)
            if not payload.word:
                self._freed.add(prox_id)
        return person, begins, bool(payload.word)

    def _filed(self, event: Event, prox_id: str) -> Person | None:
        person = self._people.find(prox_id)
        if person is not None and any(self._people.of_tag(tag) is not person for tag in event.tags):
            raise MessageInvalidError("event is filed under other evidence than the person's")
        return person

    def heeded_unread(self, event: Event) -> None:
        """RESTRICTED that cannot be read: of whom it is, nothing is said any more.

        Raises:
            MessageInvalidError: it is of somebody whose evidence it is not under.
        """
        self._filed(event, self._named.get(bytes.fromhex(str(event.fields["word"])), ""))
        for person in filter(None, map(self._people.of_tag, event.tags)):
            self._restricted.pop(person.prox_id, None)

    def may_wait(self, prox_id: str) -> bool:
        """Whether something of somebody's may come to wait, by the main service's own log."""
        return prox_id not in self._restricted

    def is_told(self, prox_id: str) -> bool:
        """Whether the gateway's word that somebody objects is in effect, as the main service's log shows."""
        return self._restricted.get(prox_id, False)

    def compare(self, take: Callable[[bytes], bool]) -> None:
        """At the end: what was promised stands in the main service's log.

        Args:
            take: compares one promise, and says whether it is kept.
        """
        self._promises = [data for data in self._promises if not take(data)]

    def finish(self, report: Report) -> None:
        """At the end: what the main service was told is recorded, or comes to be."""
        people = self._people
        self._words = {digest: word for digest, word in self._words.items() if people.find(word.prox_id)}
        self._named = {digest: prox_id for digest, prox_id in self._named.items() if people.find(prox_id)}
        self._restricted = {prox_id: told for prox_id, told in self._restricted.items() if people.find(prox_id)}
        self._freed = {prox_id for prox_id in self._freed if people.find(prox_id)}
        covered: dict[str, bool] = {}
        open_words = list[Word]()
        for word in reversed(self._words.values()):
            user = people.user_of(word.prox_id)
            if word.digest in self._named:
                covered[user] = word.begins
            elif covered.get(user) is not word.begins:
                open_words.append(word)
        unsaid = len(open_words) - self._doubled({word.digest for word in open_words})
        if unsaid and not self._unread:
            report.missing.append(Unchecked(CONSENT, GATEWAY, _SAID.format(unsaid)))
        if freed := sum((people.user_of(prox_id), False) not in self._older for prox_id in self._freed):
            report.missing.append(Unchecked(CONSENT, MAIN_SERVICE, _UNSAID.format(freed)))

    def _doubled(self, unnamed: Set[bytes]) -> int:
        """How many of these say what was said of the same PROX_ID before, and recorded."""
        said: dict[str, Word] = {}
        doubled = 0
        for word in self._words.values() if unnamed else ():
            before = said.get(word.prox_id)
            if word.digest in unnamed and before is not None and before.begins is word.begins:
                doubled += before.digest not in unnamed
            else:
                said[word.prox_id] = word
        return doubled

    def state(self) -> RestrictedState:
        """For storing."""
        return RestrictedState(
            self._named, self._promises, [*self._words.values()], self._restricted, self._freed, self._older,
            self._unread,
        )  # fmt: skip

    def restore(self, state: RestrictedState) -> None:
        """Go on from a state."""
        (
            self._named, self._promises, words, self._restricted, self._freed, self._older, self._unread,
        ) = state  # fmt: skip
        self._words = {word.digest: word for word in words}
