"""Configuration (DESIGN 16): one TOML a service, environment overrides, everything validated at start.

`load(GatewayConfig, path)` reads `path`, lets variables such as `PROXID_GATEWAY__RATE_PER_MINUTE` override it, and
raises ConfigError naming the key (never the value) for anything unknown, missing or out of range. The sections
`trust` and `policy` may stand in files of their own, named by path relative to the configuration's folder.
"""

from proxid.runtime.config.anonymiser import AnonymiserConfig, Retention
from proxid.runtime.config.base import ServiceConfig
from proxid.runtime.config.loading import load, read_toml
from proxid.runtime.config.policy import Fidelity, Grant, Policy, RequestType, load_policy
from proxid.runtime.config.trust import PartyKeys, Peer, Tls, Trust

__all__ = [
    "AnonymiserConfig",
    "Fidelity",
    "Grant",
    "PartyKeys",
    "Peer",
    "Policy",
    "RequestType",
    "Retention",
    "ServiceConfig",
    "Tls",
    "Trust",
    "load",
    "load_policy",
    "read_toml",
]
