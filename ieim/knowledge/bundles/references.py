"""References between rows: what they may name, in a bundle or in the draft."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ieim.knowledge.bundles.situations import parts
from ieim.pipeline.knowledge import NO_NEXT


def gettext_noop(sentence: str) -> str:
    """Mark a sentence for translation; Django's own function needs settings."""
    return sentence


class Dangling(NamedTuple):
    """A reference of ``column`` to what is not there; ``sentence`` takes ``names``."""

    column: str
    sentence: str
    names: Mapping[str, str]

    def __str__(self) -> str:
        return self.sentence.format(**self.names)


@dataclass
class References:
    """What rows may refer to, by natural id; None for a table that is not known."""

    agencies: Collection[str] | None = None
    categories: Collection[tuple[str, str]] | None = None
    services: Collection[tuple[str, str]] | None = None
    flags: Collection[str] | None = None
    situations: Collection[str] | None = None

    @cached_property
    def _service_references(self) -> frozenset[str]:
        return frozenset("/".join(pair) for pair in self.services or ())

    def dangling(self, values: Mapping[str, Any]) -> Iterator[Dangling]:
        """Yield every reference of a row's columns to what is not there."""
        yield from self._dangling_names(values)
        agency = values.get("agency")
        if not agency:
            return
        if self.agencies is not None and agency not in self.agencies:
            message = gettext_noop("agency {agency} is not among the agencies")
            yield Dangling("agency", message, _shown(agency=agency))
            return
        if self.categories is not None:
            keys = [("categories", key) for key in values.get("categories", ())]
            for column, key in (*keys, ("category", values.get("category"))):
                if key and (agency, key) not in self.categories:
                    message = gettext_noop("category {key} is not in the dictionary of {agency}")
                    yield Dangling(column, message, _shown(key=key, agency=agency))
        service = values.get("service")
        if service and self.services is not None and (agency, service) not in self.services:
            message = gettext_noop("service {key} is not among the services of {agency}")
            yield Dangling("service", message, _shown(key=service, agency=agency))

    def _dangling_names(self, values: Mapping[str, Any]) -> Iterator[Dangling]:
        """Yield the references that stand alone, without an agency in another column."""
        flag, situation = values.get("flag"), values.get("situation")
        if flag and self.flags is not None and flag not in self.flags:
            message = gettext_noop("flag {flag} is not among the labels of risk_flags")
            yield Dangling("flag", message, _shown(flag=flag))
        if situation and self.situations is not None and situation not in self.situations:
            message = gettext_noop("situation {key} is not among the situations")
            yield Dangling("situation", message, _shown(key=situation))
        if self.services is None:
            return
        for name in values.get("next_services", ()):
            if name != NO_NEXT and name not in self._service_references:
                message = f"service {{name}} is not there: write agency/key, or {NO_NEXT}"
                yield Dangling("next_services", message, _shown(name=name))
        for name, _ in map(parts, values.get("services", ())):
            if "/" in name and name not in self._service_references:
                message = gettext_noop("service {name} is not there: write agency/key")
                yield Dangling("services", message, _shown(name=name))


def _shown(**names: str) -> dict[str, str]:
    return {name: repr(text[:200]) for name, text in names.items()}
