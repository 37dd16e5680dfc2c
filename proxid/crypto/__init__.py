"""Cryptography of proxid (DESIGN 3, 4): pure functions over bytes; clock and randomness are passed in.

`ed25519` one strict signature · `sansig` sanitizable signatures · `identity` enrolment, epoch links, credentials ·
`names` what may be a USER_ID · `hpke` sealing to a public key · `response` the answer's symmetric sealing ·
`padding` size buckets.
"""
