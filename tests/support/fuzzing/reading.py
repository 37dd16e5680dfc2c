"""How files of the stock are read, reader by reader, and what each gives."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from auditor.config import AuditorConfig
from auditor.reading.export import FolderLog
from auditor.serving.exchange import Exchange
from auditor.serving.presented import PresentedStore
from auditor.setup import trust_of
from auditor.witness import Witness
from gateway.config import GatewayConfig
from proxid.classify.ontology import Ontology
from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.people import Tokens
from proxid.clients.auditing import presenting
from proxid.clients.auditing.heads import SeenHeads
from proxid.clients.household.receipts import ReceiptBook, read_receipts
from proxid.clients.household.state import HouseholdState, UserState
from proxid.clients.subscriber.acknowledgements import Acknowledgements
from proxid.clients.subscriber.ledger import Ledger
from proxid.errors import Code, InputError
from proxid.evidence.checkpoint import WITNESS, origin
from proxid.evidence.note import Verifier
from proxid.lab.filing import Filing
from proxid.lab.imports import History
from proxid.lab.load import Asked, find_mechanism, is_release_of, read_truth
from proxid.lab.logs import read_log
from proxid.lab.logs.digest import digest_of
from proxid.lab.release.engines import open_engine
from proxid.lab.release.source import open_source
from proxid.lab.studies.thesis.runner import finished
from proxid.runtime.config import load
from proxid.runtime.doctor import of_files, of_policies, of_witness
from proxid.runtime.evidence_log.generations import begin_successor
from proxid.runtime.evidence_log.held import HeldHeads
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.mending import _size
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.provision.invitation import read_letter
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.provision.policies import PolicyFolder
from proxid.runtime.provision.revocations import brought, read_revocations
from proxid.runtime.transport.channel import TlsFiles
from tests.support.fuzzing.stock import CELL, EPOCH, audit_of, said

FIRST: Final = origin("main-service", "gateway")
BY_COMMAND: Final = "the command said it"


def command(*words: str) -> str:
    """What a command prints; raises InputError with what it says if it cannot be done, or a check failed."""
    status, out, errors = said(*words)
    assert status in (0, 1, 2), (status, out[-300:], errors[-300:])
    if status == 2:
        raise InputError(_told(errors)).at(BY_COMMAND)
    if status == 1:
        raise InputError(out).at(BY_COMMAND)
    return out


def _told(errors: str) -> str:
    """How a command says that it could not be done: code, why, where and what to try; or as an object."""
    lines = errors.splitlines()
    objects = [json.loads(line)["error"] for line in lines if line.startswith('{"error"')]
    texts = [at for at, line in enumerate(lines) if line.startswith("proxid: ")]
    assert objects or texts, errors[-300:]
    code = objects[-1]["code"] if objects else lines[texts[-1]].split(": ")[1]
    assert code in set(Code) and code != Code.INTERNAL, errors[-300:]
    return json.dumps(objects[-1]) if objects else " ".join(lines[texts[-1] :])


def _audit(folder: Path, *more: str) -> tuple[Any, ...]:
    """Verdict of an audit of the recorded evidence: whatever is wrong with a file, nobody is accused."""
    status, out, errors = said(*audit_of(folder, *more))
    report = json.loads(out.splitlines()[-1]) if out else {}
    assert status in (0, 2) and not report.get("violations"), (status, out[-300:])
    if status == 2 and report.get("verdict") == "unchecked":
        assert report["unchecked"]
        # The release that was recorded said less than today's; that is no damage.
        damage = [row["text"] for row in report["unchecked"] if row.get("code") != Code.EVIDENCE_OLDER.value]
        if damage:
            raise InputError(" ".join(damage)).at(BY_COMMAND)
    elif status == 2:
        raise InputError(_told(errors)).at(BY_COMMAND)
    return status, report["verdict"]


def _household(folder: Path) -> Any:
    state = HouseholdState(folder / "data")
    state.names()
    return [_of_user(user) for user in state.users().values()]


def _of_user(user: UserState) -> Any:
    asked = list(user.history.asked())
    user.history.add(1_767_225_700.0, "and more")
    user.history.reseal(user.key)
    return user.lasting, user.objection, user.consent(EPOCH), asked, user.epoch_key(EPOCH), user.erased


def _revoked(folder: Path) -> Any:
    return read_revocations(folder / "ann.revoked"), list(brought(folder / "data", ()))


def _let_in(folder: Path) -> Any:
    data = folder / "data"
    names = HouseholdState(data).names()
    codes, tokens = Codes(data, names), Tokens(data, names)
    return [codes._whose(path) for path in (data / "codes").glob("*")], tokens.revoke(names[0]), codes.make(names[0])


def _receipts(folder: Path) -> Any:
    file = folder / "data/receipts.jsonl"
    mark, book = file.with_name("receipts.jsonl.presented"), ReceiptBook(file)
    at = presenting._from(file, mark, "127.0.0.1:7445") or 0
    book.add_epoch(b"c", b"k")
    book.add_epoch(b"c", b"k")
    return list(presenting._batches(file, at)), list(read_receipts(file))


def _keep_heads(folder: Path) -> None:
    trust = trust_of(load(AuditorConfig, folder / "auditor/auditor.toml"), pipeline=False)
    heads = SeenHeads(folder, trust.service, (trust.screener, trust.service_key), _proved)
    note = (folder / "reports/000001/gateway.head").read_bytes()
    asyncio.run(heads.take(note))
    for kept in (folder / "heads").glob("[0-9a-f]*.head"):
        kept.unlink()
        kept.symlink_to("gateway.head")
    asyncio.run(heads.take(note))


async def _proved(*_: Any) -> list[bytes]:
    return []


def _auditor_keeps(folder: Path) -> Any:
    """What a running auditor, and a witness, read at their start."""
    config = load(AuditorConfig, folder / "auditor/auditor.toml")
    trust = trust_of(config, pipeline=False)
    exchange = Exchange(folder / "heads", folder / "reports", trust)
    with PresentedStore(folder / "presented", trust, 1 << 20, 1.0) as store:
        store.expire()
    log = Verifier(origin(trust.service, "gateway"), trust.screener)
    witness = Witness(folder / "witness", WITNESS, load_signing_key(config.signing_key), log)
    witness._path(1).symlink_to(folder / "heads/gateway.head")
    return len(exchange.shown()), exchange.compared != [], witness.last().size, len(witness.memory())


def _log(folder: Path) -> Any:
    """A service's log, opened for writing and then read, and what it holds of heads."""
    key = load_signing_key(folder / "signing.key")
    log = LeafLog(folder / "evidence", FIRST, key)
    reader = LogReader(folder / "evidence", Verifier(FIRST, key.public))
    try:
        other = Verifier(origin("main-service", "main-service"), key.public)
        held = HeldHeads(folder, Verifier(FIRST, key.public), other, reader, 1, None)
        held.verify()
        held.shown()
        reader.cosigned()
        if not all(log.look_at_tree()):
            log.renew_derived()
        leaves = [leaf for leaf in reader.leaves(1) if not leaf.lost]
        _size(folder / "evidence")
        reader.consistency(5, 19)
        reader.inclusion(7, 19)
        found = [(leaf.hash, len(leaf.parts)) for leaf in leaves], reader.head().size
    finally:
        log.close()
    begin_successor(folder, Verifier(FIRST, key.public))
    return found


