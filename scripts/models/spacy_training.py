"""What the two networks' training shares: texts as examples of spaCy's, a configuration that is run, words of a text."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Config

from proxid.classify.text import clean, tokenise

Floats = NDArray[np.float32]
LIKELY = 2e-3
"""Targets below this are left out of an example."""


def trained(config: Config, texts: int) -> Language:
    """The pipeline of a configuration, trained on so many texts: it is judged once an epoch, and the rate of learning ends
    with the last one."""
    training = config["training"]
    steps = max(texts // training["batcher"]["size"], 1)
    training["eval_frequency"] = steps
    training["optimizer"]["learn_rate"]["total_steps"] = steps * training["max_epochs"]
    return train(init_nlp(config))[0]


def examples(
    nlp: Language, texts: Sequence[str], heads: dict[str, tuple[Sequence[str], Floats]], vectors: Floats | None = None
) -> Iterator[Example]:
    """Examples of texts; `heads`: the classes of each head, and targets of the first texts, one row each."""
    for i, text in enumerate(texts):
        reference = Doc(nlp.vocab, words=text.split() or [text])
        for head, (classes, targets) in heads.items():
            if i < len(targets):
                row = targets[i]
                reference.cats |= {f"{head}={classes[j]}": float(row[j]) for j in np.flatnonzero(row > LIKELY).tolist()}
        if vectors is not None:
            reference.tensor = vectors[i]
        yield Example(nlp.make_doc(text), reference)


def words(text: str) -> list[str]:
    """The words of a text as the classifier sees them."""
    cleaned = clean(text)
    return (
        [] if cleaned is None else [t.text for t in tokenise(cleaned.folded) if t.text[0].isalnum() or t.text[0] == "'"]
    )


def softmax(scores: Floats) -> Floats:
    """Rows of scores as probabilities."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: Floats = powers / powers.sum(axis=1, keepdims=True)
    return result
