"""WordNet's artefact, morphology, stemming, noun phrases and the mapping of queries to concepts (000 §3.4)."""

import pytest

from proxid.errors import InputError
from proxid.lab.concepts import ConceptMapper
from proxid.lab.stemming import stem
from proxid.ontology.noun_phrases import noun_phrases
from proxid.ontology.wordnet import WordNet, load

# Examples printed in Porter 1980, steps 1a-5b.
_PORTER = """
caresses caress ponies poni cats cat feed feed agreed agre plastered plaster bled bled motoring motor sing sing
conflated conflat sized size hopping hop tanned tan falling fall hissing hiss filing file happy happi sky sky
relational relat conditional condit rational ration digitizer digit radicalli radic vileli vile vietnamization vietnam
predication predic operator oper feudalism feudal decisiveness decis hopefulness hope formaliti formal
sensibiliti sensibl triplicate triplic formalize formal electrical electr hopeful hope revival reviv inference infer
gyroscopic gyroscop adjustable adjust replacement replac dependent depend adoption adopt communism commun
angulariti angular bowdlerize bowdler probate probat rate rate cease ceas controll control roll roll
"""
PORTER = _PORTER.split()


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return load()


@pytest.fixture(scope="module")
def mapper(wordnet: WordNet) -> ConceptMapper:
    return ConceptMapper(wordnet, range(len(wordnet)))


def test_every_concept_reaches_the_one_root_and_there_is_no_cycle(wordnet: WordNet) -> None:
    assert len(wordnet) == 82_192
    assert len(wordnet.descendants(wordnet.concept("entity.n.01"))) == len(wordnet)
    assert [c for c in range(len(wordnet)) if len(wordnet.parents(c)) == 0] == [wordnet.concept("entity.n.01")]


def test_names_go_both_ways(wordnet: WordNet) -> None:
    for concept in range(0, len(wordnet), 97):
        assert wordnet.concept(wordnet.name(concept)) == concept


@pytest.mark.parametrize("name", ["", "asthma", "asthma.n.00", "asthma.n.02", "asthma.n.-1", "nosuch.n.01", "a.n.x"])
def test_an_unknown_name_is_refused(wordnet: WordNet, name: str) -> None:
    with pytest.raises(InputError):
        wordnet.concept(name)


@pytest.mark.parametrize(("word", "expected"), list(zip(PORTER[::2], PORTER[1::2], strict=True)))
def test_porter(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_the_papers_example_splits_into_two_phrases(wordnet: WordNet) -> None:
    # 000 §3.4: "stores offering the new Apple phones" -> "stores" and "the new Apple phones" (stop word removed).
    assert noun_phrases(wordnet, "stores offering the new Apple phones") == [["stores"], ["new", "apple", "phones"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("the new Apple phones", [("telephone.n.01", 2)]),
        ("tennis clubs", [("tennis_club.n.01", 0)]),
        ("best treatments for asthma attacks", [("treatment.n.01", 1), ("asthma.n.01", 0)]),
        ("symptoms of lung cancer", [("symptom.n.01", 0), ("lung_cancer.n.01", 0)]),
        ("women and children", [("woman.n.01", 0), ("child.n.01", 0)]),
        ("sports car", [("sports_car.n.01", 0)]),
        ("qwxz zzkj", []),
        ("", []),
        ("and of the", []),
        ("7 12 1999", []),
    ],
)
def test_queries_to_concepts(
    wordnet: WordNet, mapper: ConceptMapper, query: str, expected: list[tuple[str, int]]
) -> None:
    assert [(wordnet.name(m.concept), m.dropped) for m in mapper(query)] == expected


def test_a_phrase_out_of_scope_is_discarded_and_not_forced_onto_its_head(wordnet: WordNet) -> None:
    vehicles = ConceptMapper(wordnet, wordnet.descendants(wordnet.concept("disease.n.01")).tolist())
    assert vehicles("sports car") == []
    assert [wordnet.name(m.concept) for m in vehicles("severe asthma")] == ["asthma.n.01"]


@pytest.mark.parametrize("query", ["a" * 100_000, "x " * 50_000, "\0\u200b\u202e", "☃ ☃", "'" * 1000])
def test_hostile_text_is_mapped_or_discarded_in_time(mapper: ConceptMapper, query: str) -> None:
    assert isinstance(mapper(query), list)