def _policies(folder: Path) -> Any:
    held = PolicyFolder(folder / "auditor/data")
    for digest in held.digests():
        held.terms(digest)
    config = load(AuditorConfig, folder / "auditor/auditor.toml")
    held.accept(config)
    held.adopt(config, 4)
    for path in held.folder.glob("*.grid"):
        held.grid(path.stem)
    return [held.document(digest) for digest in held.digests()], held.activations(), held.gone_by(), held.counting(9)


def _doctor(folder: Path) -> Any:
    config = load(GatewayConfig, folder / "gateway.toml")
    return [finding.state for finding in (*of_files(config), *of_policies(config), of_witness(config))]


def _history(reader: Callable[[Path, History], None], name: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        history = History("ann", folder)
        reader(folder / name, history)
        history.write(folder / "out.jsonl")

    return read


def _source(name: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        with open_engine("duckdb") as engine, open_source(folder / name, engine) as source:
            return source.join_spellings()

    return read


def _two(folder: Path) -> Any:
    return read_truth(folder / "truth.tsv", 2, read_log(folder / "log.tsv")[0])


def _of(read: Callable[[Path], Any], name: str) -> Callable[[Path], Any]:
    return lambda folder: read(folder / name)


def _listed(read: Callable[[Path], Any], name: str) -> Callable[[Path], Any]:
    return lambda folder: list(read(folder / name) or ())


def _admission(folder: Path) -> Any:
    command("join", str(folder / "house/admitted/party-acme.admission"), "--into", str(folder / "acme"), "--yes")
    return (folder / "acme/trust.toml").read_text(), (folder / "acme/tls.crt").read_text()


def _join(folder: Path) -> Any:
    return command("join", str(folder / "house/invited/party-acme.invitation"), "--into", str(folder / "new"))


def _rejoin(folder: Path) -> Any:
    """The invitation once more, into the folder that answered it."""
    return command("join", str(folder / "house/invited/device-home.invitation"), "--into", str(folder / "home"))


def _admit(who: str) -> Callable[[Path], Any]:
    name = who.rpartition("-")[2]
    return lambda folder: command(
        "admit", str(folder / name / f"{who}.request"), "--house", str(folder / "house"), "--yes"
    )


def _invite(folder: Path) -> Any:
    command("invite", "party", "acme", "--house", str(folder / "house"))
    return command("init", str(folder / "house"), "--only", "gateway,witness", "--parties", "acme")


def _by_hand(folder: Path) -> Any:
    """A certificate that is signed and put in by hand, and a public file that is imported."""
    at = folder / "house"
    command("init", "--sign", str(at / "witness/tls.csr"), "--ca", str(at / "ca"), "--out", str(folder / "new.crt"))
    words = ("--certificate", str(folder / "new.crt"), "--ca-certificate", str(at / "ca/ca.crt"))
    return command("init", "--into", str(at / "witness"), *words, "--import", str(at / "gateway/public.toml"))


def _profiled(folder: Path) -> Any:
    return command("profile", "--feed", str(folder / "data"), "--json")


def _ledger(folder: Path) -> Any:
    with Ledger(folder / "data/feed.jsonl") as ledger:
        return ledger.cursor


def _acknowledged(folder: Path) -> Any:
    with Acknowledgements(folder / "data/acknowledgements.jsonl") as taken:
        return taken.has


def _audit_of_receipts(folder: Path) -> Any:
    return _audit(folder, "--receipts", str(folder / "receipts"))


def _compared(folder: Path) -> Any:
    return _audit(folder, "--compare", str(folder / "heads"))


def _verified(folder: Path) -> Any:
    config = str(folder / "auditor/auditor.toml")
    return command("audit", "--config", config, "--verify", str(folder / "reports/000002"), "--json")


def _document(folder: Path) -> Any:
    config = str(folder / "auditor/auditor.toml")
    return command("policy", "diff", "--config", config, str(folder / "policy.json"), str(folder / "policy.json"))


def _hashes(folder: Path) -> Any:
    return FolderLog(folder / "export/gateway").inclusion(3, 20)


def _finished(folder: Path) -> Any:
    return finished(folder, CELL, "mark")


def _next_report(folder: Path) -> Any:
    return _audit(folder, "--out", str(folder / "reports"))


def _directory(folder: Path) -> Any:
    return Ontology.load(folder / "odp.txt"), Filing("network", folder / "odp.txt").said


def _manifest(folder: Path) -> Any:
    release = folder / "r.tsv"
    digest_of(folder / "log.tsv")
    return is_release_of(release, folder / "log.tsv"), find_mechanism(Asked(), release, grouped=True)


def _tls(folder: Path) -> Any:
    TlsFiles(folder / "tls.key", folder / "tls.crt", folder / "ca.crt").verify_issued()


def _letters(folder: Path) -> Any:
    return [read_letter(path) for path in (*folder.glob("invited/*"), *folder.glob("admitted/*.admission"))]
