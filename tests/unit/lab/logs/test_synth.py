"""The synthetic log: the published figures it is made like, and the same log for the same seed (DESIGN 13)."""

import json
from pathlib import Path

import numpy as np
import pytest

from proxid.cli.main import main
from proxid.errors import ConfigError
from proxid.lab.logs import Dictionaries, read_log
from proxid.lab.logs.synth import Shape, synth_log, synthesise
from proxid.lab.logs.synth.people import OWN
from proxid.lab.logs.synth.texts import VANITY

TABLE_4_4 = json.loads((Path(__file__).parents[3] / "vectors" / "papers.json").read_text())["odp_nodes_by_level"][
    "added"
]


def test_the_tree_has_the_sizes_of_table_4_4() -> None:
    """Nodes that each level adds, and unique paths."""
    _, known = synth_log(10, 3, 1)
    assert np.bincount(known.tree.depth)[1:].tolist() == TABLE_4_4
    assert len(set(known.category)) == len(known.tree) == sum(TABLE_4_4) + 1


def test_published_aggregates() -> None:
    """1,000 users with 318,023 records: median 294 a user, 95.9 % of distinct queries from one user.

    The median of 1,000 log-normal activities with σ = 0.4 has a standard error of 0.4·1.25/√1000 = 1.6 %, so ±5 % is
    three of them; the share varies by less than 0.1 points between seeds.
    """
    log, known = synth_log(318_023, 1000, 7)
    assert abs(np.median(np.bincount(log.user, minlength=1000)) / 294 - 1) < 0.05
    pairs = np.unique(log.query.astype(np.int64) << 32 | log.user)
    issuers = np.bincount(pairs >> 32, minlength=len(known.query))
    assert abs((issuers[issuers > 0] == 1).mean() - 0.959) < 0.003


def test_the_same_log_for_the_same_seed(tmp_path: Path) -> None:
    """Byte for byte, whether texts are numbered anew or not; another seed gives another log."""
    for name, seed in (("a.tsv", "5"), ("b.tsv", "5"), ("c.tsv", "6")):
        args = ["synth", "--rows", "70000", "--users", "900", "--seed", seed, "-o", str(tmp_path / name)]
        assert main(args) == 0
    a, b, c = ((tmp_path / name).read_bytes() for name in ("a.tsv", "b.tsv", "c.tsv"))
    assert a == b != c and a.count(b"\n") == 70_001
    log, known = synth_log(70_000, 900, 5)
    again, reader = read_log(tmp_path / "a.tsv")
    assert known.query.decode(log.query) == reader.dictionaries.query.decode(again.query)
    assert (log.time == again.time).all() and (log.rank == again.rank).all()


def test_what_people_do() -> None:
    """In order of time at AOL's rate; sessions repeat texts; people have favourites; clicks have ranks and URLs."""
    log, known = synth_log(50_000, 400, 2)
    assert (np.diff(log.time) >= 0).all()
    assert abs((log.time[45_000] - log.time[0]) / (45_000 / 4.58) - 1) < 0.06
    assert ((log.url >= 0) == (log.rank >= 0)).all() and abs((log.rank >= 0).mean() - 0.53) < 0.02
    assert log.rank.max() > 10 and (log.rank == 1).sum() > 0.4 * (log.rank > 0).sum()
    top = known.tree.ancestors(3)[log.category]
    heaviest = top[log.user == np.bincount(log.user).argmax()]
    assert np.bincount(heaviest).max() / len(heaviest) > 5 * np.bincount(top).max() / len(top)
    words = [len(text.split()) for text in known.query]
    assert 2 < np.mean(words) < 5 and all(text == text.lower().strip() for text in known.query)


def test_vanity_texts_have_one_owner() -> None:
    """Few texts, and each of one person: nearly always (names may clash) and often repeated."""
    log, known = synth_log(60_000, 300, 3, vanity=0.2, fresh=0.1, personal=0.05)
    pairs = np.unique(log.query.astype(np.int64) << 32 | log.user)
    alone = np.bincount(pairs >> 32, minlength=len(known.query)) == 1
    often = np.bincount(log.query, minlength=len(known.query)) >= 10
    assert (alone & often).sum() > 300 and OWN > VANITY


@pytest.mark.parametrize("rows", [0, 1, 2, 65_536, 65_537])
def test_any_number_of_rows(rows: int) -> None:
    """Exactly as many records as asked for."""
    batches = list(synthesise(Shape(rows, 5, 1), Dictionaries(), fresh_texts=True))
    assert sum(map(len, batches)) == rows


@pytest.mark.parametrize("wrong", [{"rows": -1}, {"users": 0}, {"fresh": 0.9}, {"days": 0.0}, {"spread": -1.0}])
def test_shapes_are_checked(wrong: dict[str, float]) -> None:
    """A value out of range is refused."""
    with pytest.raises(ConfigError):
        Shape(**({"rows": 1, "users": 1, "seed": 1} | wrong))  # type: ignore[arg-type]
