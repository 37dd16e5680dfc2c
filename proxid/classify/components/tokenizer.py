"""The tokenizer of `en_proxid`: it cleans a text, so that a Doc's tokens are those that rules and networks see.

A Doc's text is the cleaned one: offsets of identifiers are offsets in it. A text that cannot be cleaned, or that has
letters that no Latin one stands for, becomes an empty Doc that is withheld.
"""

from collections.abc import Callable

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import DummyTokenizer, registry
from spacy.vocab import Vocab

from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.state import KEY, State
from proxid.classify.text import clean

FREQUENT = 2
"""Grade of the ordinary words that the vocabulary holds from the start: making an entry costs as much as a reading."""


class Tokenizer(DummyTokenizer):
    """Text -> Doc with its state."""

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        for word, grades in load_gazetteer().items():
            if grades.common >= FREQUENT:
                vocab[word]

    def __call__(self, text: str) -> Doc:
        """Never raises on a text."""
        state = State()
        try:
            words, spaces = _split(text, state)
            doc = Doc(self.vocab, words=words, spaces=spaces)
        except Exception:  # whatever went wrong, the text must not go on
            state.withhold()
            doc = Doc(self.vocab)
        doc.user_data[KEY] = state
        return doc


def _split(text: str, state: State) -> tuple[list[str], list[bool]]:
    cleaned = clean(text)
    if cleaned is None or cleaned.foreign:
        state.withhold()
        return [], []
    u = state.utterance = Utterance.of(cleaned)
    shown, folded, words = u.clean.shown, u.clean.folded, u.words
    if len(" ".join(words)) == len(folded):
        spaces = [True] * len(words)
        spaces[-1] = False
        return (words if shown == folded else shown.split(" ")), spaces
    tokens = u.tokens
    ends = [*(token.start for token in tokens[1:]), len(folded)]
    return [shown[t.start : t.end] for t in tokens], [t.end < end for t, end in zip(tokens, ends, strict=True)]


@registry.tokenizers("proxid.Tokenizer.v1")  # type: ignore[untyped-decorator]
def create() -> Callable[[Language], Tokenizer]:
    """The tokenizer, as config.cfg names it."""
    return lambda nlp: Tokenizer(nlp.vocab)
