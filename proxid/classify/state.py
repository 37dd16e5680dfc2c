"""What the components of `en_proxid` know of one utterance: one object a Doc, and the classification it ends as.

It holds no spaCy object, so that it may outlive the memory zone in which its Doc was made.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import srsly
from spacy.tokens import Doc

from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.intents import THRESHOLD, Guess
from proxid.classify.types import Classification, RequestType, Slot

KEY: Final = "proxid"
"""Where a Doc has its state: `doc.user_data[KEY]`."""


@dataclass(slots=True)
class State:
    """What is known so far; None what no component has said yet. Once `withheld`, always withheld.

    utterance: the cleaned text, its tokens and their letters. found: identifiers with a form of their own.
    words: what the networks read. kept: words outside of every identifier. spans: every identifier.
    seen: share of the pairs and triples of words that training has seen. least: probability under which a type is
    rejected. type: None while rejected.
    """

    utterance: Utterance | None = None
    found: list[Span] | None = None
    words: list[str] = field(default_factory=list)
    seen: float = 0.0
    guess: Guess | None = None
    least: float = THRESHOLD
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


_BYTES: Final = "proxid.state"
_OUTCOME: Final = ("seen", "type", "english", "masked", "withheld")


def _kind(name: str | None) -> RequestType | None:
    return None if name is None else RequestType(name)


def encode(value: Any, chain: Callable[[Any], Any] | None = None) -> Any:
    """A state for the bytes of its Doc: how it ended, without what components work on.

    A component that is given a Doc of these bytes has nothing to work on, and withholds it.
    """
    if not isinstance(value, State):
        return value if chain is None else chain(value)
    outcome: dict[str, Any] = {name: getattr(value, name) for name in _OUTCOME} | {"path": [*value.path]}
    outcome["spans"] = None if value.spans is None else [*map(list, value.spans)]
    outcome["guess"] = None if value.guess is None else [*value.guess]
    outcome["result"] = None if value.result is None else asdict(value.result)
    return {_BYTES: outcome}


def decode(value: Any, chain: Callable[[Any], Any] | None = None) -> Any:
    """What `encode` wrote, as a state again."""
    if not isinstance(value, dict) or _BYTES not in value:
        return value if chain is None else chain(value)
    told = value[_BYTES]
    state = State(**{name: told[name] for name in _OUTCOME} | {"path": tuple(told["path"])})
    state.type = _kind(told["type"])
    if told["spans"] is not None:
        state.spans = [Span(*span) for span in told["spans"]]
    if told["guess"] is not None:
        kind, confidence, intent, nameless, odds = told["guess"]
        state.guess = Guess(RequestType(kind), confidence, intent, nameless, tuple(odds))
    if (result := told["result"]) is not None:
        parts: dict[str, Any] = {name: tuple(result[name]) for name in ("path", "units", "shape")}
        parts |= {"type": _kind(result["type"]), "slots": tuple(Slot(**slot) for slot in result["slots"])}
        state.result = Classification(**result | parts)
    return state


srsly.msgpack_encoders.register("proxid.state", func=encode)
srsly.msgpack_decoders.register("proxid.state", func=decode)
