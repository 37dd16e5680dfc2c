"""The TOML that `proxid init` writes for each role; every key may be changed by hand afterwards (DESIGN 16)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxid.protocol.epochs import EPOCH_SECONDS
from proxid.runtime.config.anonymiser import LEVELS, AnonymiserConfig, Retention
from proxid.runtime.config.base import GovernedConfig
from proxid.runtime.config.fields import check_name, duration_text
from proxid.runtime.config.policy import SETTINGS
from proxid.runtime.provision import toml

GOVERNED = ("gateway", "main-service", "auditor", "device")
"""Roles that have a policy."""
_SEASON_DAYS = int(GovernedConfig.model_fields["season_days"].default)
_KEPT_LEAST = 30 * 86_400.0
"""Seconds: what an auditor can still read after that long an absence."""
_COMMON = ("trust", "policy")


def _default(key: str) -> Any:
    """The default of a key of the anonymiser, as it is written."""
    value = AnonymiserConfig.model_fields[key].default
    if key in _DURATIONS:
        return [duration_text(part) for part in value] if isinstance(value, tuple) else duration_text(value)
    return value


@dataclass(frozen=True, slots=True)
class Settings:
    """What the operator may choose at `proxid init`; the defaults are DESIGN 16's.

    Attributes:
        gateway, main_service: addresses. auditor: of its service; if there is one, devices and parties present to it.
        gateway_metrics, main_service_metrics: where each serves its metrics.
        service: id of the Main Service. epoch_seconds: of all who count epochs.
        shared: further keys of both services. by_role: further keys of one role. anonymiser: keys of that section.
    """

    gateway: str = "127.0.0.1:7443"
    main_service: str = "127.0.0.1:7444"
    auditor: str = ""
    gateway_metrics: str = "127.0.0.1:9464"
    main_service_metrics: str = "127.0.0.1:9465"
    service: str = "main-service"
    epoch_seconds: int = EPOCH_SECONDS
    shared: Mapping[str, Any] = field(default_factory=dict)
    by_role: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    anonymiser: Mapping[str, Any] = field(default_factory=dict)

    @property
    def governed(self) -> dict[str, Any]:
        """Settings of the policy but the anonymiser's: those of `shared` that belong there, and the usual ones."""
        usual = {"epoch_seconds": self.epoch_seconds, "season_days": _SEASON_DAYS}
        return {**usual, **{name: value for name, value in self.shared.items() if name in SETTINGS}}

    @property
    def services(self) -> dict[str, Any]:
        """Those of `shared` that belong into the services' own files."""
        return {name: value for name, value in self.shared.items() if name not in SETTINGS}


_WRITTEN = ("form", "k", "sybil_margin", "min_text_users", "time_slots", "finest_resolution")
_OF_FORM = {"split": ("content", "bucket"), "pairs": ("max_delay_records", "max_delay", "person_cap")}
"""Keys of the anonymiser that a new policy shows, with their defaults: in any form, and in each."""
TICKS = 4
"""Buckets of a new policy's epoch, however long that is."""
_DURATIONS = ("bucket", "max_delay", "time_slots")

_HEADERS = {
    "ea": "Enrolment authority: an offline signer. Keep this folder on a machine without a network.",
    "gateway": "Identity Screener.",
    "main-service": "Main Service. Its host, its Redis and its keys must be another party's than the gateway's.",
    "auditor": "Auditor.",
    "witness": "Witness: cosigns checkpoints.",
    "party": "Third party.",
    "device": "Household device.",
}


_POLICY_HEADER = """\
# Third parties, the bundles of consent that are offered, and what an audit recomputes from: the same file
# for gateway, main service and auditor. How it is changed: docs/operations.md.
"""


