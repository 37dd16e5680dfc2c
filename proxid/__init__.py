"""proxid: a privacy gateway for personal assistants (docs/protocol.md).

The shared library. It imports no service; `proxid.crypto`, `proxid.anonymise`, `proxid.classify` and
`proxid.evaluate` do no network or store I/O.
"""

__version__ = "0.1.0"
