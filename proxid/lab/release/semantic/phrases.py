"""The noun phrases of a log as columns: whose they are, what they mean (000 §3.4)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proxid.lab.concepts import ConceptMapper, MappedPhrase
from proxid.lab.logs.batch import LogBatch
from proxid.lab.logs.strings import StringTable
from proxid.lab.release.semantic.domain import Ints
from proxid.lab.release.semantic.mechanism import no_progress


@dataclass(frozen=True, eq=False)
class Phrases:
    """A row a noun phrase that has a concept in scope; `phrase[i]` is the MappedPhrase of row i.

    user: code. row: position of the record in the batch. concept: WordNet number. unmapped: records without any.
    """

    user: Ints
    row: Ints
    concept: Ints
    phrase: list[MappedPhrase]
    unmapped: int

    def __len__(self) -> int:
        return len(self.user)

    def take(self, which: Ints) -> "Phrases":
        """Some of the rows."""
        chosen = [self.phrase[i] for i in which.tolist()]
        return Phrases(self.user[which], self.row[which], self.concept[which], chosen, self.unmapped)


def map_log(
    batch: LogBatch,
    queries: StringTable,
    mapper: ConceptMapper,
    progress: Callable[[int, int], None] = no_progress,
) -> Phrases:
    """Map every distinct text once and give each record its phrases, in the order of the log."""
    codes, inverse = np.unique(batch.query, return_inverse=True)
    found: list[list[MappedPhrase]] = []
    for done, code in enumerate(codes.tolist()):
        found.append(mapper(queries[code]))
        if done % 4096 == 0:
            progress(done, len(codes))
    count = np.array([len(f) for f in found], np.int64)[inverse] if len(codes) else np.empty(0, np.int64)
    row = np.repeat(np.arange(len(batch)), count)
    phrase = [p for i in inverse.tolist() for p in found[i]]
    concept = np.array([p.concept for p in phrase], np.int64)
    return Phrases(batch.user[row].astype(np.int64), row, concept, phrase, int((count == 0).sum()))
