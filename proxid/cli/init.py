"""`proxid init`: keys, certificates and configurations (DESIGN 16).

proxid init DIR                                  a whole trial: one folder a party
proxid init DIR --only ea,gateway                who invites the others (proxid invite): the CA, and what it runs itself
proxid init --role gateway --out gateway         one party alone, on its own machine
proxid init --sign gateway/tls.csr --ca ca --out gateway.crt          at the CA
proxid init --into gateway --certificate gateway.crt --ca-certificate ca.crt --import ea/public.toml …
"""

import datetime
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gateway.config import GatewayConfig
from proxid.cli.failing import about
from proxid.cli.joining import accept_first
from proxid.errors import ConfigError, InputError
from proxid.protocol.epochs import EPOCH_SECONDS
from proxid.runtime.config.base import GovernedConfig
from proxid.runtime.config.fields import CENTURY, duration_text
from proxid.runtime.config.loading import load
from proxid.runtime.provision import (
    Party,
    PublicFile,
    TrialOptions,
    import_public,
    init_party,
    init_trial,
    install_certificate,
)
from proxid.runtime.provision.host import Host
from proxid.runtime.provision.party import sign_request
from proxid.runtime.provision.public import read_public, write_public
from proxid.runtime.provision.revocations import bring_revocations, read_revocations
from proxid.runtime.provision.roles import ROLES
from proxid.runtime.provision.templates import Settings, render_policy

_GRACE = GovernedConfig.model_fields["epoch_grace"].default
_GRACES = 20
"""Times that an epoch is longer than its grace, at least."""
_DIRECTORY = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _names(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))


@click.command("init", epilog="Example: proxid init trial --parties acme,globex --households 20")
@click.argument("directory", required=False, type=_DIRECTORY)
@click.option("--parties", default="acme,globex,initech", show_default=True, callback=_names, help="Third parties.")
@click.option("--households", default=1, show_default=True, type=click.IntRange(0), help="Number of households.")
@click.option("--k", type=click.IntRange(2), help="Anonymity parameter (10).")
@click.option("--form", type=click.Choice(["split", "pairs"]), help="Form of releases (split).")
@click.option("--level", type=click.IntRange(0), help="Depth at which categories start (1; of pairs 2).")
@click.option(
    "--epoch-seconds", type=click.IntRange(60, CENTURY), help="Length of an epoch, in which people choose once (a day)."
)
@click.option("--season-days", type=click.FloatRange(0), help="Age of an account before it counts towards k (7).")
@click.option("--gateway", default="127.0.0.1:7443", show_default=True, help="Address of the gateway.")
@click.option("--main-service", default="127.0.0.1:7444", show_default=True, help="Address of the main service.")
@click.option(
    "--auditor", default="", metavar="HOST:PORT",
    help="Address of the auditor's service: devices and third parties then present to it what they hold.",
)  # fmt: skip
@click.option(
    "--gateway-metrics", default="127.0.0.1:9464", show_default=True, help="Where the gateway serves metrics."
)
@click.option(
    "--main-service-metrics", default="127.0.0.1:9465", show_default=True, help="Where the main service serves metrics."
)
@click.option("--host", "hosts", multiple=True, help="Further DNS name of the servers' certificates.")
@click.option("--only", callback=_names, help="Of the trial these alone, as ea,gateway: for who invites the others.")
@click.option("--role", type=click.Choice(sorted(ROLES)), help="Write one party alone, into --out.")
@click.option("--name", help="Its name (default: the role).")
@click.option("--sign", type=_FILE, help="Certificate request to sign with the CA in --ca; result in --out.")
@click.option("--ca", type=_DIRECTORY, help="Folder of the CA.")
@click.option("--into", type=_DIRECTORY, help="Folder that takes a certificate or others' public files.")
@click.option("--certificate", type=_FILE, help="Certificate to install, with --ca-certificate.")
@click.option("--ca-certificate", type=_FILE, help="Certificate of the CA.")
@click.option("--import", "imports", multiple=True, type=_FILE, help="Another party's public.toml, or revocations.")
@click.option("--out", type=click.Path(path_type=Path), help="Where --role or --sign writes.")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
def command(**options: Any) -> None:
    """Write keys (readable by their owner alone), certificates and configurations.

    With DIRECTORY, every party's folder at once, for a trial. In earnest each party runs `--role` on its own
    machine, has its request signed by the CA, and imports the public files of those it must know. Existing keys are
    never overwritten.
    """
    done = _dispatch(options)
    if options["as_json"]:
        click.echo(json.dumps(done))
    else:
        for line in done["written"]:
            click.echo(line)


