"""Device simulator (DESIGN 5.1): households with several users, whose speakers are recognised by the input's user id.

`state` keys on disk · `enrolment` the offline authority · `gateway` calls · `session` keys in use · `household` link
and ask · `consents` changes of consent · `receipts` proofs kept · `corpus` files of utterances · `simulate` what they
lack · `replay` many of them at a rate
"""
