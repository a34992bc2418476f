"""Ed25519 keys under anchored heads: made, read from a file or from a variable, and their ids.

Invariant: a private key is never shown, logged or stored by Memoir; its id is the start of the SHA-256 of the public key.
Source: RFC 8032 (Ed25519), by the library `cryptography`; docs/decisions/0104.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from memoir_engine.core.anchors import AnchorRecord, signed_by
from memoir_engine.core.errors import InvalidSetting

KEY_ID_CHARS = 16
_ADVICE = "Give the path of a PEM file, or its text; `memoir signing-key FILE` makes one."


@dataclass(frozen=True)
class PublicKeys:
    """Keys whose signatures count, by id."""

    by_id: dict[str, Ed25519PublicKey]

    def and_those(self, others: PublicKeys) -> PublicKeys:
        return PublicKeys({**self.by_id, **others.by_id})

    def has_signed(self, record: AnchorRecord) -> bool:
        key = self.by_id.get(record.key or "")
        if key is None or record.signature is None:
            return False
        try:
            key.verify(base64.b64decode(record.signature, validate=True), record.signed_bytes())
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class SigningKey:
    private: Ed25519PrivateKey

    @property
    def public(self) -> PublicKeys:
        key = self.private.public_key()
        return PublicKeys({key_id(key): key})

    def sign(self, record: AnchorRecord) -> AnchorRecord:
        own = key_id(self.private.public_key())
        return signed_by(record, own, lambda said: base64.b64encode(self.private.sign(said)).decode())


def key_id(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:KEY_ID_CHARS]


def read_signing_key(value: str) -> SigningKey:
    """Read a private key. value: PEM text, or the path of a PEM file. Raises InvalidSetting, which never shows the key."""
    try:
        private = load_pem_private_key(_pem(value), password=None)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise InvalidSetting(name="signing_key", value="…", problem="it is not a private Ed25519 key in PEM", advice=_ADVICE)
    return SigningKey(private)


def read_public_keys(values: Sequence[str]) -> PublicKeys:
    """Read public keys. values: PEM texts or paths of PEM files. Raises InvalidSetting."""
    found: dict[str, Ed25519PublicKey] = {}
    for value in values:
        try:
            public = load_pem_public_key(_pem(value))
        except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
            public = None
        if not isinstance(public, Ed25519PublicKey):
            problem = "it is not a public Ed25519 key in PEM"
            raise InvalidSetting(name="public_keys", value=value, problem=problem, advice=_ADVICE)
        found[key_id(public)] = public
    return PublicKeys(found)


def make_signing_key(path: Path) -> tuple[Path, str]:
    """Write a new private key, for its owner alone, and its public key beside it; return the path of the public one and the id.

    Raises FileExistsError: a key in use must not be overwritten.
    """
    private = Ed25519PrivateKey.generate()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = path.with_name(f"{path.stem}.pub{path.suffix}")
    public.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return public, key_id(private.public_key())


def _pem(value: str) -> bytes:
    text = value.strip()
    return text.encode() if text.startswith("-----BEGIN") else Path(text).expanduser().read_bytes()
