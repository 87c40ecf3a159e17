"""What to look at again among the links of services: no reason to stop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
        yield f"{_listed(closed)}: the link does not open. Write the whole address."
    plain = [service for service, url in links if url.lower().startswith("http://")]
    if plain:
        yield f"{_listed(plain)}: the link is not encrypted. Use https:// if the site has it."
    for url, services in users.items():
        if len(services) > 1:
            yield f"{_listed(services)} have the same link, {url[:200]}. Is that right?"


def _listed(services: list[str]) -> str:
    more = f" and {len(services) - _SHOWN:,} more" if len(services) > _SHOWN else ""
    return ", ".join(services[:_SHOWN]) + more
