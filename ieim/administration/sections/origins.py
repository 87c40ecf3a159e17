"""The origin of another site, as its administration writes it and as browsers say it."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address

import idna
from django.utils.translation import gettext, gettext_noop

from ieim.administration.sections.checks import Wrong

_WRITTEN = re.compile(r"(https?)://([^\s/?#@:\\\[\]]{1,255})(?::([0-9]{1,5}))?", re.IGNORECASE)
_USUAL = {"https": 443, "http": 80}
_NO_HOST = gettext_noop(
    "“{typed}” has no name of a host. Write one such as https://www.example.org, without a path, "
    "a star or a password."
)


def origin(typed: str) -> str:
    """Return an origin as browsers compare it: lower case, punycode, without the usual port."""
    shown = typed[:60].encode("ascii", "backslashreplace").decode()
    found = _WRITTEN.fullmatch(typed)
    if found is None:
        told = gettext(
            "“{typed}” is no origin of a site. Write one such as https://www.example.org, without "
            "a path, a star or a password."
        )
        raise Wrong(told.format(typed=shown))
    scheme, host, port = found[1].lower(), _host(found[2], shown), found[3]
    if scheme == "http" and not _is_loopback(host):
        told = gettext("“{typed}” is not encrypted. Write https:// and see that the site has it.")
        raise Wrong(told.format(typed=shown))
    number = int(port) if port else _USUAL[scheme]
    if not 0 < number < 65536:
        told = gettext("“{typed}” has no port that there is. Write one up to 65535, or none.")
        raise Wrong(told.format(typed=shown))
    return f"{scheme}://{host}" + ("" if number == _USUAL[scheme] else f":{number}")


def _host(written: str, shown: str) -> str:
    try:
        host = idna.encode(written, uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise Wrong(gettext(_NO_HOST).format(typed=shown)) from error
    last = host.rpartition(".")[2]
    # Browsers read a name that ends in a number as an address, however it is written.
    if not last or last.isdecimal() or last.startswith("0x"):
        try:
            return str(IPv4Address(host))
        except AddressValueError as error:
            raise Wrong(gettext(_NO_HOST).format(typed=shown)) from error
    return host


def _is_loopback(host: str) -> bool:
    try:
        return IPv4Address(host).is_loopback
    except AddressValueError:
        return host == "localhost" or host.endswith(".localhost")
