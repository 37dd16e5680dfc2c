"""003's other forms of k-anonymity, and its two attacks as commands on what they publish."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from proxid.cli.main import main
from proxid.lab.release.k_anonymous.keyword import k_keyword_anonymous
from proxid.lab.release.k_anonymous.session import k_session_anonymous

VILLAGE = "prescription drugs smalltown"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """003 Example 1: everybody of a village asked the same; others ask the weather, and one query of their own."""
    rows = [(f"v{at}", VILLAGE) for at in range(12)]
    rows += [(f"u{at}", text) for at in range(40) for text in ("weather today", f"mine {at}")]
    lines = [f"{user}\t{text}\t2006-03-01 10:00:00\t\t" for user, text in rows]
    (tmp_path / "log.tsv").write_text("\n".join(["AnonID\tQuery\tQueryTime\tItemRank\tClickURL", *lines]) + "\n")
    groups = [f"v{at}\tsmalltown with internet" for at in range(12)] + [f"u{at}\telsewhere" for at in range(41)]
    (tmp_path / "groups.tsv").write_text("\n".join(groups) + "\n")
    return tmp_path / "log.tsv"


def attacked(log: Path, method: str, *options: str) -> dict[str, Any]:
    out = log.with_name(f"{method}.tsv")
    assert main(["release", "--method", method, *options, str(log), "-o", str(out)]) == 0
    words = ["attack", str(log), str(out), "--attack", "active", "--attack", "homogeneity", "--json"]
    found: dict[str, Any] = said([*words, "--groups", str(log.with_name("groups.tsv"))], log)["attacks"]
    return found


def said(words: list[str], log: Path) -> dict[str, Any]:
    """The object that a command prints."""
    path = log.with_name("said.json")
    with path.open("w") as file, contextlib.redirect_stdout(file):
        assert main(words) == 0
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("method", ["k-query", "k-keyword"])
def test_who_opens_k_minus_1_accounts_is_always_right(log: Path, method: str) -> None:
    found = attacked(log, method, "--k", "10")
    assert (found["active"]["accounts"], found["active"]["right"]) == (9, 1.0)
    queries = {"k-query": 1, "k-keyword": len(VILLAGE.split())}[method]
    assert found["homogeneity"] == {"facts": 12 * queries, "queries": queries}


def test_ka_has_both_and_zealous_keeps_to_its_bound(log: Path) -> None:
    assert attacked(log, "ka", "--K", "10")["active"] == {"accounts": 10, "trials": 400, "right": 1.0, "bound": 1.0}
    ledger = str(log.with_name("ledger.json"))
    found = attacked(log, "zealous", "--epsilon", "1", "--delta", "0.01", "--m", "1", "--ledger", ledger)
    # 400 answers: Hoeffding, over the mean by sqrt(ln(1e9)/800) = 0.161 with chance 1e-9.
    assert 0.4 < found["active"]["right"] <= found["active"]["bound"] + 0.161
    assert found["active"]["bound"] == pytest.approx(0.734, abs=1e-3)
    inaccuracy = said(["evaluate", str(log), str(log.with_name("zealous.tsv")), "--json"], log)["inaccuracy"]
    assert inaccuracy["published"] == 0, "Theorem 3: what is very infrequent is never published"
    assert inaccuracy["accuracy"] > 0.5


def test_a_session_is_made_like_k_minus_1_others(log: Path) -> None:
    found = attacked(log, "k-session", "--k", "10")
    assert found["active"]["accounts"] == 9
    sessions = [line.split("\t")[1] for line in log.with_name("k-session.tsv").read_text().splitlines()[1:]]
    assert all(sessions.count(text) >= 10 for text in sessions)
    assert VILLAGE.split()[0] in " ".join(sessions) and "mine" in " ".join(sessions)


def test_k_session_adds_and_deletes_least() -> None:
    a, b, c = frozenset("ax"), frozenset("ay"), frozenset("a")
    assert k_session_anonymous([a, b, c], 3) == [("a",)] * 3
    assert k_session_anonymous([a, a, b, c], 2) == [("a",)] * 4, "what half of them have is deleted"
    assert k_session_anonymous([a, b, a, a, b, b], 3) == [("a", "x"), ("a", "y")] + [("a", "x")] * 2 + [("a", "y")] * 2
    assert k_session_anonymous([a, b], 3) == [(), ()], "too few sessions to be alike"
    assert k_session_anonymous([], 2) == []


def test_k_keyword_cuts_until_k_people_share_a_prefix() -> None:
    words = {"ann": "soccer", "bob": "socks", "cem": "sofa", "dan": "tea", "eve": "tea"}
    assert k_keyword_anonymous(words.items(), 2) == {"soc*": 2, "tea": 2}
    assert k_keyword_anonymous(words.items(), 3) == {"so*": 3}
    assert k_keyword_anonymous([("ann", "tea")] * 5, 2) == {}, "one person's repetitions count once"
    assert k_keyword_anonymous([], 2) == {}
