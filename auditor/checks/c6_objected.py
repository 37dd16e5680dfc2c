"""What the Main Service keeps of who objects (check 6 of DESIGN 10.4), by the gateway's word alone.

What MS itself says it was told binds it (`c6_restricted`). What the gateway's log holds beyond that says of neither
that it did not do its part: nothing waits of what somebody asked behind their objection, but MS may not have been told,
or been told that it is taken back, which the gateway records only then.

An objection is recorded once the Main Service has done its part, so nothing waits any more of what its person had asked
before: what the gateway forwards from then on comes when all that is gone. If it is not, one of the two did not do its
part, and nobody can tell which.
"""

from bisect import bisect_left
from operator import itemgetter
from typing import Final, NamedTuple

from auditor.checks.c3_links import People
from auditor.checks.c5_groups import Groups
from auditor.checks.c8_obligations import Obligations
from auditor.findings import CONSENT, GATEWAY, MAIN_SERVICE, Report, Unchecked
from auditor.policies import Policies
from proxid.evidence.events import Event

_OBJECTS: Final = (
    "{} records wait of people who object, which may have been taken back and is not recorded yet; else the gateway "
    "did not pass it on, or the main service did not heed it"
)
_TOLD: Final = "a record waits of somebody of whom the main service had said that nothing does any more"
_IGNORED: Final = (
    "something waits of what people asked before they objected, which either the gateway did not pass on, or the main "
    "service did not heed"
)
_SETTLED: Final = 2
"""Epochs that have begun when nothing of one before them can wait any more."""


class Waits(NamedTuple):
    """A record of somebody who objects.

    Attributes:
        event: which said so, and its type. session: the request's, hexadecimal. time_ms: of the request.
    """

    event: int
    type: str
    prox_id: str
    epoch: int
    session: str
    time_ms: int


ObjectedState = tuple[list[Waits], dict[int, int], set[str]]
"""Records of who objects; by epoch, up to which event the gateway's objections were verified; PROX_IDs of which
something waited in spite of one."""


class Objected:
    """Reads BUFFERED and RECEIVED after the gateway's OBJECTED."""

    def __init__(self, policies: Policies, people: People, obligations: Obligations, report: Report) -> None:
        self._policies, self._people = policies, people
        self._obligations, self._report = obligations, report
        self._waits: list[Waits] = []
        self._verified: dict[int, int] = {}
        self._ignored: set[str] = set()
        self._made: list[tuple[int, str]] | None = None
        """Objections, by the gateway's event, and who made each: the gateway's log is read before."""

    def waits(self, event: Event, prox_id: str, epoch: int, session: str, time_ms: int) -> None:
        """A record waits, or would have: whether its person objects is held against the whole of the gateway's log.

        Args:
            session, time_ms: of the request.
        """
        if self._obligations.objects_to(self._people.user_of(prox_id), session, time_ms):
            self._waits.append(Waits(event.number, event.type.value, prox_id, epoch, session, time_ms))
        if not self._obligations.restrictions.may_wait(prox_id):
            self._report.add(CONSENT, MAIN_SERVICE, event.number, f"{event.type.value}: {_TOLD}")

    def received(self, epoch: int, session: str, time_ms: int, groups: Groups) -> None:
        """RECEIVED: what somebody asked in its epoch before they objected does not wait any more.

        Nor does, when its epoch begins, what somebody asked before they objected in the one before.

        Args:
            time_ms: of the request. Well within the epoch no later one's key is linked, and MS is told of this one's.
        """
        if self._made is None:
            self._made = _made(self._obligations)
        if not self._made or self._made[-1][0] < self._verified.get(epoch, 0):
            return
        forwarded = self._obligations.sets.forwarded_at(session) or 0
        if epoch not in self._verified:
            self._begun(epoch, forwarded, groups)
        judge = self._policies.of(epoch)
        if judge is None or time_ms / 1000 >= judge.epochs.end(epoch) - 2 * judge.clock_skew:
            return
        self._verify(epoch, forwarded, groups)

    def _begun(self, epoch: int, forwarded: int, groups: Groups) -> None:
        """An epoch's key is linked once the gateway has logged that it is open: of who objected before, MS was told of
        the one before."""
        begins = self._policies.begins[GATEWAY]
        at = bisect_left(begins, epoch, key=itemgetter(1))
        opened, logged = begins[at] if at < len(begins) else (0, epoch)
        self._verified[epoch] = opened if logged == epoch else 0
        if logged == epoch and at:
            before = begins[at - 1]
            self._verified.setdefault(before[1], before[0])
            self._verify(before[1], min(opened, forwarded), groups)

    def _verify(self, epoch: int, until: int, groups: Groups) -> None:
        """Hold what waits of an epoch against the objections before an event of the gateway, each once."""
        made, sets, since = self._made or [], self._obligations.sets, self._verified[epoch]
        for begun, user in made[bisect_left(made, (since, "")) : bisect_left(made, (until, ""))]:
            last = self._people.last_of(user, epoch)
            for prox_id in filter(None, (last.prox_id, last.instead) if last else ()):
                asked = (sets.forwarded_at(one.hex()) for one in groups.held(epoch, prox_id, ()))
                if any(at is not None and at < begun for at in asked):
                    self._ignored.add(prox_id)
        self._verified[epoch] = max(since, until)

    def finish(self, newest: int) -> None:
        """At the end: what waits of who objects, as far as it is known by now.

        Args:
            newest: the epoch that began last.
        """
        self._waits = [one for one in self._waits if self._people.find(one.prox_id) and self._objects(one)]
        if self._waits:
            self._report.missing.append(Unchecked(CONSENT, MAIN_SERVICE, _OBJECTS.format(len(self._waits))))
        self._ignored = {prox_id for prox_id in self._ignored if self._people.find(prox_id)}
        self._verified = {epoch: event for epoch, event in self._verified.items() if epoch + _SETTLED > newest}
        if self._ignored:
            self._report.missing.append(Unchecked(CONSENT, MAIN_SERVICE, _IGNORED))

    def _objects(self, one: Waits) -> bool:
        return self._obligations.objects_to(self._people.user_of(one.prox_id), one.session, one.time_ms)

    def state(self) -> ObjectedState:
        """For storing."""
        return self._waits, self._verified, self._ignored

    def restore(self, state: ObjectedState) -> None:
        """Go on from a state."""
        self._waits, self._verified, self._ignored = state
        self._made = None


def _made(obligations: Obligations) -> list[tuple[int, str]]:
    return sorted((begun, user) for user, of in obligations.objections.items() for _, begun, _ in of)
