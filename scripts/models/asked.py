"""Questions that the category network imitates its teacher on beside those of the corpora, so that it knows their words.

Names that people ask about, by the tier-1 of the page that answers (`asked.txt`, `asked_more.txt`); WordNet's definitions; questions
about WordNet's instances, which the teacher reads together with the definition, and the network without.
"""

import random
import re
from pathlib import Path

from proxid.classify import corpora
from scripts.models import sources
from scripts.models.spacy_training import words

SEED = 11
WORDINGS = {"asked.txt": 3, "asked_more.txt": 2}
"""Questions asked about each name of a file."""
DEFINITIONS, INSTANCES = 12_000, 5_000
LONGEST, SHORTEST = 14, 4
"""Words that are kept of a definition, and that it has at least."""
ASKED = ("who was {}", "what is {}", "{}", "where is {}", "tell me about {}", "when was {}", "who is {}")


def names(seed: int = SEED) -> list[tuple[str, str]]:
    """(question, tier-1) pairs about the names of both files, without any that is or resembles a report query."""
    rng = random.Random(seed)
    made: dict[str, str] = {}
    for file, count in WORDINGS.items():
        top, wordings = "", list[str]()
        for line in (Path(__file__).parent / file).read_text().splitlines():
            if line.startswith("@"):
                top, wordings = line[1:], []
            elif line.startswith("+"):
                wordings.append(line[1:])
            elif line and not line.startswith("#"):
                for name in line.split("; "):
                    for wording in rng.sample(wordings, count):
                        made.setdefault(wording.format(name), top)
    return corpora.unreported(list(made.items()))


def definitions(seed: int = SEED) -> list[str]:
    """Beginnings of definitions of WordNet's nouns and verbs."""
    beginnings = {" ".join(words(gloss)[:LONGEST]) for gloss in sources.wordnet_glosses()}
    return random.Random(seed).sample(sorted(text for text in beginnings if len(text.split()) >= SHORTEST), DEFINITIONS)


def instances(seed: int = SEED) -> list[tuple[str, str]]:
    """(question, what the teacher reads instead of it) about people, places, works and events of WordNet."""
    rng = random.Random(seed)
    found = [(name, gloss) for name, gloss in sources.wordnet_instances() if re.fullmatch(r"[a-z.' -]+", name)]
    asked = [(rng.choice(ASKED).format(name), gloss) for name, gloss in rng.sample(found, INSTANCES)]
    return [(question, f"{question}: {gloss}") for question, gloss in asked if not corpora.reported(question)]
