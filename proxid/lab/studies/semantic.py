"""000's experiments: utility loss of SQC1, SQC2, NSQC and HBDP over ε in settings A, B and C (000 §4, Figures 2-4).

Every cell is the JSD of each user, averaged over runs, so that methods are compared user by user. Two ways to spend
ε: `user` (ε/m a query, the guarantee the paper states) and `query` (ε a query, what its curves look like). HBDP spends
ε on a user's histogram in both. Two kinds of profile: `topics`, distributions over P as in the paper, where a query
that became something else counts nowhere, and `other`, with one more bin for those, so that they count as lost.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from proxid.errors import InputError
from proxid.lab.release.semantic.domain import Ints, Reals
from proxid.lab.release.semantic.exponential import MAX_EPSILON, MIN_EPSILON, RandomBytes
from proxid.lab.release.semantic.hbdp import bound_user, discrete_laplace
from proxid.lab.release.semantic.mechanism import SemanticMechanism, build_mechanism
from proxid.lab.release.semantic.quality import Criterion
from proxid.lab.release.semantic.topics import EQUAL_SETTINGS, OTHER, SETTINGS, categorise
from proxid.lab.utility.jsd import jensen_shannon
from proxid.ontology.wordnet import WordNet

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0)
WAYS = ("user", "query")
PROFILES = ("topics", "other")
HBDP = "hbdp"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Plan:
    """What to run. user, concept: a row a query, all under the four topics; users are numbered from 0.

    hbdp_users: as many users at most get a histogram in settings A, and B and C (40,000 bins a user); hbdp_maximum: M.
    """

    user: Ints
    concept: Ints
    epsilons: tuple[float, ...] = EPSILONS
    runs: int = 3
    settings: tuple[str, ...] = ("A", "B", "C")
    hbdp_users: tuple[int, int] = (60, 15)
    hbdp_maximum: int = 100

    @property
    def users(self) -> int:
        """Number of users."""
        return int(self.user.max()) + 1


@dataclass(eq=False)
class Losses:
    """JSD by user: `values[profile, setting, way, method]` is epsilons × users; HBDP's has its first users only."""

    epsilons: tuple[float, ...]
    values: dict[tuple[str, str, str, str], Reals] = field(default_factory=dict)
    equal: dict[tuple[str, str], float] = field(default_factory=dict)
    """Largest JSD of any user on the line D = P, by (setting, criterion); HBDP's is its mean at ε = 1."""


def profile(user: Ints, topic: npt.NDArray[np.int16], users: int, topics: int) -> Reals:
    """Counts of topics and of OTHER (the last bin), users × (topics + 1)."""
    bins = np.where(topic == OTHER, topics, topic).astype(np.int64)
    return np.bincount(user * (topics + 1) + bins, minlength=users * (topics + 1)).reshape(users, -1).astype(float)


def run(wordnet: WordNet, plan: Plan, random: RandomBytes, progress: Progress = lambda done, total: None) -> Losses:
    """All curves. Raises InputError when no query has a concept in the four domains."""
    if not len(plan.user):
        raise InputError("the study needs queries about diseases, sciences, sports or social events")
    losses = Losses(plan.epsilons)
    steps = len(plan.settings) * (len(Criterion) * (len(WAYS) + 1) + 1)
    ticks = iter(range(1, steps + 1))
    for name in plan.settings:
        for criterion in Criterion:
            _exponential(wordnet, plan, name, criterion, random, losses, lambda: progress(next(ticks), steps))
        _histograms(wordnet, plan, name, random, losses)
        progress(next(ticks), steps)
    return losses


def _exponential(
    wordnet: WordNet, plan: Plan, name: str, criterion: Criterion, random: RandomBytes, losses: Losses,
    tick: Callable[[], None],
) -> None:  # fmt: skip
    mechanism = build_mechanism(wordnet, SETTINGS[name], criterion)
    for way in WAYS:
        for kind, values in zip(PROFILES, curves(mechanism, plan, way, random), strict=True):
            losses.values[kind, name, way, str(criterion)] = values
        tick()
    equal = build_mechanism(wordnet, EQUAL_SETTINGS[name], criterion)
    inside = equal.domain_of[plan.concept] != OTHER
    part = Plan(plan.user[inside], plan.concept[inside], plan.epsilons, 1)
    if len(part.user):
        losses.equal[name, str(criterion)] = float(curves(equal, part, "query", random).max())
    tick()


