"""`proxid.FeatureSum.v1`: the architecture of the networks of `en_proxid`, which takes lists of Docs."""

from typing import Any, cast

from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model
from thinc.types import Floats2d

from proxid.classify.feature_sum import Network
from proxid.classify.state import state_of


@registry.architectures("proxid.FeatureSum.v1")  # type: ignore[untyped-decorator]
def feature_sum(width: int = 128) -> Model[list[Doc], Floats2d]:
    """Docs -> linear outputs of the heads, one row a Doc; the component that owns it reads the weights.

    Args:
        width: of the hidden layer.
    """
    return Model("feature_sum", _forward, attrs={"network": None, "width": width})


def _forward(model: Model[list[Doc], Floats2d], docs: list[Doc], is_train: bool) -> tuple[Floats2d, Any]:
    states = [*map(state_of, docs)]
    network: Network = model.attrs["network"]
    scores, seen = network.scores([state.words for state in states])
    for state, share in zip(states, seen, strict=True):
        state.seen = share
    return cast(Floats2d, scores), None
