"""What the components of `en_proxid` know of one utterance: one object a Doc, and the classification it ends as.

It holds no spaCy object, so that it may outlive the memory zone in which its Doc was made.
"""

from dataclasses import dataclass, field
from typing import Final

from spacy.tokens import Doc

from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.intents import Guess
from proxid.classify.types import Classification, RequestType

KEY: Final = "proxid"
"""Where a Doc has its state: `doc.user_data[KEY]`."""


@dataclass(slots=True)
class State:
    """What is known so far; None what no component has said yet. Once `withheld`, always withheld.

    utterance: the cleaned text, its tokens and their letters. found: identifiers with a form of their own.
    words: what the networks read. kept: words outside of every identifier. spans: every identifier.
    seen: share of the pairs and triples of words that training has seen. type: None while rejected.
    """

    utterance: Utterance | None = None
    found: list[Span] | None = None
    words: list[str] = field(default_factory=list)
    seen: float = 0.0
    guess: Guess | None = None
    type: RequestType | None = None
    spans: list[Span] | None = None
    kept: list[str] = field(default_factory=list)
    english: bool = False
    masked: str | None = None
    result: Classification | None = None
    path: tuple[str, ...] = ()
    withheld: bool = False

    def withhold(self) -> None:
        """The text must not go on: nothing of it is kept."""
        self.utterance = self.found = self.guess = self.spans = self.masked = self.result = None
        self.words, self.kept, self.path, self.type = [], [], (), None
        self.withheld = True


def state_of(doc: Doc) -> State:
    """A Doc's state; one that was not made by the product's tokenizer has none, and is withheld."""
    state = doc.user_data.get(KEY)
    if not isinstance(state, State):
        state = doc.user_data[KEY] = State(withheld=True)
    return state
