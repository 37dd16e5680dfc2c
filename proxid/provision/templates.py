"""The TOML that `proxid init` writes for each role; every key may be changed by hand afterwards (DESIGN 16)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxid.provision import toml

_COMMON = ("trust", "policy")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the operator may choose at `proxid init`; the defaults are DESIGN 16's.

    Attributes:
        gateway, main_service: addresses. gateway_metrics, main_service_metrics: where each serves its metrics.
        service: id of the Main Service. epoch_seconds: of all who count epochs.
        shared: further keys of both services. by_role: further keys of one role. anonymiser: keys of that section.
    """

    gateway: str = "127.0.0.1:7443"
    main_service: str = "127.0.0.1:7444"
    gateway_metrics: str = "127.0.0.1:9464"
    main_service_metrics: str = "127.0.0.1:9465"
    service: str = "main-service"
    epoch_seconds: int = 86_400
    shared: Mapping[str, Any] = field(default_factory=dict)
    by_role: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    anonymiser: Mapping[str, Any] = field(default_factory=dict)


_ANONYMISER: Mapping[str, Any] = {
    "k": 10,
    "level": 2,
    "sybil_margin": 1,
    "max_delay_records": 10_000,
    "max_delay": "6 h",
    "min_text_users": 3,
    "person_cap": 20,
    "time_slots": ["15 min", "1 h", "6 h", "1 d"],
    "finest_resolution": 8,
}

_HEADERS = {
    "ea": "Enrolment authority: an offline signer. Keep this folder on a machine without a network.",
    "gateway": "Identity Screener.",
    "main-service": "Main Service. Its host, its Redis and its keys must be another party's than the gateway's.",
    "auditor": "Auditor.",
    "witness": "Witness: cosigns checkpoints.",
    "party": "Third party.",
    "device": "Household device.",
}


def render(role: str, name: str, settings: Settings) -> str:
    """The configuration of one role."""
    table: dict[str, Any] = {"role": role, "name": name, **_body(role, settings), **settings.by_role.get(role, {})}
    out = [f"# {_HEADERS[role]}", "# Every key can be overridden: see docs/operations.md.", *toml.lines(table)]
    if role in {"main-service", "auditor"}:
        out += toml.section(("anonymiser",), {**_ANONYMISER, **settings.anonymiser})
    return "\n".join(out) + "\n"


def _body(role: str, settings: Settings) -> dict[str, Any]:
    if role == "ea":
        return {"signing_key": "signing.key"}
    base: dict[str, Any] = {"service": settings.service, "data_dir": "data", "trust": "trust.toml"}
    if role != "witness":
        base["policy"] = "policy.toml"
    if role == "party":
        base.pop("policy")
    return {**base, **_ADDRESSES[role](settings)}


def _gateway(settings: Settings) -> dict[str, Any]:
    return {
        "listen": settings.gateway,
        "metrics_listen": settings.gateway_metrics,
        "main_service": settings.main_service,
        "appendfsync": "always",
        "on_store_failure": "refuse",
        "epoch_seconds": settings.epoch_seconds,
        "season_days": 7,
        "rate_per_minute": 60,
        **settings.shared,
    }


def _main_service(settings: Settings) -> dict[str, Any]:
    return {
        "listen": settings.main_service,
        "metrics_listen": settings.main_service_metrics,
        "appendfsync": "always",
        "on_store_failure": "refuse",
        "epoch_seconds": settings.epoch_seconds,
        **settings.shared,
    }


def _reader(settings: Settings) -> dict[str, Any]:
    return {"gateway": settings.gateway, "main_service": settings.main_service}


def _caller(settings: Settings) -> dict[str, Any]:
    return {"gateway": settings.gateway}


def _auditor(settings: Settings) -> dict[str, Any]:
    return {**_reader(settings), "epoch_seconds": settings.epoch_seconds}


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


def render_policy(parties: tuple[str, ...]) -> str:
    """A first policy: all bundles that make sense for any parties; the operator edits it (DESIGN 7).

    `nothing` always · `everything` all types by user id · `searches` general queries alone · `aliased` all types
    under aliases · `only-NAME` everything, to the first party alone.
    """
    every = ["general", "location", "command"]
    bundles: list[tuple[str, tuple[str, ...], list[str], str]] = [
        ("everything", parties, every, "user_id"),
        ("searches", parties, ["general"], "user_id"),
        ("aliased", parties, every, "alias"),
    ]
    bundles += [(f"only-{party}"[:63], (party,), every, "user_id") for party in parties[:1]]
    out = ["# Third parties and the bundles of consent that are offered; the same file for every party.",
           f"parties = {toml.value(parties)}"]  # fmt: skip
    for bundle, to, types, fidelity in bundles if parties else []:
        for party in to:
            out += toml.section(("bundles", bundle, party), {"types": types, "as": fidelity})
    return "\n".join(out) + "\n"
