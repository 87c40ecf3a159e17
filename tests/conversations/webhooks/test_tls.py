"""What is sent over TLS: the address that was looked at is called, by the host's own name."""

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
from tests.conversations.webhooks.receiving import receiver

NAME = "channel.example.org"


def certificate(folder: Path, name: str) -> Path:
    """A certificate for a host that vouches for itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(own)
        .issuer_name(own)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = folder / f"{name}.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.mark.parametrize("name", ["localhost", "other.example.org"])
def test_the_certificate_has_to_be_the_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(settings, "PRODUCTION", True)
    path = certificate(tmp_path, name)
    monkeypatch.setattr(sending, "_trusted", lambda: ssl.create_default_context(cafile=path))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    with receiver(server) as listening:
        if name == "localhost":
            sending.send(listening.url, private=True, headers={}, body=b"{}")
            assert listening.got[0][0]["host"] == listening.url.split("/")[2]
        else:
            with pytest.raises(sending.Failed, match="connection"):
                sending.send(listening.url, private=True, headers={}, body=b"{}")
            assert listening.got == []


def test_a_name_that_leads_elsewhere_the_next_time_is_called_where_it_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = certificate(tmp_path, NAME)
    monkeypatch.setattr(sending, "_trusted", lambda: ssl.create_default_context(cafile=path))
    looked_up, asked = socket.getaddrinfo, []

    def once(host: Any, *more: Any, **options: Any) -> Any:
        if host not in (NAME, NAME.encode()):
            return looked_up(host, *more, **options)
        asked.append(host)
        if len(asked) > 1:
            raise socket.gaierror("it leads elsewhere now")
        return looked_up("127.0.0.1", *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", once)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    with receiver(server) as listening:
        url = listening.url.replace("localhost", NAME)
        sending.send(url, private=True, headers={}, body=b"{}")
        assert listening.got[0][0]["host"] == url.split("/")[2]
    assert len(asked) == 1
