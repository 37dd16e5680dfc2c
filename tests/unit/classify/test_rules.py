"""The rules' tables, the grammar of spoken numbers, and the checks that are derived from the rules."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.classify import corpora, identifiers
from proxid.classify.identifiers import numbers, tables
from proxid.classify.identifiers.kinds import kinds, sequence
from proxid.classify.identifiers.redactor import RULES
from proxid.classify.identifiers.searches import Rule, Search, needed
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.text import clean

FOLDER = files("proxid.classify") / "data" / "rules"
TABLES = sorted(path.name.removesuffix(".toml") for path in FOLDER.iterdir())


def _searches() -> Iterator[tuple[str, Search]]:
    for module in pkgutil.iter_modules(identifiers.__path__):
        for name, value in vars(import_module(f"{identifiers.__name__}.{module.name}")).items():
            for part in value if isinstance(value, tuple) else (value,):
                for search in part if isinstance(part, tuple) else (part,):
                    if isinstance(search, Search):
                        yield f"{module.name}.{name}", search


SEARCHES = list(_searches())


@pytest.mark.parametrize("name", TABLES)
def test_every_list_has_a_comment_before_it(name: str) -> None:
    lines = (FOLDER / f"{name}.toml").read_text().splitlines()
    assert lines[0].startswith("#")
    top = [i for i, line in enumerate(lines) if re.match(r"\w+ = ", line) and not line.endswith(tuple("0123456789"))]
    sections = [i for i, line in enumerate(lines) if line.startswith("[")]
    for i in [*top, *sections]:
        quoted = tables.table(name).get("marks") is not None and lines[i].endswith('"') and len(lines[i].split()) == 3
        assert quoted or lines[i - 1].startswith("#") or lines[i + 1].startswith("#"), lines[i]


def test_a_list_is_read_once_and_by_name() -> None:
    assert tables.table("names") is tables.table("names")
    assert "aunt" in tables.words("names", "kin")
    with pytest.raises(KeyError):
        tables.words("names", "no such list")


def test_a_sequence_names_kinds() -> None:
    assert sequence("<digit teen>+ (?: <dash> <figures> )?").pattern == "[dt]+(?:[k][n])?"
    assert kinds("letters") == "lox"
    with pytest.raises(KeyError):
        sequence("<digits>")


@pytest.mark.parametrize("said", ["twenty one", "forty-two", "nineteen", "seven"])
def test_numbers_under_a_hundred_are_heard(said: str) -> None:
    assert re.fullmatch(numbers.UNDER_100, said)


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("colou?r", {"colo"}),
        ("(?:cat|dog)s?", {"cat", "dog"}),
        (r"\d+-\d+", {"-"}),
        (r"a*b?", set()),
        (r"(?:cat)?|dog", set()),
        (r"(?=x:)\w+", {"x:"}),
        (r"(?:ab){2}", {"ab"}),
        (r"(?!no)\w", set()),
    ],
)
def test_what_a_match_needs_is_read_off_the_expression(pattern: str, literals: set[str]) -> None:
    assert needed(pattern) == literals


@given(st.data())
@settings(max_examples=500, deadline=None)
def test_no_search_is_skipped_that_would_match(data: st.DataObject) -> None:
    name, search = data.draw(st.sampled_from(SEARCHES))
    text = data.draw(st.from_regex(search.pattern, alphabet=st.characters(max_codepoint=126)))
    assert search.possible(text) or not search.pattern.search(text), name


def _words() -> list[str]:
    """Words of all tables and of marked utterances of the tuning set: what rules are made of."""
    found = set()
    for name in TABLES:
        found |= set(re.findall(r"[a-z0-9'.@:/#_-]+", (FOLDER / f"{name}.toml").read_text().lower()))
    return sorted(found)


def _missed(rule: Rule, text: str) -> bool:
    cleaned = clean(text)
    if cleaned is None:
        return False
    u = Utterance.of(cleaned)
    return not rule.possible(u) and any(True for _ in rule.find(u))


@given(st.lists(st.sampled_from(_words()), min_size=1, max_size=8), st.sampled_from([" ", " ", "", "-", ", "]))
@settings(max_examples=500, deadline=None)
def test_no_rule_is_skipped_that_would_find_something(words: list[str], joint: str) -> None:
    assert not [rule.find.__name__ for rule in RULES if _missed(rule, joint.join(words))]


def test_no_rule_is_skipped_on_marked_utterances() -> None:
    mark = re.compile(r"\[[A-Z~]+:([^\]]*)\]")
    texts = [mark.sub(r"\1", line.partition("\t")[2]) for line in corpora.marked("identifiers_tune.tsv.gz")]
    pieces = [text[i:] for text in texts for i in range(0, len(text), 29)]
    assert not [(rule.find.__name__, text) for text in pieces for rule in RULES if _missed(rule, text)]


def test_a_need_that_is_too_narrow_is_noticed() -> None:
    """The check above fails on a rule whose needs forget a form."""
    rule = next(rule for rule in RULES if rule.find.__name__ == "long_runs")
    assert _missed(
        Rule(rule.find, frozenset(), frozenset(kinds("figures"))), "six one seven five five five oh one two three"
    )
