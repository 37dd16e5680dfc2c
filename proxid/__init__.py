"""proxid: a privacy gateway for personal assistants (docs/protocol.md).

Three wings (docs/architecture.md): the library (crypto, protocol, evidence, anonymise, classify, ontology, loglines)
does no I/O of its own; `runtime` is what a running party needs; `lab` is the query-log laboratory. `clients` is what
others embed, `cli` the command.
"""

__version__ = "0.2.0"
