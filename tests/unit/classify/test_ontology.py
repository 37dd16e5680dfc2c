"""Ontology files, paths of queries, and the thesis's Algorithm 1 on a small ontology."""

from pathlib import Path

import pytest

from proxid.classify import load_default
from proxid.classify.categories import tail
from proxid.classify.named import NamedCategories
from proxid.classify.ontology import MAX_LEVELS, Ontology
from proxid.classify.thesis import Recommendations, ThesisCategories
from proxid.errors import ConfigError, InputError

TREE = "id, parent, name\n1,,Sports\n2,1,Soccer\n3,,Food\n4,3,Dish\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "tree.csv"
    path.write_text(text)
    return path


def test_reads_parents(tmp_path: Path) -> None:
    tree = Ontology.load(written(tmp_path, TREE))
    assert ("Sports", "Soccer") in tree.paths
    assert tree.named("soccer") == [("Sports", "Soccer")]


def test_reads_an_open_directory_dump(tmp_path: Path) -> None:
    tree = Ontology.load(written(tmp_path, "Top\nTop/Arts\nTop/Arts/Animation\t48\n"))
    assert tree.named("animation") == [("Arts", "Animation")]


@pytest.mark.parametrize(
    "text",
    ["id,parent,name\n1,2,A\n2,1,B\n", "id,parent,name\n1,9,A\n", "a,b\n1,2\n", "id,parent,name\n1\n", ""],
    ids=["loop", "unknown parent", "columns", "short line", "empty"],
)
def test_refuses_what_is_no_tree(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        Ontology.load(written(tmp_path, text))


def test_iab_has_four_levels_at_most() -> None:
    assert max(len(path) for path in Ontology.iab().paths) == 4
    assert ("Sports", "Soccer") in Ontology.iab().paths


def test_nouns_are_read_in_the_sense_of_the_topic() -> None:
    assert tail("Food & Drink", ("make", "tacos"))[-1] == "taco"
    assert "currency" not in " ".join(tail("Travel", ("won",)))


def test_paths_are_bounded_and_start_in_the_head() -> None:
    pipeline = load_default()
    tops = {path[0] for path in Ontology.iab().paths} | {"NONE"}
    for text in ("how do i make tacos", "who won the world series", "what is the capital of france", "how far is mars"):
        path = pipeline.classify(text).path
        assert 1 <= len(path) <= MAX_LEVELS
        assert path[0] in tops


def test_another_ontology_files_by_name_and_by_hypernym(tmp_path: Path) -> None:
    filing = NamedCategories(Ontology.load(written(tmp_path, TREE)))
    assert filing.path((), ["european", "soccer", "players"]) == ("Sports", "Soccer")
    assert filing.path((), ["tacos"]) == ("Food", "Dish")
    assert filing.path((), ["nothing", "there"]) == ("NONE",)


def test_algorithm_1_does_its_own_worked_example(tmp_path: Path) -> None:
    """002 §3.3.4.1: the units, their order by references, and Sports as what the first of them is about."""
    filing = ThesisCategories(Ontology.load(written(tmp_path, TREE)))
    words = ["european", "soccer", "barcelona", "players"]
    assert list(filing.units(words)) == ["european soccer", "barcelona", "players"]
    assert sorted(filing.units(words), key=filing.entropy) == ["european soccer", "barcelona", "players"]
    assert filing.path((), words) == ("Sports", "Soccer")
    assert load_default(method="thesis").file(" ".join(words)) == ("Sports", "Soccer")


def test_algorithm_1_takes_the_rarest_unit_and_corrects_it(tmp_path: Path) -> None:
    filing = ThesisCategories(Ontology.load(written(tmp_path, TREE)))
    assert list(filing.units(["ice", "cream", "in", "new", "york", "city"])) == ["ice cream", "new york city"]
    assert filing.path((), ["socer"]) == ("Sports", "Soccer")
    # The unit as written has no references at all (line 6), and where it has no category the next one is asked.
    assert filing.path((), ["soccer", "xyzzyx"]) == ("Sports", "Soccer")


def test_recommendation_leaves_known_and_short_words() -> None:
    from proxid.classify.identifiers.gazetteer import load

    recommend = Recommendations(load())
    assert recommend("restarant") == "restaurant"
    assert recommend("restaurant") == "restaurant"
    assert recommend("abc") == "abc"


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(ConfigError):
        load_default("perhaps")
    with pytest.raises(ConfigError):
        load_default(method="guess")
