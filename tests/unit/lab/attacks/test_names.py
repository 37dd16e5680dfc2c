"""What names leak: paths that say hidden words, aliases found by time, two feeds joined."""

from dataclasses import replace

import numpy as np
import pytest

from proxid.lab.attacks.alias_link import Feed, bucket_width, link_aliases
from proxid.lab.attacks.join import join_feeds
from proxid.lab.attacks.leaf import carriers, rare_words
from proxid.lab.attacks.registry import Options, load_attack
from proxid.lab.logs import CategoryTree, Dictionaries
from proxid.lab.mechanism import Mechanism
from proxid.lab.released_log import make_release
from tests.support import lab_stream


def test_carriers_count_people_of_every_prefix() -> None:
    tree = CategoryTree()
    deep, other, top = (tree.add(path) for path in ("A/b/c", "A/b/d", "A"))
    user = np.array([1, 1, 2, 3, 4], np.int32)
    found = carriers(tree, user, np.array([deep, deep, other, top, -1], np.int32))
    assert [int(found[tree.add(path)]) for path in ("A/b/c", "A/b/d", "A/b", "A")] == [1, 1, 2, 3]
    assert rare_words(tree, deep, 1, found, 2) == {"c"}
    assert rare_words(tree, deep, 1, found, 3) == {"b", "c"}
    assert rare_words(tree, deep, 2, found, 2) == {"c"}
    assert rare_words(tree, deep, 1, found, 1) == set()


def test_a_path_that_says_a_hidden_word_is_counted() -> None:
    dictionaries = Dictionaries()
    rows = [(user, 0 if user else 1, "Places/city/oslo" if user else "Places/city/orlando") for user in range(6)]
    batch = lab_stream.log(rows, dictionaries)
    dictionaries.query.encode(["hotels in Orlando", "trains to oslo"])
    asked, other = (dictionaries.query.find(text) for text in ("hotels in Orlando", "trains to oslo"))
    batch = replace(batch, query=np.where(batch.user == 0, asked, other).astype(np.int32))
    hidden = np.full(6, dictionaries.query.find(""), np.int32)
    out = replace(batch, query=hidden)
    release = make_release(
        batch, out, dictionaries.tree, Mechanism(level=1), no_text=int(hidden[0]), origin=batch.row,
        texts=dictionaries.query,
    )  # fmt: skip
    report = load_attack("leaf")("leaf", release, Options())
    assert (report["leaks"], report["of_one_person"], report["paths_below_node"]) == (1, 1, 6)


def test_aliases_are_found_by_fine_times_and_not_by_days() -> None:
    random = np.random.default_rng(1)
    people, sessions = 200, 5
    person = np.repeat(np.arange(people, dtype=np.int32), sessions)
    when = np.floor(random.random(len(person)) * 96) * 900.0
    aliased = Feed(person, when, np.full(len(person), 900.0))
    rates = []
    for width in (900.0, 21_600.0, 86_400.0):
        named = Feed(person, np.floor(when / width) * width, np.full(len(person), width))
        rates.append(float(link_aliases(named, aliased, people).mean()))
    assert rates[0] > 0.8
    assert rates[1] < 0.3
    assert rates[2] == pytest.approx(1 / people)


def test_the_width_of_buckets_is_seen() -> None:
    assert bucket_width(np.array([0.0, 900.0, 2700.0, np.nan])) == 900
    assert bucket_width(np.array([5.0])) == 86_400


def test_days_that_nobody_shares_join_two_feeds() -> None:
    person = np.array([0, 0, 1, 1, 2, 0], np.int32)
    node = np.array([4, 5, 4, 5, 4, 4], np.int32)
    time = np.array([0.0, 900.0, 0.0, 900.0, 0.0, 90_000.0])
    found = join_feeds(person, node, time)
    assert (found.person_days, found.by_node_and_bucket, found.by_node) == (4, 2, 2)
    apart = join_feeds(person, node, np.array([0.0, 900.0, 900.0, 0.0, 0.0, 90_000.0]))
    assert (apart.by_node_and_bucket, apart.by_node) == (4, 2)


def test_attacks_on_a_release_say_their_chance() -> None:
    release = lab_stream.released(lab_stream.stream(6_000, 60, 4), Mechanism(k=4, level=1, margin=1))
    linked = load_attack("alias-link")("alias-link", release, Options())
    assert 0 < linked["chance"] <= linked["linked"]
    assert load_attack("join")("join", release, Options())["person_days"] > 0
    assert load_attack("leaf")("leaf", release, Options()) == {"reason": "needs the truth file"}
