"""003 Examples 1 and 2 on k-query anonymity, and the active attack's limit on ZEALOUS."""

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from proxid.errors import InputError
from proxid.lab.attacks.counted import Row, active_attack, active_attack_rate, best_guess, homogeneity
from proxid.lab.logs import Dictionaries, LogBatch
from proxid.lab.release.k_anonymous.query import users_by_query
from proxid.lab.release.noise import OpenDpNoise
from proxid.lab.release.published import Published, write_published
from proxid.lab.release.zealous.mechanism import sanitise
from proxid.lab.release.zealous.plan import zealous_plan
from proxid.lab.utility.counted.counts import counted_utility, is_counted

K = 10
OTHERS = [(f"u{i}", f"q{i % 7}") for i in range(300)]


def k_query(rows: list[Row]) -> set[str]:
    """k-query anonymity by the code of the release method."""
    known, n = Dictionaries(), len(rows)
    none = np.full(n, -1, np.int32)
    users, queries = known.user.encode([u for u, _ in rows]), known.query.encode([q for _, q in rows])
    batch = LogBatch(users, queries, none, np.zeros(n), none, none, np.arange(n), none)
    counts = users_by_query(batch, len(known.query))
    return {known.query[code] for code in np.flatnonzero(counts >= K).tolist()}


def zealous(rows: list[Row]) -> set[str]:
    """ZEALOUS with m = 1, epsilon = 1, delta = 0.01 on the users' queries (one a user here)."""
    askers = defaultdict(set)
    for user, query in rows:
        askers[query].add(user)
    names = sorted(askers)
    plan = zealous_plan("indistinguishability", 1, 1.0, 0.01, len(rows))
    kept = sanitise(np.array([len(askers[name]) for name in names], np.int64), plan, OpenDpNoise())
    return {names[i] for i in kept.index.tolist()}


def test_example_1_a_village_where_everybody_asked() -> None:
    villagers = [f"v{i}" for i in range(100)]
    rows = [*OTHERS, *((v, "prescription drugs smalltown") for v in villagers)]
    group_of = dict.fromkeys(villagers, "smalltown with internet") | {f"u{i}": "elsewhere" for i in range(300)}
    learned = homogeneity(rows, k_query(rows), group_of)
    assert (learned.facts, learned.queries) == (100, 1)
    one_did_not = [row for row in rows if row != ("v7", "prescription drugs smalltown")]
    assert homogeneity(one_did_not, k_query(one_did_not), group_of).facts == 0


def test_example_2_k_minus_1_accounts_tell_whether_the_neighbour_asked() -> None:
    queries = [f"from: A{i} to: hospital" for i in range(5)]
    assert active_attack_rate(k_query, OTHERS, queries, accounts=K - 1) == 1.0
    assert not active_attack(k_query, OTHERS, queries[0], victim_asked=True, accounts=K - 2)


def test_the_active_attack_on_zealous_is_right_no_more_often_than_epsilon_delta_allow() -> None:
    """2,000 answers: Hoeffding, the rate exceeds its mean by sqrt(ln(1e9)/4000) = 0.072 with chance 1e-9."""
    plan = zealous_plan("indistinguishability", 1, 1.0, 0.01, 1000)
    accounts = math.ceil(plan.tau_prime) - 1  # where one more user changes most
    rate = active_attack_rate(zealous, OTHERS[:20], [f"route {i}" for i in range(1000)], accounts)
    assert rate <= best_guess(1.0, 0.01) + 0.072
    assert best_guess(1.0, 0.01) == pytest.approx(0.734, abs=1e-3)


def test_evaluate_compares_counts_with_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    rows = [f"u{i}\tnew york\t2006-03-01 10:00:00\t1\thttp://a.example" for i in range(4)]
    rows += [f"u{i}\tjobs\t2006-03-01 11:00:00\t\t" for i in range(2)]
    log.write_text("\n".join(["AnonID\tQuery\tQueryTime\tItemRank\tClickURL", *rows]) + "\n")
    out = tmp_path / "out.tsv"
    write_published(out, Published(("query",), [("new york",)], np.array([5])))
    assert is_counted(out)
    assert not is_counted(log)
    found = counted_utility(log, out)
    assert found["items_share"] == 0.5
    assert found["mean_count_difference"] == pytest.approx((abs(4 - 6) + 2) / 2)
    write_published(out, Published(("keyword",), [("new",), ("york",)], np.array([5, 4])))
    assert counted_utility(log, out)["index_caching"]["with_the_original_log"] > 0
    write_published(out, Published(("sequence",), [("a", "b")], np.array([5])))
    with pytest.raises(InputError):
        counted_utility(log, out)
