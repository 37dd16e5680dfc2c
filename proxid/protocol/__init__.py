"""The messages of the protocol, built and checked without I/O (DESIGN 5, 7, 9; docs/protocol.md).

`epochs` · `request` · `response` · `consent` · `record` · `receipt`: each gives the layout of its blocks, how the
sender makes them and what the receiver must check.
"""
