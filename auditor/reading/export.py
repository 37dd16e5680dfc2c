"""Evidence in a folder (DESIGN 10): exported by an auditor that may read it, audited later by one that cannot connect.

    LOG/heads.json    latest and cosigned heads, when; how long the log was before the other one's head was asked for;
                      the newest head after everything was read, so that the folder holds what was erased meanwhile
    LOG/leaves        u32(length) ‖ leaf, in order, up to that one
    LOG/hashes        the leaves' hashes as they were exported, so that one that is changed later can be named
    keys.json         evidence keys by subject tag, each sealed to the auditor; empty where IS gave none
    LOG/N/            the same of an older log of the service, whose successor this one is: the N-th
    manifest.json     size and SHA-256 of each of these, written last: what was damaged since is not read

The folder is as secret as the auditor's key is: without it nothing in it opens.
"""

import base64
import json
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from auditor.findings import GATEWAY, MAIN_SERVICE
from auditor.generations import AsFar, named_head
from auditor.reading.belongs import shown_head
from auditor.reading.manifest import begin_manifest, verify_manifest, write_manifest
from auditor.reading.source import EvidenceSource, Heads, KeySource
from proxid.crypto.hpke import OpeningKey
from proxid.encoding import label
from proxid.errors import MALFORMED, EvidenceForeignError, EvidenceUnreadableError, ProxidError
from proxid.evidence.leaf import OPEN_TAG, Leaf
from proxid.evidence.merkle import HASH_SIZE, Frontier, consistency_proof, inclusion_proof
from proxid.jsontext import load_json
from proxid.regular import open_regular, regular_text

_LENGTH: Final = struct.Struct(">I")
_KEYS: Final = label("exported-evidence-key")
_CHUNK: Final = 256


def export(
    folder: Path, gateway: EvidenceSource, service: EvidenceSource, keys: KeySource, auditor: OpeningKey,
    progress: Callable[[str, int, int], None] = lambda log, number, last: None,
) -> None:  # fmt: skip
    """Write both logs and the evidence keys into a new folder, or over an older export.

    Raises:
        EvidenceUnreadableError: a service is away, or shows a head that cannot be read.
        OutputError: other files lie in the folder. OSError: it cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    begin_manifest(folder)
    seen = _size(GATEWAY, gateway.heads())
    # In the order in which an audit asks (`audit`).
    logs = [_Exported(folder / MAIN_SERVICE, service, partial(progress, MAIN_SERVICE))]
    logs.insert(0, _Exported(folder / GATEWAY, gateway, partial(progress, GATEWAY), seen))
    logs += [old for log in logs for old in log.older()]
    tags = {tag for log in logs for tag in log.write()}
    sealed = {}
    wanted = sorted(tags)
    for at in range(0, len(wanted), _CHUNK):
        chunk = wanted[at : at + _CHUNK]
        for tag, seed in zip(chunk, keys.keys(chunk), strict=True):
            data = auditor.public.seal(seed, _KEYS + tag) if seed else b""
            sealed[tag.hex()] = base64.b64encode(data).decode("ascii")
    (folder / "keys.json").write_text(json.dumps(sealed), encoding="ascii")
    for log in logs:
        log.end()
    write_manifest(folder)


def _size(log: str, heads: Heads) -> int:
    return shown_head(heads.latest, log)[1].size


class _Exported:
    """One log as it is written; its heads are asked for at once.

    Args:
        seen: how long it was before the other one's head was asked for; as long as its head says if None.
    """

    def __init__(
        self, folder: Path, source: EvidenceSource, progress: Callable[[int, int], None], seen: int | None = None
    ) -> None:
        self._folder, self._source, self._progress = folder, source, progress
        self._asked = time.time()
        self._heads = source.heads()
        self._size = _size(folder.name, self._heads)
        self._seen = self._size if seen is None else seen

    def older(self) -> "list[_Exported]":
        """The logs that this one follows."""
        origin = shown_head(self._heads.latest, self._folder.name)[1].origin
        _, _, number = origin.rpartition("/")
        count = int(number) if number.isdigit() else 1
        return [_Old(self._folder / str(at), self._source, at, self._progress) for at in range(1, count)]

    def write(self) -> set[bytes]:
        """The leaves up to the head; the subject tags in them."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._leaves("wb", 1, self._size)

    def end(self) -> None:
        """What was recorded meanwhile, and the heads."""
        later = self._source.heads()
        self._leaves("ab", self._size + 1, _size(self._folder.name, later))
        self._write_heads(later.latest)

    def _write_heads(self, later: bytes) -> None:
        notes = {
            "latest": self._heads.latest.decode("utf-8"),
            "cosigned": [note.decode("utf-8") for note in self._heads.cosigned],
            "time": self._asked, "seen": self._seen, "later": later.decode("utf-8"),
        }  # fmt: skip
        (self._folder / "heads.json").write_text(json.dumps(notes), encoding="utf-8")

    def _leaves(self, mode: str, first: int, size: int) -> set[bytes]:
        tags = set()
        with (self._folder / "leaves").open(mode) as file, (self._folder / "hashes").open(mode) as hashes:
            for number, leaf in enumerate(self._source.leaves(first, size + 1), first):
                data = leaf.encode()
                file.write(_LENGTH.pack(len(data)) + data)
                hashes.write(leaf.hash)
                if not leaf.lost:
                    tags |= {tag for tag, _ in leaf.known.parts if tag != OPEN_TAG}
                self._progress(number, size)
        return tags


