"""An auditor from its configuration."""

from collections.abc import Callable

from auditor.config import AuditorConfig
from auditor.reading.remote import RemoteLog
from auditor.trust import Trust
from proxid.classify import load_default
from proxid.crypto.hpke import OpeningKey
from proxid.errors import ConfigError
from proxid.protocol.epochs import Epochs
from proxid.protocol.naming import Naming
from proxid.runtime.config.bundles import bundles_of
from proxid.runtime.config.terms import Terms, document_of, grid_of, terms_of
from proxid.runtime.provision.keyfile import load_opening_key
from proxid.runtime.provision.policies import PolicyFolder
from proxid.runtime.transport.channel import TlsFiles


def trust_of(config: AuditorConfig, pipeline: bool = True) -> Trust:
    """What the configuration says the auditor knows; raises ConfigError, KeyInvalidError.

    Args:
        pipeline: run the pipeline again on every disclosed utterance (check 4).
    """
    trust = config.trust
    if trust.enrolment_authority is None or trust.screener is None or trust.service is None:
        raise ConfigError("trust.enrolment_authority, trust.screener and trust.service are needed")
    return Trust(
        service=config.service,
        authority=trust.enrolment_authority,
        screener=trust.screener,
        service_key=trust.service,
        opening=opening_of(config),
        bundles=bundles_of(config.policy),
        party_keys={name: keys.acknowledge for name, keys in trust.parties.items()},
        settings=config.anonymiser.settings(),
        slots=config.anonymiser.slot_settings(),
        places=config.anonymiser.place_rules(),
        noise=config.anonymiser.place_noise(),
        epochs=Epochs(config.epoch_seconds),
        season_seconds=config.season_days * 86_400,
        naming=Naming(int(config.alias_period)),
        classifier=load_default(patterns=config.classify.patterns) if pipeline else None,
        witness=trust.witness if config.require_witness else None,
        witness_lag=config.witness_lag,
        unwitnessed=config.require_witness and trust.witness is None,
        pipeline=config.pipeline,
        clock_skew=config.clock_skew,
        epoch_grace=config.epoch_grace,
        accepted=_accepted(config),
        floors=config.floors,
        older_party_keys=dict(config.older_party_keys),
    )


def opening_of(config: AuditorConfig) -> OpeningKey:
    """The auditor's key, which opens what was sealed to those before it, too; raises KeyInvalidError."""
    before = [load_opening_key(path) for path in config.older_opening_keys]
    return OpeningKey(load_opening_key(config.opening_key).seed, before)


def _accepted(config: AuditorConfig) -> Callable[[bytes], Terms | None]:
    """The documents that the operator accepted: those of the folder, and what the configuration says itself."""
    folder, own = PolicyFolder(config.data_dir), document_of(config)
    grid = grid_of(config)

    def accepted(digest: bytes) -> Terms | None:
        return terms_of(own, lambda _: grid) if digest == own.digest else folder.terms(digest)

    return accepted


def logs_of(config: AuditorConfig, fresh: bool = True) -> tuple[RemoteLog, RemoteLog]:
    """The gateway's and the Main Service's logs; `fresh` heads cover all that was recorded before.

    Raises:
        ConfigError: a file is unusable, or the trust lists no certificate of a service.
    """
    tls, accepted = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca), config.trust.certificates
    return (
        RemoteLog(config.gateway, tls, config.gateway_name, accepted("gateway"), fresh),
        RemoteLog(config.main_service, tls, config.main_service_name, accepted("main-service"), fresh),
    )
