"""An exported folder and its manifest: whatever is not what was exported is named, and nothing of it is judged."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from auditor.reading.export import FolderKeys, FolderLog, export
from auditor.reading.manifest import FILES, MANIFEST, write_manifest
from auditor.reading.source import Heads, LeafList
from proxid.crypto.hpke import OpeningKey
from proxid.errors import EvidenceUnreadableError, OutputError
from proxid.evidence.checkpoint import Checkpoint
from proxid.evidence.events import EventType
from proxid.evidence.leaf import Leaf, LeafHeader
from proxid.evidence.merkle import Frontier
from tests.support.scene import SERVICE

OPENING = OpeningKey(bytes(range(96)))


class NoKeys:
    """A screener that is never asked."""

    def keys(self, tags: Sequence[bytes]) -> list[bytes]:
        assert not tags
        return []


def log(name: str, head: bytes | None = None) -> LeafList:
    """Five leaves of a log, and its signed head."""
    numbers = range(1, 6)
    leaves = [Leaf(name.encode()[:1] * 16, LeafHeader(n, EventType.CONSENT, b"{}").encode()) for n in numbers]
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf.hash)
    signed = Checkpoint(f"proxid/ms/{name}", len(leaves), frontier.root).sign(SERVICE).encode()
    return LeafList(leaves, Heads(signed if head is None else head))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    export(tmp_path / "export", log("gateway"), log("main-service"), NoKeys(), OPENING)
    return tmp_path / "export"


def test_an_export_is_read_as_it_was_written_and_again_over_an_older_one(folder: Path) -> None:
    FolderKeys(folder, OPENING)
    assert len(list(FolderLog(folder / "gateway").leaves(1, 6))) == 5
    export(folder, log("gateway"), log("main-service"), NoKeys(), OPENING)
    FolderKeys(folder, OPENING)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def turned(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def removed(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
@pytest.mark.parametrize("damage", [cut, turned, emptied, removed, a_folder])
def test_every_damaged_file_is_named(folder: Path, name: str, damage: Callable[[Path], None]) -> None:
    damage(folder / name)
    with pytest.raises(EvidenceUnreadableError) as raised:
        FolderKeys(folder, OPENING)
    assert raised.value.rule.startswith(f"{folder / name}: ")


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_grew_is_named(folder: Path, name: str) -> None:
    longer(folder / name)
    with pytest.raises(EvidenceUnreadableError, match="its size is"):
        FolderKeys(folder, OPENING)


@pytest.mark.parametrize("name", ["leaves", "gateway/leaves.1", "elsewhere/leaves"])
def test_a_file_that_was_not_exported_is_named(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).touch()
    with pytest.raises(EvidenceUnreadableError) as raised:
        FolderKeys(folder, OPENING)
    assert raised.value.rule.startswith(f"{folder / name}: was not exported")
    with pytest.raises(OutputError, match="export into a new folder"):
        export(folder, log("gateway"), log("main-service"), NoKeys(), OPENING)


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"version": 1, "files": {}}', '{"version": 1, "files": {"keys.json": 1}}']
)
def test_a_manifest_that_is_none_is_named(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text)
    with pytest.raises(EvidenceUnreadableError, match=MANIFEST):
        FolderKeys(folder, OPENING)


def test_a_manifest_does_not_lead_out_of_the_folder_nor_leave_a_file_out(folder: Path) -> None:
    whole = json.loads((folder / MANIFEST).read_text())
    files = whole["files"]
    for listed in ({name: files[name] for name in FILES[1:]}, {**files, "../secret": files["keys.json"]}):
        (folder / MANIFEST).write_text(json.dumps({**whole, "files": listed}))
        with pytest.raises(EvidenceUnreadableError, match="is not the list of an export's files"):
            FolderKeys(folder, OPENING)


def test_an_export_that_is_broken_off_leaves_no_manifest_not_even_an_older_one(folder: Path) -> None:
    with pytest.raises(EvidenceUnreadableError, match="main-service: what is shown as the log's newest head is none"):
        export(folder, log("gateway"), log("main-service", b"nothing"), NoKeys(), OPENING)
    with pytest.raises(EvidenceUnreadableError, match=r"manifest\.json: is missing"):
        FolderKeys(folder, OPENING)


def test_a_manifest_that_is_written_again_takes_the_files_as_they_are(folder: Path) -> None:
    turned(folder / "gateway/leaves")
    write_manifest(folder)
    FolderKeys(folder, OPENING)
