"""What to look at again among the links of services: no reason to stop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.utils.translation import gettext, ngettext

from ieim.knowledge.bundles.columns import opens

_SHOWN = 5


def link_warnings(
    links: Iterable[tuple[str, str]], others: Iterable[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield a sentence for every link that does not open, is not encrypted, or stands twice.

    ``links`` are ``(service, url)``; ``others`` are the services beside them, which are looked at
    for the same link only. A blank link is none.
    """
    links = [(service, url) for service, url in links if url]
    users: dict[str, list[str]] = {url: [] for _, url in links}
    for service, url in [*links, *others]:
        if url in users and service not in users[url]:
            users[url].append(service)
    closed = [service for service, url in links if not opens(url)]
    if closed:
        told = gettext("{services}: the link does not open. Write the whole address.")
        yield told.format(services=_listed(closed))
    plain = [service for service, url in links if url.lower().startswith("http://")]
    if plain:
        told = gettext("{services}: the link is not encrypted. Use https:// if the site has it.")
        yield told.format(services=_listed(plain))
    for url, services in users.items():
        if len(services) > 1:
            told = gettext("{services} have the same link, {url}. Is that right?")
            yield told.format(services=_listed(services), url=url[:200])


def _listed(services: list[str]) -> str:
    few, rest = ", ".join(services[:_SHOWN]), len(services) - _SHOWN
    if rest <= 0:
        return few
    told = ngettext("{services} and {count} more", "{services} and {count} more", rest)
    return told.format(services=few, count=f"{rest:,}")
