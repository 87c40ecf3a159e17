"""The current release as schema.org JSON-LD: GovernmentService, GovernmentOrganization.

Originals have no language tag, translations have one: a release does not say which language its
originals are in. The mapping is in docs/standards.md; what it carries is read back to the same
entries by :mod:`ieim.studio.standards.reading.government`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

from ieim.pipeline.knowledge import Agency, Category, Release, Service, Translation

CONTEXT = "https://schema.org"
JSONLD: TypeAlias = dict[str, Any]

_Texts: TypeAlias = Mapping[tuple[str, str, str], list[Translation]]


def release_json_ld(release: Release, base: str) -> JSONLD:
    """Return a release as one document; ``base`` is the site's address without a slash at its end.

    The order is that of the index: agencies, dictionaries, services.
    """
    writing = _Writing(release, base)
    graph = [writing.agency(agency) for agency in release.agencies.values()]
    for agency, categories in release.categories_by_agency.items():
        graph.extend(writing.dictionary(agency, categories))
    graph.extend(writing.service(service) for service in release.services.values())
    return {"@context": CONTEXT, "@graph": graph}


def service_json_ld(release: Release, service: Service, base: str) -> JSONLD:
    """Return one service with its agency and its categories as a document of its own."""
    writing = _Writing(release, base)
    chosen = [release.categories[service.agency, key] for key in service.categories]
    return {
        "@context": CONTEXT,
        "@graph": [
            writing.agency(release.agencies[service.agency]),
            *writing.dictionary(service.agency, chosen),
            writing.service(service),
        ],
    }


def segment(identifier: str) -> str:
    """Return an id as one part of a path: a slash in it is ``~1``, a tilde ``~0``."""
    return identifier.replace("~", "~0").replace("/", "~1")


def identifier_of(part: str) -> str:
    """Return the id that :func:`segment` made ``part`` of."""
    return part.replace("~1", "/").replace("~0", "~")


class _Writing:
    def __init__(self, release: Release, base: str) -> None:
        self._base = base
        grouped: dict[tuple[str, str, str], list[Translation]] = {}
        for translation in release.translations:
            key = (translation.agency, translation.category, translation.service)
            grouped.setdefault(key, []).append(translation)
        self._texts: _Texts = grouped

    def agency(self, agency: Agency) -> JSONLD:
        texts = self._texts.get((agency.id, "", ""), [])
        return _without_blanks(
            {
                "@type": "GovernmentOrganization",
                "@id": self._agency_id(agency.id),
                "identifier": agency.id,
                "name": _tagged(agency.name, texts, "name"),
                "description": _tagged(agency.description, texts, "description"),
                **_page(agency.path),
            }
        )

    def dictionary(self, agency: str, categories: Iterable[Category]) -> list[JSONLD]:
        found = [self._category(category) for category in categories]
        if found:
            ours = {"@id": self._agency_id(agency)}
            found.append(
                {"@type": "CategoryCodeSet", "@id": self._set_id(agency), "publisher": ours}
            )
        return found

    def _category(self, category: Category) -> JSONLD:
        texts = self._texts.get((category.agency, category.key, ""), [])
        keywords: list[Any] = list(category.keywords)
        for translation in texts:
            keywords.extend(_text(word, translation.language) for word in translation.keywords)
        return _without_blanks(
            {
                "@type": "CategoryCode",
                "@id": self._category_id(category.agency, category.key),
                "codeValue": category.key,
                "name": _tagged(category.value, texts, "name"),
                "alternateName": keywords,
                "inCodeSet": {"@id": self._set_id(category.agency)},
            }
        )

    def service(self, service: Service) -> JSONLD:
        texts = self._texts.get((service.agency, "", service.key), [])
        audience = _tagged(service.applicability_summary, texts, "applicability_summary")
        contact = _tagged(service.contact, texts, "contact")
        channel = _without_blanks(
            {
                "@type": "ServiceChannel",
                "serviceUrl": service.url,
                "processingTime": _tagged(service.processing_time, texts, "processing_time"),
                "servicePhone": {"@type": "ContactPoint", "description": contact}
                if contact
                else "",
            }
        )
        described: list[tuple[str, Service | Translation]] = [
            ("", service),
            *((text.language, text) for text in texts),
        ]
        how_to = [
            _how_to(each.requirements, each.how_to_apply, language)
            for language, each in described
            if each.requirements or each.how_to_apply
        ]
        agency, key = quote(segment(service.agency), safe=""), quote(segment(service.key), safe="")
        return _without_blanks(
            {
                "@type": "GovernmentService",
                "@id": f"{self._base}/services/{agency}/{key}.jsonld",
                "identifier": service.key,
                "name": _tagged(service.name, texts, "name"),
                "description": _tagged(service.overview, texts, "overview"),
                **_page(service.path),
                "provider": {"@id": self._agency_id(service.agency)},
                "audience": {"@type": "Audience", "audienceType": audience} if audience else "",
                "category": [
                    {"@id": self._category_id(service.agency, key)} for key in service.categories
                ],
                "feesAndCommissionsSpecification": _tagged(service.fees, texts, "fees"),
                "availableChannel": channel if len(channel) > 1 else "",
                "subjectOf": how_to,
            }
        )

    def _agency_id(self, agency: str) -> str:
        return f"{self._base}/services.jsonld#{quote(agency, safe='')}"

    def _set_id(self, agency: str) -> str:
        return f"{self._agency_id(agency)}/categories"

    def _category_id(self, agency: str, key: str) -> str:
        return f"{self._set_id(agency)}/{quote(key, safe='')}"


def _how_to(requirements: Iterable[str], steps: Iterable[str], language: str) -> JSONLD:
    return _without_blanks(
        {
            "@type": "HowTo",
            "inLanguage": language,
            "supply": [{"@type": "HowToSupply", "name": each} for each in requirements],
            "step": [
                {"@type": "HowToStep", "position": place, "text": step}
                for place, step in enumerate(steps, start=1)
            ],
        }
    )


def _page(path: str) -> JSONLD:
    """Return a path: a page's address, or where it is to be found in words."""
    if path.lower().startswith(("http://", "https://")):
        return {"url": path}
    return {"mainEntityOfPage": {"@type": "WebPage", "breadcrumb": path} if path else ""}


def _tagged(original: str, translations: Iterable[Translation], column: str) -> Any:
    """Return a text with its translations: a string alone, or a list whose first is untagged."""
    texts = [(getattr(each, column), each.language) for each in translations]
    found: list[Any] = [original] if original.strip() else []
    found.extend(_text(text, language) for text, language in texts if text.strip())
    return found[0] if len(found) == 1 else found


def _text(text: str, language: str) -> JSONLD:
    return {"@language": language, "@value": text}


def _without_blanks(values: Mapping[str, Any]) -> JSONLD:
    return {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in values.items()
        if value not in ("", []) and not (isinstance(value, str) and not value.strip())
    }
