"""Provisioning (DESIGN 16): key files, certificates, one folder a party, and the exchange of public keys.

`keyfile` secrets on disk · `certificate` the CA and certificate requests · `party` what each role owns ·
`public` what parties tell each other · `templates` their TOML · `trial` all folders of a trial at once.
"""

from proxid.runtime.provision.keyfile import load_opening_key, load_secret, load_signing_key
from proxid.runtime.provision.party import Party, import_public, init_party, install_certificate
from proxid.runtime.provision.public import PublicFile
from proxid.runtime.provision.trial import TrialOptions, init_trial

__all__ = [
    "Party",
    "PublicFile",
    "TrialOptions",
    "import_public",
    "init_party",
    "init_trial",
    "install_certificate",
    "load_opening_key",
    "load_secret",
    "load_signing_key",
]
