"""Every reader of a file: where a valid one lies in the stock, and how it is read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from auditor.checks import c9_receipts
from auditor.config import AuditorConfig, WitnessConfig
from device_sim.corpus import read_events
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from main_service.responder.upstream import _key
from proxid.classify.components.patterns import _patterns
from proxid.classify.ontology import Ontology
from proxid.classify.weights import read_arrays
from proxid.cli.classify import _lines
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.register import Register
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.kept import received_rows
from proxid.clients.subscriber.profiles import read_profiles
from proxid.lab.attacks.frequent import read_groups
from proxid.lab.imports import read_alexa, read_takeout
from proxid.lab.logs import read_log
from proxid.lab.logs.digest import digest_of_records
from proxid.lab.release.ledger import Ledger as Budgets
from proxid.lab.release.published import read_published
from proxid.lab.release.semantic.budget import load_stream_budget
from proxid.lab.utility.counted.counts import is_counted
from proxid.runtime.config import load
from proxid.runtime.config.loading import load_section
from proxid.runtime.config.policy import load_policy
from proxid.runtime.config.population import load_population
from proxid.runtime.provision.keyfile import load_opening_key, load_secret, load_signing_key
from proxid.runtime.provision.party import Introduced
from proxid.runtime.provision.public import PublicFile
from proxid.runtime.store.appendfile import cut_torn_end
from tests.support.fuzzing.reading import (
    _acknowledged,
    _admission,
    _admit,
    _audit,
    _audit_of_receipts,
    _auditor_keeps,
    _by_hand,
    _compared,
    _directory,
    _doctor,
    _document,
    _finished,
    _hashes,
    _history,
    _household,
    _invite,
    _join,
    _keep_heads,
    _ledger,
    _let_in,
    _letters,
    _listed,
    _log,
    _manifest,
    _next_report,
    _of,
    _policies,
    _profiled,
    _receipts,
    _rejoin,
    _revoked,
    _source,
    _tls,
    _two,
    _verified,
)


@dataclass(frozen=True)
class Reader:
    """One way to read files of the stock.

    Attributes:
        root: folder of the stock that it needs. files: of it, by glob, those that are changed.
        read: of a copy of the folder; what it gives. whole: what it takes is what was written: the same is given.
        says: a word that a refusal has, if not the file's name. streams: a pipe is as good as a file.
    """

    name: str
    root: str
    files: tuple[str, ...]
    read: Callable[[Path], Any]
    whole: bool = False
    says: str = ""
    streams: bool = False


def _each(title: str, read: Callable[[Path], Any], *names: str) -> list[Reader]:
    """A reader that takes files of several formats."""
    return [Reader(f"{title} {name}", "lab", (name,), _of(read, name), streams=True) for name in names]


LOGS: Final = ("log.tsv", "log.tsv.gz", "log.jsonl", "log.jsonl.gz", "log.parquet")
ITEMS: Final = ("items.tsv", "items.tsv.gz", "items.jsonl", "items.parquet")
AGAIN: Final = ("house/invited/device-home.invitation", "home/*.toml", "home/*.request", "home/ca.crt", "home/tls.csr")
ADMITTED: Final = ("acme/party-acme.request", "house/admitted/*", "house/known/*", "house/*.toml", "house/ca/ca.*")
HOUSE: Final = ("house/house.toml", "house/policy.toml", "house/*/public.toml", "house/ca/ca.crt")


CONFIGS: Final[list[tuple[Any, str]]] = [
    (GatewayConfig, "house/gateway/gateway.toml"), (MainServiceConfig, "house/main-service/main-service.toml"),
    (AuditorConfig, "house/auditor/auditor.toml"), (WitnessConfig, "house/witness/witness.toml"),
    (EnrolmentAuthorityConfig, "house/ea/ea.toml"), (PartyConfig, "acme/party.toml"),
    (DeviceConfig, "home/device.toml"),
]  # fmt: skip
"""Every configuration, and where a valid file of it lies in the folder `joined` of the stock."""


def variables() -> Iterator[tuple[Any, str, str]]:
    """Every variable of the environment that a configuration takes: its class, its file, its name."""
    for kind, file in CONFIGS:
        for name, field in kind.model_fields.items():
            variable = f"{kind.model_config['env_prefix']}{name}".upper()
            yield kind, file, variable
            inner = getattr(field.annotation, "model_fields", {})
            yield from ((kind, file, f"{variable}__{other}".upper()) for other in inner)


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
    Reader("profiles", "joined/acme", ("data/profiles.sqlite",), _of(read_profiles, "data")),
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
    Reader("utterances", "lab", ("utterances.txt",), _listed(_lines, "utterances.txt"), streams=True),
    Reader("patterns", "lab", ("patterns.jsonl",), _of(_patterns, "patterns.jsonl"), says="patterns"),
    Reader("weights", "lab", ("weights.npz",), _of(read_arrays, "weights.npz"), says="weights"),
    Reader("an ontology", "lab", ("ontology.csv",), _of(Ontology.load, "ontology.csv"), says="ontology"),
    Reader("a directory", "lab", ("odp.txt",), _directory, says="ontology"),
    *_each("a log", read_log, *LOGS),
    *_each("the digest of", digest_of_records, *LOGS),
    *_each("what is said in", lambda path: list(read_events(path)), *LOGS[:4]),
    *_each("items", read_published, *ITEMS),
    *_each("whether items are counted in", is_counted, *ITEMS),
    *(Reader(f"a source, {name}", "lab", (name,), _source(name), streams=True) for name in ("log.tsv", "log.parquet")),
    Reader("budgets", "lab", ("ledger.json",), lambda at: Budgets(at / "ledger.json").accounts()),
    Reader("spent", "lab", ("spent.json",), lambda at: load_stream_budget(at / "spent.json", 1.0, 9), says="spent"),
    Reader("a manifest", "lab", ("r.tsv.manifest.json",), _manifest, says="r.tsv"),
    Reader("a study's cell", "lab", ("cells/*",), _finished, says="cell"),
    Reader("truth", "lab", ("truth.tsv",), _two),
    Reader("groups", "lab", ("groups.tsv",), _of(read_groups, "groups.tsv")),
    Reader("Google's", "lab", ("MyActivity.json",), _history(read_takeout, "MyActivity.json"), streams=True),
    Reader("Google's zip", "lab", ("takeout.zip",), _history(read_takeout, "takeout.zip"), says="takeout"),
    Reader("Amazon's zip", "lab", ("alexa.zip",), _history(read_alexa, "alexa.zip"), says="alexa"),
]
