"""A person's page (DESIGN 5.6): what was asked in their name, what went to whom, their consent and their rights.

`codes` lets a person in, `sessions` remembers them, `guard` refuses what is no visit of a person's, `app` has the
views; forms alone, no script. Its words are in `proxid.clients.household.words`.
"""
