"""Whose address a request or a socket comes from."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import RequestFactory

from ieim.people import addresses

PEER = "192.0.2.1"


def client_address(monkeypatch: pytest.MonkeyPatch, hops: int, peer: str, *forwarded: str) -> str:
    """The address of a request, which is that of a socket with the same headers."""
    monkeypatch.setattr(settings, "IEIM_TRUSTED_PROXIES", hops)
    headers = {"X-Forwarded-For": ",".join(forwarded)} if forwarded else {}
    request = RequestFactory().get("/", REMOTE_ADDR=peer, headers=headers)
    raw_headers = [(b"x-forwarded-for", name.encode("latin-1")) for name in forwarded]
    scope = {"client": (peer, 5000), "headers": [(b"host", b"ask.example.org"), *raw_headers]}
    assert addresses.of_request(request) == addresses.of_scope(scope)
    return addresses.of_request(request)


@pytest.mark.parametrize(
    ("hops", "forwarded", "expected"),
    [
        (0, (), PEER),
        (0, ("198.51.100.1",), PEER),
        (0, ("198.51.100.1, 198.51.100.2",), PEER),
        (1, (), PEER),
        (1, ("198.51.100.1",), "198.51.100.1"),
        (1, ("203.0.113.9, 198.51.100.1",), "198.51.100.1"),
        (1, ("203.0.113.9", "198.51.100.1"), "198.51.100.1"),
        (2, ("203.0.113.9, 198.51.100.1, 10.0.0.1",), "198.51.100.1"),
        (2, ("198.51.100.1",), PEER),
        (1, ("203.0.113.9, made up",), PEER),
        (1, ("203.0.113.9,",), PEER),
        (1, ("198.51.100.1:443",), "198.51.100.1"),
        (1, ("[2001:db8:1:2:3::4]:443",), "2001:db8:1:2::"),
    ],
)
def test_it_believes_as_many_proxies_as_there_are(
    monkeypatch: pytest.MonkeyPatch, hops: int, forwarded: tuple[str, ...], expected: str
) -> None:
    assert client_address(monkeypatch, hops, PEER, *forwarded) == expected


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:0DB8:1:2::9", "2001:db8:1:2::"),
        ("2001:db8:1:3::9", "2001:db8:1:3::"),
        ("::ffff:192.0.2.1", PEER),
        ("fe80::1%eth0", "fe80::"),
        ("", ""),
        ("unix", ""),
    ],
)
def test_it_counts_a_customers_addresses_as_one(
    monkeypatch: pytest.MonkeyPatch, peer: str, expected: str
) -> None:
    assert client_address(monkeypatch, 0, peer) == expected


def test_an_ipv6_address_counts_for_its_48_too() -> None:
    assert addresses.counted_as(PEER) == [(PEER, 1)]
    assert addresses.counted_as("") == [("", 1)]
    narrow = "2001:db8:1:2::"
    assert addresses.counted_as(narrow) == [(narrow, 1), ("2001:db8:1::/48", addresses.WIDE)]


def test_a_socket_may_have_no_peer() -> None:
    assert addresses.of_scope({"headers": [], "client": None}) == ""
