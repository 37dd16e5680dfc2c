"""What leaves in form `split`: MS makes it, and the auditor expects the very same, byte for byte (DESIGN 8.11)."""

import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Contents, Leaving, SplitRecord
from proxid.encoding import encode, label
from proxid.errors import OversizedError
from proxid.evidence.bodies import CATEGORY
from proxid.evidence.events import BufferedPayload, encode_header
from proxid.protocol.contents import ContentsBody, ContentsRow
from proxid.protocol.entry import PORTION, portion_number
from proxid.protocol.record import Mechanism, RecordBody, audience_tag

RAISED: Final = 3
"""The rung of an entry that stands under a node above its own."""

_SALT: Final = label("contents-salt")


def split_record(payload: BufferedPayload) -> SplitRecord:
    """What waits of a general query, from what the evidence holds of it."""
    return SplitRecord(
        payload.session, payload.prox_id, f"{payload.kind}|{payload.audience}", payload.path, payload.texts
    )


def portions(tick: int, leaving: Mapping[str, Sequence[Leaving]], draws: Draws) -> Iterator[tuple[int, list[Leaving]]]:
    """What leaves at a tick, in portions with their numbers: by audience, each in the order of entries' ids."""
    number = 0
    for _, entries in sorted(leaving.items()):
        ordered = sorted(entries, key=lambda one: draws.entry(one.record.id))
        for at in range(0, len(ordered), PORTION):
            number += 1
            yield portion_number(tick, number), ordered[at : at + PORTION]


def entry_body(
    leaving: Leaving, tick: int, epoch: int, settings: SplitSettings, time_ms: int, seed: bytes
) -> RecordBody:
    """What an entry shows: its node, and the bucket of its request.

    Args:
        time_ms: of the request, Unix milliseconds. seed: of the epoch.
    """
    kind, _, audience = leaving.record.audience.partition("|")
    mechanism = Mechanism("split", settings.k, settings.margin, settings.level, len(leaving.node))
    rung, bucket = RAISED if leaving.raised else CATEGORY, settings.bucket(time_ms / 1000)
    return RecordBody(audience_tag(audience, seed), kind, mechanism, epoch, tick, bucket, rung, leaving.node, "")


def contents_plaintext(contents: Contents, epoch: int, settings: SplitSettings, seed: bytes) -> bytes:
    """The one plaintext of an epoch's contents in an audience.

    What would not fit the largest message shows its nodes alone.
    """
    _, _, audience = contents.audience.partition("|")
    mechanism = (settings.k, settings.margin, settings.level, settings.threshold)
    rows = tuple(ContentsRow(*row) for row in contents.rows)
    body = ContentsBody(audience_tag(audience, seed), mechanism, epoch, contents.withheld, rows)
    salt = hmac.digest(seed, encode(_SALT, epoch, contents.audience), "sha256")
    try:
        return body.encode(salt)
    except OversizedError:
        rows = tuple(ContentsRow(node.node, "", sum(node.sizes)) for node in contents.nodes if node.sizes)
        return replace(body, rows=rows).encode(salt)


def batched_header(contents: Contents, epoch: int, number: int, digest: bytes) -> bytes:
    """The header of BATCHED: sizes of each node's rounds, and what none of them took."""
    rounds = [f"{'/'.join(n.node)}:{','.join(map(str, n.sizes))}:{n.withheld}" for n in contents.nodes]
    return encode_header(
        audience=contents.audience, digest=digest.hex(), epoch=epoch, group=number, rounds=rounds,
        withheld=contents.withheld,
    )  # fmt: skip
