"""The policy documents that a service holds, or that an auditor has accepted: a folder of texts by digest (DESIGN 7).

policies/HEX.json        canonical text of a document (`proxid.protocol.policy`), kept for good
policies/HEX.grid        the grid of people that documents name by this digest
policies/activations     a line for each activation, in their order: EPOCH HEX
policies/gone-by         EPOCH HEX: the newest epoch that was opened, and the document that it goes by
policies/configured      digest of the document that the configuration said when it was looked at last
"""

import fcntl
import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import structlog

from proxid.errors import MALFORMED, ConfigError, EncodingError, InputError, OutputError, PolicyError
from proxid.jsontext import load_json
from proxid.protocol.policy import DIGEST_SIZE, PolicyDocument
from proxid.regular import regular_text
from proxid.runtime.config.base import GovernedConfig
from proxid.runtime.config.terms import Grid, Terms, document_of, grid_digest, grid_of, terms_of
from proxid.runtime.whole import EVERYBODYS, replace_whole

_log = structlog.get_logger(__name__)
FOLDER: Final = "policies"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class PolicyFolder:
    """The documents of one service or auditor; several processes may read while one writes.

    Args:
        data_dir: the owner's data folder.
    """

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / FOLDER
        self._terms: dict[bytes, Terms] = {}

    def document(self, digest: bytes) -> PolicyDocument | None:
        """The document of a digest; None if it is not held. Raises ConfigError for a file that is not what it was."""
        path = self.folder / f"{digest.hex()}.json"
        try:
            return PolicyDocument.named(regular_text(path, "ascii"), digest)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, EncodingError):
            raise ConfigError(
                f"{path}: is not the policy document of this name; put back the file of a backup"
            ) from None

    def terms(self, digest: bytes) -> Terms | None:
        """The settings of a document; None if it is not held. Raises ConfigError if they cannot be used here."""
        found = self._terms.get(digest)
        if found is None:
            document = self.document(digest)
            if document is None:
                return None
            found = self._terms[digest] = terms_of(document, self.grid)
        return found

    def grid(self, digest: str) -> Grid | None:
        """A grid of people by its digest; None if it is not held."""
        return self.grid_at(self.folder, digest)

    @staticmethod
    def grid_at(folder: Path, digest: str) -> Grid | None:
        """The same of any folder."""
        try:
            found: Grid = load_json(regular_text(folder / f"{digest}.grid", "ascii"))
            return found if grid_digest(found) == digest else None
        except (OSError, EncodingError, *MALFORMED):
            return None

    def digests(self) -> list[bytes]:
        """Of all documents that are held, sorted."""
        return sorted(bytes.fromhex(path.stem) for path in self.folder.glob("*.json") if _DIGEST.fullmatch(path.stem))

    def find(self, prefix: str) -> PolicyDocument:
        """The one document whose digest begins so; raises InputError."""
        found = [digest for digest in self.digests() if prefix and digest.hex().startswith(prefix.lower())]
        document = self.document(found[0]) if len(found) == 1 else None
        if document is None:
            raise InputError(
                f"{'no' if not found else 'more than one'} policy document here has a digest that begins so"
            )
        return document

    def add(self, document: PolicyDocument, grid: Grid | None = None) -> None:
        """Keep a document, and the grid of people that it names; raises OutputError."""
        if grid is not None:
            self._write(f"{grid_digest(grid)}.grid", json.dumps(dict(grid)))
        self._write(f"{document.digest.hex()}.json", document.text)

    def activations(self) -> list[tuple[int, bytes]]:
        """(first epoch, digest) of each activation, in their order; raises ConfigError for a damaged file."""
        path = self.folder / "activations"
        try:
            rows = [line.split() for line in regular_text(path, "ascii").splitlines()]
            return [(int(epoch), bytes.fromhex(digest)) for epoch, digest in rows]
        except FileNotFoundError:
            return []
        except (OSError, ValueError):
            raise ConfigError(f"{path}: cannot be read; each line is an epoch and a digest") from None

    def activate(self, digest: bytes, epoch: int) -> int:
        """From an epoch on a document that is held counts; of two for one epoch, the one activated later.

        Returns:
            The epoch from which it counts: an earlier one if it did so already, and then nothing is changed.

        Raises:
            OutputError: the folder cannot be written.
        """
        with self._locked():
            return self._activate(digest, epoch)

    def _activate(self, digest: bytes, epoch: int) -> int:
        rows = self.activations()
        if self.counting(epoch)[:1] == [digest]:
            return max(rows, key=lambda row: (row[0] <= epoch, row[0]))[0]
        rows.append((epoch, digest))
        self._write("activations", "".join(f"{first} {one.hex()}\n" for first, one in rows))
        return epoch

    def counting(self, epoch: int) -> list[bytes]:
        """Digests that may count in an epoch, the one that should first."""
        rows = [(first, at, digest) for at, (first, digest) in enumerate(self.activations()) if first <= epoch]
        return list(dict.fromkeys(digest for _, _, digest in sorted(rows, reverse=True)))

    def gone_by(self) -> tuple[int, bytes]:
        """The newest epoch that was opened here, and its document; -1 if there is none. Raises ConfigError."""
        path = self.folder / "gone-by"
        try:
            epoch, digest = regular_text(path, "ascii").split()
            return int(epoch), bytes.fromhex(digest)
        except FileNotFoundError:
            return -1, b""
        except (OSError, ValueError):
            raise ConfigError(f"{path}: cannot be read; it says an epoch and a digest") from None

    def go_by(self, epoch: int, digest: bytes) -> None:
        """Keep which document an epoch goes by, unless it is of a later one; raises OutputError, ConfigError."""
        if epoch > self.gone_by()[0]:
            with self._locked():
                if epoch > self.gone_by()[0]:
                    self._write("gone-by", f"{epoch} {digest.hex()}\n")

    def adopt(self, config: GovernedConfig, epoch: int) -> int | None:
        """Take over what a configuration says now, if that has changed: at first at once, later from the next epoch.

        What is to count from a later epoch already is not brought forward.

        Args:
            epoch: the current one.

        Returns:
            The epoch from which a changed policy counts; None if it has not changed.

        Raises:
            ConfigError: it changes the length of epochs. OutputError: the folder cannot be written.
        """
        document = document_of(config)
        seen, path = document.digest.hex(), self.folder / "configured"
        with self._locked():
            self.verify_epochs(document)
            before = _said(path)
            known, first = self.activations(), None
            to_come = (
                {self.counting(at)[0] for at in {max(known)[0], *(at for at, _ in known if at > epoch)}}
                if known
                else ()
            )
            if before != seen and document.digest not in to_come:
                first = epoch + 1 if known else 0
                self.add(document, grid_of(config))
                self._activate(document.digest, first)
            if before != seen:
                self._write("configured", seen)
        return first

    def accept(self, config: GovernedConfig) -> PolicyDocument:
        """Keep the document that a configuration says; raises ConfigError, OutputError."""
        document = document_of(config)
        if not (self.folder / f"{document.digest.hex()}.json").exists():
            self.add(document, grid_of(config))
        return document

    def verify_epochs(self, document: PolicyDocument) -> None:
        """That a document has epochs of the length that this folder's others have; raises ConfigError."""
        for _, digest in self.activations()[:1]:
            held = self.document(digest)
            if held is not None and held.settings["epoch_seconds"] != document.settings["epoch_seconds"]:
                raise ConfigError("epoch_seconds cannot be changed within a log: take it back to what it was")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process changes the folder at a time."""
        path = self.folder / "lock"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = path.open("a+")
        except OSError:
            raise OutputError(f"{path}: cannot be written") from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_whole(path, text.encode("ascii"), EVERYBODYS)
        except OSError:
            raise OutputError(f"{path}: cannot be written") from None


def _said(path: Path) -> str:
    """What a small file says, nothing if it is not there; raises ConfigError."""
    try:
        return regular_text(path, "ascii")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        raise ConfigError(f"{path}: cannot be read; take it out, and the configuration is looked at anew") from None


class Held:
    """The documents of a folder as a running service goes by them.

    Args:
        parties: whose keys are here; None if none are needed to go by a document.
    """

    def __init__(self, folder: PolicyFolder, parties: Collection[str] | None = None) -> None:
        self.folder = folder
        self._parties = parties

    def usable(self, epoch: int) -> list[bytes]:
        """Digests that may count in an epoch and can be gone by here, the one that should count first.

        None that was activated before the one that the last epoch went by: the other side holds that one too, so it
        does not lag if it wants an older one.
        """
        found, (last, digest) = self.folder.counting(epoch), self.folder.gone_by()
        if last < epoch and digest in found:
            found = found[: found.index(digest) + 1]
        return [digest for digest in found if self._is_usable(digest)]

    def _is_usable(self, digest: bytes) -> bool:
        try:
            terms = self.folder.terms(digest)
        except ConfigError:
            return False
        return terms is not None and (self._parties is None or set(terms.parties) <= set(self._parties))

    def terms(self, digest: bytes) -> Terms:
        """The settings of a document; raises PolicyError if it is not here, ConfigError if it cannot be used."""
        found = self.folder.terms(digest)
        if found is None:
            raise PolicyError("the policy document that an epoch goes by is not here: put it back from a backup")
        return found

    def text(self, digest: bytes) -> str:
        """The text of a document; raises PolicyError if it is not here. A caller's digest may be no digest at all."""
        try:
            document = self.folder.document(digest) if len(digest) == DIGEST_SIZE else None
        except ConfigError:  # it names the file, which is the operator's to know
            raise PolicyError("the policy document of this digest cannot be read here") from None
        if document is None:
            raise PolicyError("no policy document here has this digest")
        return document.text

    def in_force(self, epoch: int) -> Terms:
        """What this side alone goes by: the newest document that may count in an epoch; raises PolicyError."""
        for digest in self.usable(epoch):
            return self.terms(digest)
        raise PolicyError("no policy document that counts can be used here")

    def ever_listed(self) -> set[str]:
        """Parties that any document here lists."""
        documents = [self.folder.document(digest) for digest in self.folder.digests()]
        return {party for document in documents if document is not None for party in document.parties}

    def coming(self, epoch: int) -> list[tuple[int, bytes]]:
        """First epoch and digest of each document that is activated and does not count yet, in their order."""
        later = {first for first, _ in self.folder.activations() if first > epoch}
        return [(first, self.folder.counting(first)[0]) for first in sorted(later)]


def govern(config: GovernedConfig, epoch: int, parties: Collection[str] | None = None) -> Held:
    """A service's documents at its start: what its configuration says now is taken over, as `PolicyFolder.adopt` does.

    Args:
        epoch: the current one. parties: whose keys are here; None if none are needed.

    Raises:
        ConfigError: it changes the length of epochs, or the document in force cannot be gone by here.
        OutputError: the folder cannot be written.
    """
    folder, own = PolicyFolder(config.data_dir), document_of(config).digest
    older = own in {digest for _, digest in folder.activations()}
    first = folder.adopt(config, epoch)
    if older and first is not None:
        _log.warning("older policy counts again", epoch=first, policy=own.hex())
    held = Held(folder, parties)
    for first, digest in held.coming(epoch):
        _log.info("policy counts later", epoch=first, policy=digest.hex())
    if not held.usable(epoch):
        counting = [folder.document(digest) for digest in folder.counting(epoch)[:1]]
        lacking = sorted({party for one in counting if one is not None for party in one.parties} - set(parties or ()))
        what = f"trust.parties lacks {', '.join(lacking)}" if parties is not None and lacking else "a grid is missing"
        raise ConfigError(f"no policy document that counts can be used: {what}")
    return held
