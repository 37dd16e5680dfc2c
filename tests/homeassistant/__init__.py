"""Home Assistant itself before a household's agent: `make test-homeassistant`, in an environment of its own.

`house` runs with proxid's packages, the tests with Home Assistant's: neither could have the other's.
"""
