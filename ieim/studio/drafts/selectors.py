"""Reading the draft as it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import Bundle, bundle_of
from ieim.knowledge.bundles.columns import COLUMNS, opens
from ieim.knowledge.bundles.questions import folded
from ieim.knowledge.bundles.rows import IDENTITY, Row, Table
from ieim.studio.drafts.translations import with_stale
from ieim.studio.models import DRAFT_MODELS, Agency, DraftEntry, ExampleQuestion, GoldenQuestion

_SHOWN = 5


def draft() -> Bundle:
    """Return the draft, checked like a bundle.

    Raises :class:`ieim.knowledge.bundles.bundle.BundleError`, whose errors name entries where those
    of a bundle name files.
    """
    tables = {table: _draft_rows(table, model) for table, model in DRAFT_MODELS.items()}
    return with_stale(bundle_of(tables, file="draft"))


def agency_names() -> Mapping[str, str]:
    """Return the names of all agencies, by id: the draft's, and those that the release still has.

    Who writes a new agency's services works for it before it is published.
    """
    release = knowledge.current_release()
    published = {agency.id: agency.name for agency in release.agencies.values()} if release else {}
    new = gettext("{name}, not published yet")
    drafted = dict(Agency.objects.order_by("position", "id").values_list("id", "name"))
    names = {pk: published.get(pk) or new.format(name=name) for pk, name in drafted.items()}
    return {**names, **published}


def example_texts() -> frozenset[str]:
    """Return the texts of the draft's example questions, folded."""
    return frozenset(map(folded, ExampleQuestion.objects.values_list("text", flat=True)))


def golden_texts() -> frozenset[str]:
    """Return the texts of the golden questions, folded."""
    texts = GoldenQuestion.objects.values_list("case__text", flat=True)
    return frozenset(map(folded, texts))


def _draft_rows(table: Table, model: type[DraftEntry]) -> list[Row]:
    # "agency" gives the natural id: a foreign key's value is its target's primary key.
    stored = model._default_manager.values(*COLUMNS[table])
    name = model._meta.verbose_name_raw  # a key for programs as well: in no language
    return [Row(f"{name} {entry_name(table, values)}", None, values) for values in stored]


def entry_name(table: Table, values: Mapping[str, Any]) -> str:
    """Return the natural id of a row as a person reads it: its parts, joined by spaces."""
    return " ".join(str(values[column]) for column in IDENTITY[table] if values[column])


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
        message = gettext("{services}: the link does not open. Write the whole address.")
        yield message.format(services=_listed(closed))
    plain = [service for service, url in links if url.lower().startswith("http://")]
    if plain:
        message = gettext("{services}: the link is not encrypted. Use https:// if the site has it.")
        yield message.format(services=_listed(plain))
    for url, services in users.items():
        if len(services) > 1:
            message = gettext("{services} have the same link, {url}. Is that right?")
            yield message.format(services=_listed(services), url=url[:200])


def _listed(services: list[str]) -> str:
    few, remaining = ", ".join(services[:_SHOWN]), len(services) - _SHOWN
    if remaining <= 0:
        return few
    message = ngettext("{services} and {count} more", "{services} and {count} more", remaining)
    return message.format(services=few, count=f"{remaining:,}")
