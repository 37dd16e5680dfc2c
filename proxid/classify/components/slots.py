"""The last component of `en_proxid`: slots, semantic units and the shape of commands, and all of it as one result."""

from collections.abc import Sequence

from spacy.language import Language

from proxid.classify import shapes
from proxid.classify.components.stage import Pair, Stage
from proxid.classify.semantic_units import semantic_units
from proxid.classify.slots import slots as slots_of
from proxid.classify.state import State
from proxid.classify.types import Classification, RequestType


class Slots(Stage):
    """Makes of a state the classification that it ends as."""

    def run(self, pairs: Sequence[Pair]) -> None:
        """Set `result`; a text that the gate did not let pass has none."""
        for _, state in pairs:
            state.result = _result(state)


def _result(state: State) -> Classification | None:
    u, spans, guess, masked = state.utterance, state.spans, state.guess, state.masked
    if u is None or spans is None or guess is None or masked is None:
        return None
    normalised = " ".join(masked.lower().split())
    filled = slots_of(u.clean.folded, state.kept, spans)
    kind = state.type
    intent = None
    if kind is not None and kind is not RequestType.GENERAL:
        place = shapes.intents()[guess.intent]
        intent = f"{place.domain}_{place.leaf}"
    return Classification(
        type=kind,
        confidence=guess.confidence,
        path=state.path,
        masked=masked,
        normalised=normalised,
        units=semantic_units(normalised.split()),
        slots=filled,
        intent=intent,
        shape=shapes.shape(guess.intent, filled) if kind is RequestType.COMMAND else (),
    )


@Language.factory("proxid_slots")
def slots(nlp: Language, name: str) -> Slots:
    """Slots, units, shape; the result."""
    return Slots()
