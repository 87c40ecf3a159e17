"""Sending over TLS: the checked address is called, under the host's own name."""

from __future__ import annotations

import datetime
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings

from conversations.webhooks import sending
from tests.conversations.webhooks.receiving import running_receiver

NAME = "channel.example.org"


def server_context(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> ssl.SSLContext:
    """Return the context of a server with a self-signed certificate that the client trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    client = ssl.create_default_context(cafile=path)
    monkeypatch.setattr(sending, "_ssl_context", lambda: client)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server


@pytest.mark.parametrize("name", ["localhost", "other.example.org"])
def test_the_certificate_has_to_be_the_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(settings, "PRODUCTION", True)
    with running_receiver(server_context(tmp_path, monkeypatch, name)) as receiver:
        if name == "localhost":
            sending.send(receiver.url, private=True, headers={}, body=b"{}")
            assert receiver.requests[0][0]["host"] == receiver.url.split("/")[2]
        else:
            with pytest.raises(sending.DeliveryError, match="connection"):
                sending.send(receiver.url, private=True, headers={}, body=b"{}")
            assert receiver.requests == []


def test_a_host_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    getaddrinfo, lookups = socket.getaddrinfo, []

    def lookup(host: Any, *args: Any, **options: Any) -> Any:
        if host not in (NAME, NAME.encode()):
            return getaddrinfo(host, *args, **options)
        lookups.append(host)
        return getaddrinfo("127.0.0.1", *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with running_receiver(server_context(tmp_path, monkeypatch, NAME)) as receiver:
        url = receiver.url.replace("localhost", NAME)
        sending.send(url, private=True, headers={}, body=b"{}")
    assert receiver.requests[0][0]["host"] == url.split("/")[2]
    assert len(lookups) == 1
