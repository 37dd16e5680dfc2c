"""Device simulator (DESIGN 5.1): households with several users, whose speakers are recognised by the input's user id.

`state` keys on disk · `enrolment` the offline authority · `gateway` calls · `household` link, consent, ask ·
`receipts` proofs kept · `corpus` files of utterances · `replay` many of them at a rate
"""