def _dispatch(options: Mapping[str, Any]) -> dict[str, list[str]]:
    if options["directory"] is not None:
        return _host(options) if options["only"] is not None else _trial(options)
    if options["sign"] is not None:
        return _sign(options)
    if options["role"] is not None:
        return _one(options)
    if options["into"] is not None:
        return _into(options)
    raise click.UsageError("give DIRECTORY, --role, --sign or --into")


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _settings(options: Mapping[str, Any]) -> Settings:
    anonymiser = {key: options[key] for key in ("form", "k", "level") if options[key] is not None}
    shared = {} if options["season_days"] is None else {"season_days": options["season_days"]}
    epoch = options["epoch_seconds"] or EPOCH_SECONDS
    if epoch // _GRACES < _GRACE:
        shared["epoch_grace"] = duration_text(epoch // _GRACES)
    return Settings(
        gateway=options["gateway"],
        main_service=options["main_service"],
        auditor=options["auditor"],
        gateway_metrics=options["gateway_metrics"],
        main_service_metrics=options["main_service_metrics"],
        epoch_seconds=epoch,
        anonymiser=anonymiser,
        shared=shared,
    )


def _trial(options: Mapping[str, Any]) -> dict[str, list[str]]:
    households = tuple(f"household-{i}" for i in range(1, options["households"] + 1))
    trial = TrialOptions(options["parties"], households, _settings(options), options["hosts"])
    parties = init_trial(options["directory"], trial, _now())
    accept_first(options["directory"] / "auditor")
    return {"written": [str(options["directory"] / "ca"), *(str(party.folder) for party in parties)]}


def _host(options: Mapping[str, Any]) -> dict[str, list[str]]:
    folder, asked = options["directory"], click.get_current_context().get_parameter_source
    for role in ("gateway", "main-service"):
        key = f"{role.replace('-', '_')}_metrics"
        if role not in options["only"] and asked(key) is ParameterSource.COMMANDLINE:
            raise InputError(
                f"--{role}-metrics: no {role} is made here; who joins as it says where: proxid join --metrics"
            )
    host = Host.init(folder, options["only"], options["parties"], _settings(options), _now())
    return {"written": [str(folder / "ca"), *(str(party.folder) for party in host.own())]}


def _one(options: Mapping[str, Any]) -> dict[str, list[str]]:
    role, out = options["role"], _need(options, "out")
    settings = _settings(options)
    policy = render_policy(options["parties"], settings)
    party = init_party(out, role, options["name"] or role, settings, policy, _now())
    return {"written": [str(party.folder)]}


def _sign(options: Mapping[str, Any]) -> dict[str, list[str]]:
    out = _need(options, "out")
    ca, csr = _need(options, "ca"), options["sign"]
    with about(csr):
        pem = sign_request(ca, read_public(csr).encode("ascii"), _now(), options["hosts"])
    write_public(out, pem.decode("ascii"))
    return {"written": [str(out)]}


def _into(options: Mapping[str, Any]) -> dict[str, list[str]]:
    party = Party.at(options["into"])
    written = []
    if options["certificate"] is not None:
        ca = _need(options, "ca_certificate")
        with about(options["into"]):
            install_certificate(party, *(read_public(path).encode("ascii") for path in (options["certificate"], ca)))
        written.append(str(party.folder / "tls.crt"))
    imports = _revoked(party, options["imports"])
    if imports:
        import_public(party, [PublicFile.read(path) for path in imports])
        written.append(str(party.folder / "trust.toml"))
        if party.role == "auditor":
            with suppress(ConfigError):  # it does not know all yet
                accept_first(party.folder)
    return {"written": written}


def _revoked(party: Party, imports: Sequence[Path]) -> list[Path]:
    """Brings a gateway the enrolment authority's revocations among some files; the others."""
    others = []
    for path in imports:
        revocations = read_revocations(path)
        if revocations is None:
            others.append(path)
            continue
        if party.role != "gateway":
            raise InputError(f"{path.name}: revocations are for the gateway")
        config = load(GatewayConfig, party.config)
        assert config.trust.enrolment_authority is not None
        bring_revocations(config.data_dir, revocations, config.trust.enrolment_authority)
    return others


def _need(options: Mapping[str, Any], name: str) -> Path:
    value = options[name]
    if value is None:
        raise InputError(f"option --{name.replace('_', '-')} is missing")
    assert isinstance(value, Path)
    return value
