"""Where an auditor is called (DESIGN 16)."""

from proxid.runtime.config.base import PartyBase
from proxid.runtime.config.fields import Address


class PresentingConfig(PartyBase):
    """Who presents to an auditor what it holds.

    Attributes:
        auditor: address of its service; without one nothing is presented. auditor_name: the name in its certificate.
    """

    auditor: Address | None = None
    auditor_name: str = "auditor"
