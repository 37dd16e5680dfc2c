"""What counts as the auditor's own mistake: only what is wrong with everything."""

import pytest

from auditor.reading.belongs import Seals, stranger
from proxid.errors import EvidenceUnreadableError
from proxid.evidence.checkpoint import Checkpoint
from proxid.evidence.note import Verifier
from tests.support.scene import MALLORY, SCREENER, SERVICE

GATEWAY = Verifier("proxid/ms/gateway", SCREENER.public)
MAIN = Verifier("proxid/ms/main-service", SERVICE.public)


def head(origin: str = GATEWAY.name, key: object = SCREENER) -> bytes:
    return Checkpoint(origin, 1, bytes(32)).sign(key).encode()  # type: ignore[arg-type]


def test_heads_of_other_logs_and_keys_are_told_from_damaged_ones() -> None:
    assert stranger(head(), GATEWAY, MAIN) == ""
    assert "other log" in stranger(head(MAIN.name, SERVICE), GATEWAY, MAIN)
    assert "another service" in stranger(head("proxid/elsewhere/gateway"), GATEWAY, MAIN)
    assert "another key" in stranger(head(key=MALLORY), GATEWAY, MAIN)


@pytest.mark.parametrize("damaged", [head()[:-9] + b"AAAAAAA=\n", head().replace(b"\n1\n", b"\n2\n")])
def test_a_damaged_head_is_no_mistake_of_the_auditors(damaged: bytes) -> None:
    assert stranger(damaged, GATEWAY, MAIN) == ""


@pytest.mark.parametrize(
    "nothing",
    [b"", b"x" * 40, b"\xff", head().replace(b"\n1\n", b"\n-1\n"), head().replace(b"\n1\n", b"\n%s\n" % (b"9" * 5000))],
)
def test_what_is_no_head_accuses_nobody(nothing: bytes) -> None:
    with pytest.raises(EvidenceUnreadableError, match=r"^proxid/ms/gateway: "):
        stranger(nothing, GATEWAY, MAIN)


@pytest.mark.parametrize(
    ("seals", "exported", "mistaken"),
    [
        (Seals(seen=5), False, True),
        (Seals(seen=5, ours=1), False, False),  # IS gave no key: its own doing
        (Seals(seen=5, ours=1), True, True),  # no key in the auditor's own file
        (Seals(seen=5, ours=1, keys=1), True, False),
        (Seals(seen=1, before=True), False, False),  # the keys fitted before: a single leaf is no mistake
        (Seals(seen=1, before=True), True, False),
        (Seals(), True, False),
    ],
)
def test_seals(seals: Seals, exported: bool, mistaken: bool) -> None:
    assert bool(seals.mistaken(exported)) is mistaken
