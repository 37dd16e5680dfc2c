"""What an audit leaves for the next one, beside the sets of check 7 (DESIGN 10.4); `plain` writes it."""

from typing import NamedTuple

from auditor.checks.c2_erasures import ErasuresState
from auditor.checks.c3_deliveries import DeliveriesState
from auditor.checks.c3_links import PeopleState
from auditor.checks.c8_obligations import ObligationsState
from auditor.findings import Violation
from auditor.gateway_log import GatewayState
from auditor.generations import ReadState
from auditor.policies import PoliciesState
from auditor.reading.opening import UnopenedState
from auditor.service_log import ServiceState


class Parts(NamedTuple):
    """What each part of an audit knows of both logs."""

    policies: PoliciesState
    people: PeopleState
    deliveries: DeliveriesState
    gateway: GatewayState
    obligations: ObligationsState
    service: ServiceState
    erasures: ErasuresState
    unopened: UnopenedState


class Saved(NamedTuple):
    """A whole audit.

    Attributes:
        reads: by log. violations: that leaves show. checked: by check, of all audits. counts: by name.
    """

    reads: dict[str, ReadState]
    parts: Parts
    violations: list[Violation]
    checked: dict[int, int]
    counts: dict[str, int]
