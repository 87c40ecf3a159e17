"""References between rows: what they may name, in a bundle or in the draft."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ieim.knowledge.bundles.situations import parts
from ieim.pipeline.knowledge import NO_NEXT


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

    def dangling(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the column and a sentence for every reference of a row to what is not there."""
        yield from self._dangling_names(values)
        agency = values.get("agency")
        if not agency:
            return
        if self.agencies is not None and agency not in self.agencies:
            yield "agency", f"agency {agency[:200]!r} is not among the agencies"
            return
        if self.categories is not None:
            keys = [("categories", key) for key in values.get("categories", ())]
            for column, key in (*keys, ("category", values.get("category"))):
                if key and (agency, key) not in self.categories:
                    position = f"in the dictionary of {agency[:200]!r}"
                    yield column, f"category {key[:200]!r} is not {position}"
        service = values.get("service")
        if service and self.services is not None and (agency, service) not in self.services:
            position = f"among the services of {agency[:200]!r}"
            yield "service", f"service {service[:200]!r} is not {position}"

    def _dangling_names(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the references that need no agency in another column."""
        flag, situation = values.get("flag"), values.get("situation")
        if flag and self.flags is not None and flag not in self.flags:
            yield "flag", f"flag {flag[:200]!r} is not among the labels of risk_flags"
        if situation and self.situations is not None and situation not in self.situations:
            yield "situation", f"situation {situation[:200]!r} is not among the situations"
        if self.services is None:
            return
        for name in values.get("next_services", ()):
            if name != NO_NEXT and name not in self._service_references:
                advice = f"write agency/key, or {NO_NEXT}"
                yield "next_services", f"service {name[:200]!r} is not there: {advice}"
        for column in ("services", "conditions"):
            for name, _ in map(parts, values.get(column, ())):
                if "/" in name and name not in self._service_references:
                    yield column, f"service {name[:200]!r} is not there: write agency/key"
