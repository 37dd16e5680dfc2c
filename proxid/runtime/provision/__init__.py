"""Provisioning (DESIGN 16): key files, certificates, one folder a party, and the exchange of public keys.

`keyfile` secrets on disk · `certificate` the CA and certificate requests · `party` what each role owns ·
`public` what parties tell each other · `templates` their TOML · `house` all folders of a trial at once.
"""

from proxid.provision.house import HouseOptions, init_house
from proxid.provision.keyfile import load_opening_key, load_secret, load_signing_key
from proxid.provision.party import Party, import_public, init_party, install_certificate
from proxid.provision.public import PublicFile

__all__ = [
    "HouseOptions",
    "Party",
    "PublicFile",
    "import_public",
    "init_house",
    "init_party",
    "install_certificate",
    "load_opening_key",
    "load_secret",
    "load_signing_key",
]
