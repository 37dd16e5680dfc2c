"""Every reader of a file: where a valid one lies in the stock, and how it is read."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from auditor.checks import c9_receipts
from auditor.config import AuditorConfig, WitnessConfig
from auditor.reading.export import FolderLog
from auditor.serving.exchange import Exchange
from auditor.serving.presented import PresentedStore
from auditor.setup import trust_of
from auditor.witness import Witness
from device_sim.corpus import read_events
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from main_service.responder.upstream import _key
from proxid.classify.components.patterns import _patterns
from proxid.classify.ontology import Ontology
from proxid.classify.weights import read_arrays
from proxid.cli.classify import _lines
from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.people import Tokens
from proxid.clients.auditing import presenting
from proxid.clients.auditing.heads import SeenHeads
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.receipts import ReceiptBook, read_receipts
from proxid.clients.household.register import Register
from proxid.clients.household.state import HouseholdState
from proxid.clients.subscriber.acknowledgements import Acknowledgements
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.kept import received_rows
from proxid.clients.subscriber.ledger import Ledger
from proxid.clients.subscriber.profiles import read_profiles
from proxid.errors import Code, InputError
from proxid.evidence.checkpoint import WITNESS, origin
from proxid.evidence.note import Verifier
from proxid.lab.attacks.frequent import read_groups
from proxid.lab.filing import Filing
from proxid.lab.imports import History, read_alexa, read_takeout
from proxid.lab.load import Asked, find_mechanism, is_release_of, read_truth
from proxid.lab.logs import read_log
from proxid.lab.logs.digest import digest_of, digest_of_records
from proxid.lab.release.engines import open_engine
from proxid.lab.release.ledger import Ledger as Budgets
from proxid.lab.release.published import read_published
from proxid.lab.release.semantic.budget import load_stream_budget
from proxid.lab.release.source import open_source
from proxid.lab.studies.thesis.runner import finished
from proxid.lab.utility.counted.counts import is_counted
from proxid.runtime.config import load
from proxid.runtime.config.loading import load_section
from proxid.runtime.config.policy import load_policy
from proxid.runtime.config.population import load_population
from proxid.runtime.doctor import of_files, of_policies, of_witness
from proxid.runtime.evidence_log.generations import begin_successor
from proxid.runtime.evidence_log.held import HeldHeads
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.mending import _size
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.provision.invitation import read_letter
from proxid.runtime.provision.keyfile import load_opening_key, load_secret, load_signing_key
from proxid.runtime.provision.party import Introduced
from proxid.runtime.provision.policies import PolicyFolder
from proxid.runtime.provision.public import PublicFile
from proxid.runtime.provision.revocations import brought, read_revocations
from proxid.runtime.store.appendfile import cut_torn_end
from proxid.runtime.transport.channel import TlsFiles
from tests.support.fuzzing.stock import CELL, EPOCH, audit_of, said

FIRST: Final = origin("main-service", "gateway")
BY_COMMAND: Final = "the command said it"


@dataclass(frozen=True)
class Reader:
    """One way to read files of the stock.

    Attributes:
        root: folder of the stock that it needs. files: of it, by glob, those that are changed.
        read: of a copy of the folder; what it gives. whole: what it takes is what was written: the same is given.
        says: a word that a refusal has, if not the file's name.
    """

    name: str
    root: str
    files: tuple[str, ...]
    read: Callable[[Path], Any]
    whole: bool = False
    says: str = ""


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
        raise InputError(" ".join(row["text"] for row in report["unchecked"])).at(BY_COMMAND)
    if status == 2:
        raise InputError(_told(errors)).at(BY_COMMAND)
    return status, report["verdict"]


def _household(folder: Path) -> Any:
    state = HouseholdState(folder / "data")
    state.names()
    return [
        (
            user.lasting,
            user.objection,
            user.consent(EPOCH),
            list(user.history.asked()),
            user.epoch_key(EPOCH),
            user.erased,
        )
        for user in state.users().values()
    ]


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
    for path in (folder / "heads").glob("gateway.head"):
        path.replace(next((folder / "heads").glob("[0-9a-f]*.head")))
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
    witness._path(1).write_bytes((folder / "heads/gateway.head").read_bytes())
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
    return command("audit", "--config", config, "--verify", str(folder / "reports"), "--json")


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


def _each(title: str, read: Callable[[Path], Any], *names: str) -> list[Reader]:
    """A reader that takes files of several formats."""
    return [Reader(f"{title} {name}", "lab", (name,), _of(read, name)) for name in names]


LOGS: Final = ("log.tsv", "log.tsv.gz", "log.jsonl", "log.jsonl.gz", "log.parquet")
ITEMS: Final = ("items.tsv", "items.tsv.gz", "items.jsonl", "items.parquet")
AGAIN: Final = ("house/invited/device-home.invitation", "home/*.toml", "home/*.request", "home/ca.crt", "home/tls.csr")
ADMITTED: Final = ("acme/party-acme.request", "house/admitted/*", "house/known/*", "house/*.toml", "house/ca/ca.*")
HOUSE: Final = ("house/house.toml", "house/policy.toml", "house/*/public.toml", "house/ca/ca.crt")


def _config(kind: Any, folder: str, name: str, *more: str) -> Reader:
    return Reader(name, f"joined/{folder}", (name, *more), lambda found: load(kind, found / name), says="toml")


READERS: Final = [
    _config(GatewayConfig, "house/gateway", "gateway.toml", "trust.toml", "policy.toml"),
    _config(MainServiceConfig, "house/main-service", "main-service.toml", "trust.toml", "policy.toml"),
    _config(AuditorConfig, "house/auditor", "auditor.toml", "trust.toml", "policy.toml"),
    _config(WitnessConfig, "house/witness", "witness.toml", "trust.toml"),
    _config(EnrolmentAuthorityConfig, "house/ea", "ea.toml"),
    _config(PartyConfig, "acme", "party.toml", "trust.toml"),
    _config(DeviceConfig, "home", "device.toml", "trust.toml"),
    Reader("policy.toml", "joined/house/gateway", ("policy.toml",), _of(load_policy, "policy.toml")),
    Reader(
        "introduced.toml",
        "joined/acme",
        ("introduced.toml",),
        _of(partial(load_section, Introduced), "introduced.toml"),
    ),
    Reader("public.toml", "joined/acme", ("public.toml",), _of(PublicFile.read, "public.toml")),
    Reader("signing key", "joined/acme", ("signing.key",), _of(load_signing_key, "signing.key")),
    Reader("opening key", "joined/acme", ("opening.key",), _of(load_opening_key, "opening.key")),
    Reader("secret", "joined/house/gateway", ("alias.key",), _of(load_secret, "alias.key")),
    Reader(
        "TLS files",
        "joined/acme",
        ("tls.key", "tls.crt", "ca.crt"),
        _tls,
        says="tls.",
    ),
    Reader("doctor", "joined/house/gateway", ("tls.*", "ca.crt", "*.toml"), _doctor, says="toml"),
    Reader("letters", "joined/house", ("invited/*", "admitted/*.admission"), _letters),
    Reader("an invitation", "joined", ("house/invited/party-acme.invitation",), _join),
    Reader("an invitation again", "joined", AGAIN, _rejoin),
    Reader("a request", "joined", ADMITTED, _admit("party-acme")),
    Reader(
        "a household's request",
        "joined",
        ("home/device-home.request", "house/ea/*", "house/admitted/device*"),
        _admit("device-home"),
    ),
    Reader("an admission", "joined", ("house/admitted/party-acme.admission",), _admission, whole=True),
    Reader("an admission's folder", "joined", ("acme/*",), _admission),
    Reader("a house", "joined", HOUSE, _invite),
    Reader("by hand", "joined", ("house/witness/*", "house/ca/ca.crt", "house/gateway/public.toml"), _by_hand),
    Reader("a household", "joined/home", ("data/users/*/*",), _household),
    Reader("revocations", "joined/home", ("ann.revoked", "data/revoked/*"), _revoked),
    Reader("tokens and codes", "joined/home", ("data/tokens/*", "data/codes/*"), _let_in),
    Reader("a household's receipts", "joined/home", ("data/receipts.jsonl*",), _receipts),
    Reader("enrolment request", "joined/home", ("ask.json",), _of(enrolment.read_request, "ask.json")),
    Reader("enrolment answer", "joined/home", ("told.json",), _of(enrolment.read_answer, "told.json")),
    Reader("register", "joined/house/ea", ("register.jsonl",), lambda at: Register.open(at).keys),
    Reader("feed", "joined/acme", ("data/feed.jsonl",), _listed(received_rows, "data/feed.jsonl")),
    Reader("a party's folder", "joined/acme", ("data/feed.jsonl", "data/profiles.sqlite"), _profiled, says="feed"),
    Reader("profiles", "joined/acme", ("data/profiles.sqlite",), _of(read_profiles, "data"), whole=True),
    Reader("ledger", "joined/acme", ("data/*",), _ledger),
    Reader("acknowledgements", "joined/acme", ("data/acknowledgements.jsonl",), _acknowledged),
    Reader("receipts", "recorded", ("receipts/receipts.jsonl",), _listed(c9_receipts.read_receipts, "receipts")),
    Reader("an export", "recorded", ("export/*.json", "export/*/*"), _audit, whole=True),
    Reader("an export's hashes", "recorded", ("export/gateway/hashes",), _hashes),
    Reader("a policy's document", "recorded", ("policy.json",), _document),
    Reader("an audit's state", "recorded", ("auditor/data/audit-of-export/*",), _audit, whole=True, says="audit"),
    Reader("an audit's receipts", "recorded", ("receipts/receipts.jsonl",), _audit_of_receipts),
    Reader("heads to compare", "recorded", ("heads/*.head",), _compared),
    Reader("reports", "recorded", ("reports/*/report.*",), _verified, whole=True, says="holds"),
    Reader("a series of reports", "recorded", ("reports/*/report.json", "reports/index.json"), _next_report),
    Reader("policies", "recorded", ("auditor/data/policies/*",), _policies),
    Reader("heads", "recorded", ("heads/*.head",), _auditor_keeps, says="head"),
    Reader("presented", "recorded", ("presented/device/home/receipts.jsonl",), _auditor_keeps),
    Reader("seen heads", "recorded", ("heads/gateway.head",), _keep_heads, says="head"),
    Reader(
        "a service's log", "log", ("evidence/*", "evidence/*/*", "evidence/segments/*/*", "heads/*"), _log, says="log"
    ),
    Reader("a store's file", "store", ("appendonlydir/*",), cut_torn_end),
    Reader("population", "lab", ("population.tsv",), _of(load_population.__wrapped__, "population.tsv")),
    Reader("an upstream's key", "lab", ("upstream.key",), _of(_key, "upstream.key"), says="key_file"),
    Reader("utterances", "lab", ("utterances.txt",), _listed(_lines, "utterances.txt")),
    Reader("patterns", "lab", ("patterns.jsonl",), _of(_patterns, "patterns.jsonl"), says="patterns"),
    Reader("weights", "lab", ("weights.npz",), _of(read_arrays, "weights.npz"), says="weights"),
    Reader("an ontology", "lab", ("ontology.csv",), _of(Ontology.load, "ontology.csv"), says="ontology"),
    Reader("a directory", "lab", ("odp.txt",), _directory, says="ontology"),
    *_each("a log", read_log, *LOGS),
    *_each("the digest of", digest_of_records, *LOGS),
    *_each("what is said in", lambda path: list(read_events(path)), *LOGS[:4]),
    *_each("items", read_published, *ITEMS),
    *_each("whether items are counted in", is_counted, *ITEMS),
    *(Reader(f"a source, {name}", "lab", (name,), _source(name)) for name in ("log.tsv", "log.parquet")),
    Reader("budgets", "lab", ("ledger.json",), lambda at: Budgets(at / "ledger.json").accounts()),
    Reader("spent", "lab", ("spent.json",), lambda at: load_stream_budget(at / "spent.json", 1.0, 9), says="spent"),
    Reader("a manifest", "lab", ("r.tsv.manifest.json",), _manifest, says="r.tsv"),
    Reader("a study's cell", "lab", ("cells/*",), _finished, says="cell"),
    Reader("truth", "lab", ("truth.tsv",), _two),
    Reader("groups", "lab", ("groups.tsv",), _of(read_groups, "groups.tsv")),
    Reader("Google's", "lab", ("MyActivity.json",), _history(read_takeout, "MyActivity.json")),
    Reader("Google's zip", "lab", ("takeout.zip",), _history(read_takeout, "takeout.zip"), says="takeout"),
    Reader("Amazon's zip", "lab", ("alexa.zip",), _history(read_alexa, "alexa.zip"), says="alexa"),
]