def _anonymiser(settings: Settings) -> dict[str, Any]:
    form = settings.anonymiser.get("form", _default("form"))
    usual = {key: _default(key) for key in (*_WRITTEN, *_OF_FORM[form])} | {"level": LEVELS[form]}
    if form == "split" and settings.epoch_seconds % TICKS == 0:
        usual["bucket"] = duration_text(settings.epoch_seconds / TICKS)
    return {**usual, **settings.anonymiser}


def render(role: str, name: str, settings: Settings) -> str:
    """The configuration of one role."""
    table: dict[str, Any] = {"role": role, "name": name, **_body(role, settings), **settings.by_role.get(role, {})}
    if role == "auditor":
        rules = _anonymiser(settings)
        floors = {name: rules[name] for name in ("k", "sybil_margin", "min_text_users")}
        kept = Retention.model_validate(settings.governed.get("retention", {}))
        table["floors"] = {
            **floors,
            "season_days": settings.governed.get("season_days", _SEASON_DAYS),
            **{kind: duration_text(min(getattr(kept, kind), _KEPT_LEAST)) for kind in ("payloads", "links")},
        }
    return f"# {_HEADERS[role]}\n# Every key can be overridden: see docs/operations.md.\n{toml.dumps(table)}"


def _body(role: str, settings: Settings) -> dict[str, Any]:
    if role == "ea":
        return {"signing_key": "signing.key"}
    base: dict[str, Any] = {"service": settings.service, "data_dir": "data", "trust": "trust.toml"}
    if role in GOVERNED:
        base["policy"] = "policy.toml"
    return {**base, **_ADDRESSES[role](settings)}


def _gateway(settings: Settings) -> dict[str, Any]:
    return {
        "listen": settings.gateway,
        "metrics_listen": settings.gateway_metrics,
        "main_service": settings.main_service,
        "appendfsync": "always",
        "rate_per_minute": 60,
        **settings.services,
    }


def _main_service(settings: Settings) -> dict[str, Any]:
    return {
        "listen": settings.main_service,
        "metrics_listen": settings.main_service_metrics,
        "appendfsync": "always",
        **settings.services,
    }


def _reader(settings: Settings) -> dict[str, Any]:
    return {"gateway": settings.gateway, "main_service": settings.main_service}


def _auditor(settings: Settings) -> dict[str, Any]:
    return {**_reader(settings), **({"listen": settings.auditor} if settings.auditor else {})}


def _caller(settings: Settings) -> dict[str, Any]:
    return {"gateway": settings.gateway, **({"auditor": settings.auditor} if settings.auditor else {})}


def _device(settings: Settings) -> dict[str, Any]:
    return {**_caller(settings), "epoch_seconds": settings.epoch_seconds}


_ADDRESSES = {
    "gateway": _gateway,
    "main-service": _main_service,
    "auditor": _auditor,
    "witness": _reader,
    "party": _caller,
    "device": _device,
}


def render_policy(parties: tuple[str, ...], settings: Settings) -> str:
    """A first policy: settings, and all bundles that make sense for any parties; the operator edits it (DESIGN 7).

    `nothing` always · `everything` all types by user id · `searches` general queries alone · `aliased` all types
    under aliases of the epoch · `only-NAME` everything, to the first party alone, if there are others.

    Raises:
        InputError: a party's name is none.
    """
    for name in parties:
        check_name(name)
    every = ["general", "location", "command"]
    bundles: list[tuple[str, tuple[str, ...], list[str], str]] = [
        ("everything", parties, every, "user_id"),
        ("searches", parties, ["general"], "user_id"),
        ("aliased", parties, every, "alias"),
    ]
    bundles += [(f"only-{party}"[:63], (party,), every, "user_id") for party in parties[:1] if len(parties) > 1]
    table: dict[str, Any] = {
        "parties": parties,
        "one_name": True,
        **settings.governed,
        "anonymiser": _anonymiser(settings),
    }
    if parties:
        table["bundles"] = {
            bundle: {party: {"types": types, "as": fidelity} for party in to} for bundle, to, types, fidelity in bundles
        }
    return _POLICY_HEADER + toml.dumps(table)
