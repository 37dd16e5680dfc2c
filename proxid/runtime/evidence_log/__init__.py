"""A service's evidence on disk (DESIGN 10.2): segments of leaves and payloads, the Merkle tree, its checkpoints.

`files` appends and recovers · `segments` keeps leaves by number · `tree` stores the nodes that proofs need ·
`log` is the whole, with its signed head · `encryptor` turns plain events into leaves · `writer` takes them from the
store's stream · `reading` is what every worker serves from.
"""
