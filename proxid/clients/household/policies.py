"""The policy documents that a household has read (DESIGN 7): fetched by the digest in the epoch's key, and checked."""

from pathlib import Path

from proxid.clients.household.gateway import GatewayClient
from proxid.errors import ConfigError
from proxid.protocol.policy import PolicyDocument
from proxid.runtime.provision.policies import PolicyFolder


class Policies:
    """Fetches each document once, and keeps it.

    Args:
        folder: the device's data folder.
    """

    def __init__(self, gateway: GatewayClient, folder: Path) -> None:
        self._gateway = gateway
        self._folder = PolicyFolder(folder)

    async def of(self, digest: bytes) -> PolicyDocument:
        """The document of a digest.

        Raises:
            EncodingError: the gateway gives another text. RefusedError, UpstreamError: it gives none. OutputError.
        """
        try:
            held = self._folder.document(digest)
        except ConfigError:
            held = None  # a file that is damaged is fetched anew
        if held is None:
            held = PolicyDocument.named(await self._gateway.policy(digest), digest)
            self._folder.add(held)
        return held