def _budget(plan: Plan, way: str, epsilon: float) -> Reals:
    each = epsilon / np.bincount(plan.user)[plan.user] if way == "user" else np.full(len(plan.user), epsilon)
    result: Reals = np.clip(each, MIN_EPSILON, MAX_EPSILON)
    return result


def divergences(original: Reals, released: Reals) -> Reals:
    """JSD of every user for both kinds of profile (2 × users); the last bin is OTHER."""
    topics = jensen_shannon(original[:, :-1], released[:, :-1])
    return np.array([topics, jensen_shannon(original, released)])


def curves(mechanism: SemanticMechanism, plan: Plan, way: str, random: RandomBytes) -> Reals:
    """JSD of every user at every ε (kinds of profile × epsilons × users), the mean over runs.

    All values of ε and all runs are one call, so that the candidates of a concept are ranked once.
    """
    copies, topics = len(plan.epsilons) * plan.runs, len(mechanism.setting.topics)
    epsilon = np.concatenate([_budget(plan, way, e) for e in plan.epsilons for _ in range(plan.runs)])
    released = mechanism.protect(np.tile(plan.concept, copies), epsilon, random).reshape(copies, -1)
    before = profile(plan.user, mechanism.topic_of[plan.concept], plan.users, topics)
    loss = [divergences(before, profile(plan.user, mechanism.topic_of[row], plan.users, topics)) for row in released]
    shape = (len(plan.epsilons), plan.runs, len(PROFILES), plan.users)
    result: Reals = np.array(loss).reshape(shape).mean(1).transpose(1, 0, 2)
    return result


def _histograms(wordnet: WordNet, plan: Plan, name: str, random: RandomBytes, losses: Losses) -> None:
    """HBDP's curve, one run; also its value for D = P at ε = 1, from the same bins seen as those topics."""
    setting, equal = SETTINGS[name], EQUAL_SETTINGS[name]
    bins = np.flatnonzero(categorise(wordnet, setting.domains) != OTHER)
    topic, equal_topic = categorise(wordnet, setting.topics), categorise(wordnet, equal.topics)
    users = min(plan.users, plan.hbdp_users[0 if len(setting.domains) > 1 else 1])
    rows = []
    for epsilon in plan.epsilons:
        noise = discrete_laplace(epsilon, plan.hbdp_maximum)
        before, after, same_before, same_after = [], [], [], []
        for own in _of_users(plan, users):
            kept = np.bincount(np.searchsorted(bins, bound_user(own, plan.hbdp_maximum, random)), minlength=len(bins))
            noisy = np.maximum(noise(kept), 0)
            exact = np.bincount(np.searchsorted(bins, own), minlength=len(bins))
            before.append(_weighted(topic[bins], exact, len(setting.topics)))
            after.append(_weighted(topic[bins], noisy, len(setting.topics)))
            inside = equal_topic[bins] != OTHER
            same_before.append(_weighted(equal_topic[bins[inside]], exact[inside], len(equal.topics)))
            same_after.append(_weighted(equal_topic[bins[inside]], noisy[inside], len(equal.topics)))
        rows.append(divergences(np.array(before), np.array(after)))
        if epsilon == 1.0:
            losses.equal[name, HBDP] = float(jensen_shannon(np.array(same_before), np.array(same_after)).mean())
    for number, kind in enumerate(PROFILES):
        for way in WAYS:
            losses.values[kind, name, way, HBDP] = np.array(rows)[:, number]


def _of_users(plan: Plan, users: int) -> Iterator[Ints]:
    for user in range(users):
        yield plan.concept[plan.user == user]


def _weighted(topic: npt.NDArray[np.int16], counts: Ints, topics: int) -> Reals:
    result: Reals = np.bincount(np.where(topic == OTHER, topics, topic), counts, minlength=topics + 1).astype(float)
    return result
