"""TLS certificates (DESIGN 16): ECDSA P-256, the role in the subject alternative name.

gRPC's handshake refuses Ed25519 certificates. A server's certificate carries the DNS names of its role and
`localhost`; everybody's carries `URI:proxid:ROLE/NAME`. Devices, parties, auditor and witness get no server use, so
that none of them can pose as a service.
"""

import datetime
import hashlib
import re
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from proxid.errors import CredentialError, InputError, KeyInvalidError
from proxid.runtime.pem import malformed_as
from proxid.runtime.provision.roles import ROLES, SERVERS

DAYS: Final = 825
CA_DAYS: Final = 3650
URI_SCHEME: Final = "proxid:"

_URI = re.compile(r"^proxid:(?P<role>[a-z-]+)/(?P<name>[a-z0-9][a-z0-9._-]{0,62})$")
_DAY = datetime.timedelta(days=1)


def new_tls_key() -> bytes:
    """A fresh P-256 key, PKCS#8 PEM without a password."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _load_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    with malformed_as(KeyInvalidError("TLS key is malformed")):
        key = serialization.load_pem_private_key(pem, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise KeyInvalidError("TLS key is not on P-256")
    return key


def _subject(role: str, name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "proxid"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"{role}/{name}"),
        ]
    )


def self_sign(key_pem: bytes, now: datetime.datetime) -> bytes:
    """The CA's own certificate, PEM."""
    key = _load_key(key_pem)
    subject = _subject("ca", "ca")
    builder = _builder(subject, subject, key.public_key(), now, CA_DAYS)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(authority=True), critical=True)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def request(key_pem: bytes, role: str, name: str) -> bytes:
    """A certificate signing request for `ROLE/NAME`, PEM."""
    uri = x509.UniformResourceIdentifier(f"{URI_SCHEME}{role}/{name}")
    builder = x509.CertificateSigningRequestBuilder().subject_name(_subject(role, name))
    builder = builder.add_extension(x509.SubjectAlternativeName([uri]), critical=False)
    return builder.sign(_load_key(key_pem), hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def sign_request(
    csr_pem: bytes, ca_key_pem: bytes, ca_pem: bytes, now: datetime.datetime, hosts: tuple[str, ...] = ()
) -> bytes:
    """A certificate for a request, PEM. Its extensions follow from role and name; the request's own are not copied.

    Args:
        hosts: further DNS names of a server, given by the CA's operator.

    Raises:
        CredentialError: the request is malformed, does not prove its key, or names no known role; the CA's certificate
            is malformed. KeyInvalidError: its key is.
    """
    csr, role, name = _read_request(csr_pem)
    key = _load_key(ca_key_pem)
    with malformed_as(CredentialError("the CA's certificate is malformed")):
        issuer = x509.load_pem_x509_certificate(ca_pem).subject
    public = csr.public_key()
    assert isinstance(public, ec.EllipticCurvePublicKey)
    builder = _builder(_subject(role, name), issuer, public, now, DAYS)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(authority=False), critical=True)
    builder = builder.add_extension(_alternative_names(role, name, hosts), critical=False)
    uses = [ExtendedKeyUsageOID.CLIENT_AUTH] + ([ExtendedKeyUsageOID.SERVER_AUTH] if role in SERVERS else [])
    builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    return (
        builder.add_extension(authority, critical=False)
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )


def named_by(csr_pem: bytes) -> tuple[str, str]:
    """Role and name that a request is for; raises CredentialError."""
    _, role, name = _read_request(csr_pem)
    return role, name


def _read_request(csr_pem: bytes) -> tuple[x509.CertificateSigningRequest, str, str]:
    with malformed_as(CredentialError("certificate request is malformed")):
        csr = x509.load_pem_x509_csr(csr_pem)
        names = csr.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        uris = names.get_values_for_type(x509.UniformResourceIdentifier)
        public, proven = csr.public_key(), csr.is_signature_valid
    if not proven or not isinstance(public, ec.EllipticCurvePublicKey) or public.curve.name != "secp256r1":
        raise CredentialError("certificate request does not prove a P-256 key")
    match = _URI.match(uris[0]) if len(uris) == 1 else None
    if match is None or match["role"] not in ROLES:
        raise CredentialError("certificate request names no known role")
    return csr, match["role"], match["name"]


def _alternative_names(role: str, name: str, hosts: tuple[str, ...]) -> x509.SubjectAlternativeName:
    names: list[x509.GeneralName] = [x509.UniformResourceIdentifier(f"{URI_SCHEME}{role}/{name}")]
    if role in SERVERS:
        with malformed_as(InputError("a host's name is written in ASCII, others as xn--…")):
            names += [x509.DNSName(host) for host in dict.fromkeys((role, "localhost", *hosts))]
    return x509.SubjectAlternativeName(names)


def _usage(authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority, key_cert_sign=authority, crl_sign=authority, content_commitment=False,
        key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime.datetime, days: int
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - _DAY)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    return builder.not_valid_after(now + days * _DAY)


def sign_with_ca(ca_key_pem: bytes, data: bytes) -> bytes:
    """The CA's signature (ECDSA, SHA-256) of what is no certificate: `data` begins with a label."""
    return _load_key(ca_key_pem).sign(data, ec.ECDSA(hashes.SHA256()))


def verify_by_ca(ca_pem: bytes, data: bytes, signature: bytes) -> None:
    """Raises CredentialError unless the CA of a certificate signed some data."""
    with malformed_as(CredentialError("the signature is not this CA's")):
        key = x509.load_pem_x509_certificate(ca_pem).public_key()
        if not isinstance(key, ec.EllipticCurvePublicKey):
            raise CredentialError("the CA's key is none on P-256")
        key.verify(signature, data, ec.ECDSA(hashes.SHA256()))


def fingerprint(certificate_pem: bytes) -> str:
    """SHA-256 of the DER form, lower-case hexadecimal; raises CredentialError."""
    with malformed_as(CredentialError("certificate is malformed")):
        certificate = x509.load_pem_x509_certificate(certificate_pem)
    return hashlib.sha256(certificate.public_bytes(serialization.Encoding.DER)).hexdigest()


def verify_issued(certificate_pem: bytes, key_pem: bytes, ca_pem: bytes) -> None:
    """That a certificate is for this key and by this CA; raises CredentialError."""
    with malformed_as(CredentialError("certificate is not issued by this CA")):
        certificate, ca = x509.load_pem_x509_certificate(certificate_pem), x509.load_pem_x509_certificate(ca_pem)
        certificate.verify_directly_issued_by(ca)
        own = certificate.public_key()
    if own != _load_key(key_pem).public_key():
        raise CredentialError("certificate is for another key")
