"""Certificates and keys in PEM that come from a file or a peer: they are good, or malformed, whatever they hold."""

from collections.abc import Iterator
from contextlib import contextmanager

from proxid.errors import ProxidError


@contextmanager
def malformed_as(error: ProxidError) -> Iterator[None]:
    """Raise this error for whatever the library raises of a certificate, a request or a key within the block.

    It parses late, so that a key of an unknown kind or an extension that is there twice is found when it is asked for,
    and it has a dozen unrelated classes for them, in part of its backend.
    """
    try:
        yield
    except ProxidError:
        raise
    except Exception:
        raise error from None
