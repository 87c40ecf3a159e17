"""Sending over TLS: the checked address is called, under the host's own name."""

from __future__ import annotations

import datetime
import socket
import ssl
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings

from conversations.webhooks import sending
from tests.conversations.webhooks.receiving import running_proxy, running_receiver

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


@pytest.mark.parametrize("is_excepted", [False, True])
def test_a_proxy_looks_the_host_up_unless_it_is_excepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_excepted: bool
) -> None:
    context = server_context(tmp_path, monkeypatch, NAME)
    monkeypatch.setattr(settings, "IEIM_PROXY_EXCEPT", ["example.org"] if is_excepted else [])
    with running_proxy() as (proxy, targets), running_receiver(context) as receiver:
        monkeypatch.setattr(settings, "IEIM_PROXY_URL", proxy)
        url = receiver.url.replace("localhost", NAME)
        with pytest.raises(sending.DeliveryError) if is_excepted else nullcontext():
            sending.send(url, private=False, headers={}, body=b"{}")
    assert targets == ([] if is_excepted else [url.split("/")[2]])
    assert len(receiver.requests) == len(targets)


def test_no_proxy_is_asked_for_an_address_that_is_not_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "IEIM_PROXY_EXCEPT", [])
    with running_proxy() as (proxy, targets):
        monkeypatch.setattr(settings, "IEIM_PROXY_URL", proxy)
        with pytest.raises(sending.DeliveryError, match="address"):
            sending.send("https://127.0.0.1:9/", private=False, headers={}, body=b"{}")
    assert targets == []
