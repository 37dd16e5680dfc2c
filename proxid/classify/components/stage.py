"""What every component of `en_proxid` does alike: it works on batches, and what it cannot process is withheld."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from spacy.tokens import Doc, Span
from spacy.util import minibatch

from proxid.classify.state import State, state_of

Pair = tuple[Doc, State]
IDENTIFIERS: Final = "identifiers"
"""Key of the spans of a Doc that are identifiers."""
WITHHELD: Final = "WITHHELD"
"""Kind of the one span of a text that must not go on."""


class Stage:
    """A component: `run` reads and writes the states of Docs that nothing has withheld yet.

    Whatever `run` raises withholds the text that it was raised for, alone or in a batch, and no other one: a batch that
    fails is done again one text at a time. No component raises.
    """

    def __call__(self, doc: Doc) -> Doc:
        """Process one Doc."""
        self._guarded([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Process a stream of Docs, in order, none dropped."""
        for docs in minibatch(stream, batch_size):  # type: ignore[no-untyped-call]
            self._guarded(docs)
            yield from docs

    def run(self, pairs: Sequence[Pair]) -> None:
        """Process Docs with their states; may raise."""
        raise NotImplementedError

    def _guarded(self, docs: Sequence[Doc]) -> None:
        pairs = [(doc, state) for doc in docs if not (state := state_of(doc)).withheld]
        if not pairs:
            return
        try:
            self.run(pairs)
        except Exception:  # whatever went wrong, the text must not go on
            if len(pairs) > 1:
                for doc, _ in pairs:
                    self._guarded([doc])
            else:
                withhold(*pairs[0])

    # Most components are made from the configuration and the shipped tables alone.

    def to_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> None:
        """Nothing to write."""

    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> "Stage":
        """Nothing to read."""
        return self

    def to_bytes(self, **_: Any) -> bytes:
        """Nothing to write."""
        return b""

    def from_bytes(self, data: bytes, **_: Any) -> "Stage":
        """Nothing to read."""
        return self


def withhold(doc: Doc, state: State) -> None:
    """Nothing of the text goes on: for whoever reads the Doc, all of it is one identifier."""
    state.withhold()
    doc.cats = {}
    doc.spans.clear()
    whole = [Span(doc, 0, len(doc), label=WITHHELD)] if len(doc) else []
    doc.spans[IDENTIFIERS] = whole
    doc.ents = whole
