"""A third party's side of its feed (DESIGN 9): verify each group, open it, keep it once, acknowledge it.

`group` checks without I/O · `ledger` what was received, on disk · `subscriber` the stream · `rows` for printing
"""
