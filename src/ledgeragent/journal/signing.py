"""Signatures with Ed25519 (RFC 8032), for the heads of journals. Needs the extra `signed`."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, TypeAlias

from ledgeragent.errors import DataError, MissingExtraError, UsageError
from ledgeragent.files.private import write_private
from ledgeragent.files.reading import read_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

SignatureCheck: TypeAlias = Callable[[bytes, bytes], bool]
"""True if the first is a key's signature of the second."""

_MOST_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key, by the `name` of its public one: 16 digits of that key's SHA-256."""

    name: str
    _key: Ed25519PrivateKey

    @classmethod
    def of_file(cls, file: str) -> Signer:
        """The key in a PEM file that nobody else may read; UsageError or DataError for another."""
        pem = _read(file)
        mode = os.stat(file).st_mode
        if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UsageError(
                f"{file}: others may read this key ({stat.filemode(mode)}); make it private "
                "(chmod 600), and a new one if anybody has"
            )
        return cls._of(pem, file)

    @classmethod
    def of_environment(cls, variable: str) -> Signer:
        """The key in a variable of the environment, as PEM."""
        pem = os.environ.get(variable, "")
        if not pem.strip():
            raise UsageError(f"{variable} is not set; it should hold a private key as PEM")
        return cls._of(pem.replace("\\n", "\n").encode("utf-8", "replace"), variable)

    @classmethod
    def _of(cls, pem: bytes, place: str) -> Signer:
        key = _parsed(pem, place)
        if not hasattr(key, "sign"):
            raise DataError("a public key cannot sign; name the private one", file=place)
        return cls(_name(key.public_key()), key)

    def sign(self, message: bytes) -> bytes:
        """The signature, 64 bytes."""
        return self._key.sign(message)

    def has_signed(self, signature: bytes, message: bytes) -> bool:
        """True if this is the signature of the message by this key."""
        return _is_signed(self._key.public_key(), signature, message)


def signature_check(file: str) -> SignatureCheck:
    """The check by the public key in a PEM file; a private key's file does as well."""
    key = _parsed(_read(file), file)
    public: Ed25519PublicKey = key.public_key() if hasattr(key, "public_key") else key

    return lambda signature, message: _is_signed(public, signature, message)


def _is_signed(public: Ed25519PublicKey, signature: bytes, message: bytes) -> bool:
    try:
        public.verify(signature, message)
    except _library()["InvalidSignature"]:
        return False
    return True


def make_keys(file: File) -> File:
    """Writes a new private key, and the public one beside it, whose file is returned."""
    library = _library()
    public_file = file.with_name(f"{file.name}.pub")
    for target in (file, public_file):
        if os.path.lexists(target):
            raise UsageError(f"{target} is there already; a key is never written over")
    serialization = library["serialization"]
    key = library["Ed25519PrivateKey"].generate()
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    write_private(file, private)
    write_private(public_file, public)
    return public_file


def _read(file: str) -> bytes:
    return read_bytes(file)[:_MOST_BYTES]


def _parsed(pem: bytes, place: str) -> Any:
    library = _library()
    serialization = library["serialization"]
    try:
        if b"PRIVATE" in pem:
            key = serialization.load_pem_private_key(pem, password=None)
        else:
            key = serialization.load_pem_public_key(pem)
    # The library's own account could hold parts of the key.
    except (ValueError, TypeError, library["UnsupportedAlgorithm"]):
        raise DataError("this is no Ed25519 key as PEM", file=place) from None
    if not isinstance(key, library["Ed25519PrivateKey"] | library["Ed25519PublicKey"]):
        raise DataError("this key is not of Ed25519", file=place)
    return key


def _name(public: Ed25519PublicKey) -> str:
    return hashlib.sha256(public.public_bytes_raw()).hexdigest()[:16]


def _library() -> dict[str, Any]:
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (
            Ed25519PrivateKey,
            Ed25519PublicKey,
        )
    except ImportError:
        raise MissingExtraError("cryptography", "signed") from None
    return {
        "InvalidSignature": InvalidSignature,
        "UnsupportedAlgorithm": UnsupportedAlgorithm,
        "serialization": serialization,
        "Ed25519PrivateKey": Ed25519PrivateKey,
        "Ed25519PublicKey": Ed25519PublicKey,
    }
