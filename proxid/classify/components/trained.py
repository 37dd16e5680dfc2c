"""What the components with a network share: they are trained as spaCy trains, and are stored packed.

Examples say what a text is in `reference.cats`, as `head=class`: a probability for each class of a head, none for a
head that nothing is said of. Heads other than those that the component answers from, and a vector of the text that
`reference.tensor` may hold, are learnt besides, because the hidden layer is better for it, and are not stored.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, cast

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model, Optimizer, set_dropout_rate

from proxid.classify.architecture import frequent, packed
from proxid.classify.components.stage import Pair, Stage
from proxid.classify.state import state_of
from proxid.classify.weights import Doubles, Floats, from_bytes, to_bytes

Arrays = dict[str, Any]
Layer = Model[list[Doc], Floats]
WEIGHTS: Final = "weights.npz"
VECTOR_WEIGHT: Final = 3.0
"""What the squared error of a text's vector counts beside the cross entropy of a head."""


class Trained(Stage):
    """A stage with a network: `arrays` are its packed weights, which `read` makes what `run` needs of."""

    HEADS: ClassVar[tuple[str, ...]]
    is_trainable: Final = True

    def __init__(self, name: str, model: Layer, least: int) -> None:
        self.name, self.model, self.least = name, model, least
        self._heads: dict[str, list[str]] = {}
        self._vector = 0
        self._arrays: Arrays | None = None
        self._more: Arrays = {}
        """Arrays besides the network's."""

    def read(self, arrays: Arrays) -> None:
        """Answer from packed weights."""
        raise NotImplementedError

    def initialize(self, get_examples: Callable[[], Iterable[Example]], *, nlp: Any = None) -> None:
        """Take the classes and the features of the examples; weights begin at random."""
        texts, found = list[Sequence[str]](), dict[str, set[str]]()
        for example in get_examples():
            if nlp is not None:
                nlp.get_pipe("proxid_rules")(example.predicted)
            texts.append(state_of(example.predicted).words)
            for name in example.reference.cats:
                head, _, label = name.partition("=")
                found.setdefault(head, set()).add(label)
            self._vector = example.reference.tensor.size
        order = [*self.HEADS, *sorted(found.keys() - set(self.HEADS))]
        self._heads = {head: sorted(found[head]) for head in order}
        self.model.get_ref("rows").attrs["keys"] = frequent(texts, self.least)
        width = sum(map(len, self._heads.values())) + self._vector
        self.model.initialize(Y=np.zeros((1, width), np.float32))
        self._arrays = None

    def update(
        self, examples: Iterable[Example], *, drop: float = 0.0, sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:  # fmt: skip
        """Learn from a batch; the loss is the cross entropy of each head and the squared error of the vector."""
        examples = [*examples]
        losses = {} if losses is None else losses
        set_dropout_rate(self.model, drop)
        scores, back = self.model.begin_update([example.predicted for example in examples])
        loss, errors = self._loss(examples, scores)
        back(cast(Floats, errors / len(examples)))
        losses[self.name] = losses.get(self.name, 0.0) + loss / len(examples)
        if sgd:
            self.finish_update(sgd)
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Change the weights by what `update` has learnt."""
        self.model.finish_update(sgd)
        self._arrays = None

    def _loss(self, examples: Sequence[Example], scores: Floats) -> tuple[float, Floats]:
        errors, loss, first = np.zeros_like(scores), 0.0, 0
        for head, labels in self._heads.items():
            part = slice(first, first := first + len(labels))
            wanted = self._wanted(examples, head, labels)
            shifted = scores[:, part] - scores[:, part].max(axis=1, keepdims=True)
            logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
            errors[:, part] = np.exp(logs) * wanted.sum(axis=1, keepdims=True) - wanted
            loss -= float((wanted * logs).sum())
        if self._vector:
            missed = scores[:, first:] - np.stack([example.reference.tensor for example in examples])
            errors[:, first:] = VECTOR_WEIGHT * missed
            loss += VECTOR_WEIGHT / 2 * float((missed * missed).sum())
        return loss, errors

    @staticmethod
    def _wanted(examples: Sequence[Example], head: str, labels: Sequence[str]) -> Floats:
        index = {f"{head}={label}": i for i, label in enumerate(labels)}
        wanted = np.zeros((len(examples), len(labels)), np.float32)
        for row, example in zip(wanted, examples, strict=True):
            for name, share in example.reference.cats.items():
                if name in index:
                    row[index[name]] = share
        return wanted

    @property
    def arrays(self) -> Arrays:
        """The packed weights; training since is packed first."""
        if self._arrays is None:
            self._load(packed(self.model, {head: self._heads[head] for head in self.HEADS}) | self._more)
        assert self._arrays is not None
        return self._arrays

    def scores(self, pairs: Sequence[Pair]) -> Doubles:
        """What the network says of Docs, one row each."""
        assert self.arrays
        return cast(Doubles, self.model.predict([doc for doc, _ in pairs]))

    def _load(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self.read(arrays)

    def to_bytes(self, **_: Any) -> bytes:
        """The packed weights; what was trained can be used, and not trained further."""
        return to_bytes(self.arrays)

    def from_bytes(self, data: bytes, **_: Any) -> "Trained":
        """Read the weights."""
        self._load(from_bytes(data))
        return self

    def to_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the weights into a folder."""
        path.mkdir(parents=True, exist_ok=True)
        (path / WEIGHTS).write_bytes(self.to_bytes())

    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> "Trained":
        """Read the weights."""
        return self.from_bytes((path / WEIGHTS).read_bytes())


def heads_of(odds: Mapping[str, float], head: str) -> dict[str, float]:
    """What the `cats` of a reference say of one head."""
    return {name.partition("=")[2]: share for name, share in odds.items() if name.startswith(f"{head}=")}


def likeliest(odds: Mapping[str, float]) -> str:
    """The class of the highest probability."""
    return max(odds, key=odds.__getitem__)