class _Old(_Exported):
    """A log that is not written to any more, as far as it can be shown; its head is the one that the next names."""

    def __init__(self, folder: Path, source: EvidenceSource, at: int, progress: Callable[[int, int], None]) -> None:
        self._folder, self._progress, self._asked = folder, progress, time.time()
        self._source = AsFar(source.log(at))
        try:
            cosigned = self._source.heads().cosigned
        except EvidenceUnreadableError:
            cosigned = ()
        self._heads = Heads(named_head(source.log(at + 1), folder.parent.name).note, cosigned)
        self._size = self._seen = _size(folder.parent.name, self._heads)

    def end(self) -> None:
        """The heads: nothing is recorded in it any more."""
        self._write_heads(self._heads.latest)


class FolderLog:
    """One log of an exported folder.

    Args:
        folder: of the log, in an export that `FolderKeys` has held against its manifest.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets: list[int] = []
        self._levels: list[list[bytes]] = []
        self._exported: list[list[bytes]] = []

    def heads(self) -> Heads:
        """The heads as exported; raises EvidenceUnreadableError."""
        try:
            notes = load_json(regular_text(self._folder / "heads.json"))
            cosigned = tuple(note.encode() for note in notes["cosigned"])
            later = notes["later"].encode()
            return Heads(notes["latest"].encode(), cosigned, float(notes["time"]), int(notes["seen"]), later)
        except (OSError, *MALFORMED):
            raise EvidenceUnreadableError(f"{self._folder / 'heads.json'}: exported heads cannot be read") from None

    def leaves(self, first: int, end: int) -> Iterator[Leaf]:
        """Leaves `first` … `end`−1; raises EvidenceUnreadableError."""
        number, path = 0, self._folder / "leaves"
        try:
            with open_regular(path) as file:
                for number in range(1, end):
                    head = file.read(_LENGTH.size)
                    if not head:
                        return
                    (length,) = _LENGTH.unpack(head)
                    if number < first:
                        file.seek(length, 1)
                    else:
                        yield Leaf.decode(file.read(length))
        except (OSError, struct.error, ValueError, ProxidError):
            raise EvidenceUnreadableError(f"{path}: exported leaf {number} is damaged, cut off or missing") from None

    def log(self, generation: int) -> "FolderLog":
        """An older log, or this one."""
        folder = self._folder / str(generation)
        return FolderLog(folder) if folder.exists() else self

    def _node(self, level: int, index: int) -> bytes:
        if not self._levels:
            self._levels = _tree(leaf.hash for leaf in self.leaves(1, 1 << 62))
        return _node(self._folder, self._levels, level, index)

    def _exported_node(self, level: int, index: int) -> bytes:
        if not self._exported:
            self._exported = _tree(self._hashes())
        return _node(self._folder, self._exported, level, index)

    def _hashes(self) -> Iterator[bytes]:
        try:
            with open_regular(self._folder / "hashes") as file:
                while data := file.read(HASH_SIZE):
                    yield data
        except OSError:
            raise EvidenceUnreadableError(f"{self._folder / 'hashes'}: cannot be read") from None

    def consistency(self, old: int, size: int) -> list[bytes]:
        """A proof computed from the leaves."""
        return consistency_proof(self._node, old, size)

    def inclusion(self, number: int, size: int) -> list[bytes]:
        """A proof computed from the hashes that were exported: a leaf that was changed since does not fit it."""
        return inclusion_proof(self._exported_node, number - 1, size)


def _tree(hashes: Iterable[bytes]) -> list[list[bytes]]:
    """Roots of the complete subtrees, by level."""
    frontier, levels = Frontier(), list[list[bytes]]()
    for leaf in hashes:
        for at, root in frontier.append(leaf):
            if at == len(levels):
                levels.append([])
            levels[at].append(root)
    return levels


def _node(folder: Path, levels: list[list[bytes]], level: int, index: int) -> bytes:
    try:
        return levels[level][index]
    except IndexError:
        raise EvidenceUnreadableError(f"{folder}: exported leaves do not reach so far") from None


class FolderKeys:
    """The evidence keys of an exported folder, whose files are all held against its manifest first.

    Raises:
        EvidenceUnreadableError: the folder is not what was exported; names the file.
    """

    def __init__(self, folder: Path, auditor: OpeningKey) -> None:
        verify_manifest(folder)
        self._auditor = auditor
        path = folder / "keys.json"
        try:
            self._sealed: dict[str, str] = dict(load_json(regular_text(path, "ascii")))
        except (OSError, *MALFORMED):
            raise EvidenceUnreadableError(f"{path}: exported keys cannot be read") from None
        self._empty = f"{path}: holds no key, not even an empty one: it is not the file that was exported"

    def keys(self, tags: Sequence[bytes]) -> list[bytes]:
        """Evidence keys, empty where none was exported; raises EvidenceForeignError if the file was emptied."""
        if tags and not self._sealed:
            raise EvidenceForeignError(self._empty)
        return [self._open(tag) for tag in tags]

    def _open(self, tag: bytes) -> bytes:
        sealed = self._sealed.get(tag.hex(), "")
        if not sealed:
            return b""
        try:
            return self._auditor.open(base64.b64decode(sealed), _KEYS + tag)
        except (ProxidError, *MALFORMED):
            return b""
