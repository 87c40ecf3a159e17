"""Forms to correct the choice of topics, of one agency or of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from review.item.forms.base import (
    Form,
    Invalid,
    Option,
    Output,
    Problem,
    parts,
    score_of,
    topic_options,
)
from review.item.sections.said import agency_name


class TopicForm(Form):
    """category_select_v1: topics of the one agency."""

    template = "review/deciding/answering/topics.html"

    @property
    def groups(self) -> list[tuple[str, str, list[Option]]]:
        """One agency with its topics, as (id, name, options)."""
        agencies = [self.desk.answering] if self.desk.answering else []
        return [self._group(agency) for agency in agencies]

    def _group(self, agency: str) -> tuple[str, str, list[Option]]:
        prefix = "score:"
        scores = {
            name.removeprefix(prefix): self.data.get(name, "")
            for name in self.data
            if name.startswith(prefix)
        }
        chosen = self.data.getlist("topic")
        options = topic_options(self.desk, agency, chosen, scores, self._said(agency))
        return agency, agency_name(self.desk.release, agency), options

    def _said(self, agency: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.desk.said.get("categorySelection", {}).get("candidates", {})
        return found

    def candidates(self, agency: str) -> Output:
        """Return ``{key: {value, score}}`` of what was picked for an agency."""
        _, _, options = self._group(agency)
        return {
            (key := parts(option.value)[1]): {
                "value": self.desk.release.categories[agency, key].value,
                "score": score_of(option.score, f"{option.id}-score"),
            }
            for option in options
            if option.checked
        }

    def payload(self) -> Output:
        candidates = self.candidates(self.desk.answering) if self.desk.answering else {}
        if not candidates:
            raise Invalid(Problem(gettext("Choose at least one topic."), self._first_id()))
        return {"categorySelection": {"candidates": candidates}}

    def _first_id(self) -> str:
        return next((o.id for _, _, options in self.groups for o in options), "")

    def field_of(self, path: str) -> str:
        return self._first_id()


class AnalysisForm(TopicForm):
    """semantic_analysis_v1: topics of each agency, and the agency that answers first."""

    template = "review/deciding/answering/topics.html"
    several = True

    @property
    def groups(self) -> list[tuple[str, str, list[Option]]]:
        return [self._group(agency) for agency in self.desk.detected]

    @property
    def primary(self) -> str:
        """The agency that answers first, nothing yet at first."""
        return self.data.get("primary", "")

    def _said(self, agency: str) -> Mapping[str, Any]:
        for entry in self.desk.said.get("semanticAnalysis", {}).get("agencies", []):
            if entry["agencyId"] == agency:
                found: Mapping[str, Any] = entry["categorySelection"]["candidates"]
                return found
        return {}

    def payload(self) -> Output:
        entries = []
        for agency, name, options in self.groups:
            candidates = self.candidates(agency)
            if not candidates:
                first = options[0].id if options else ""
                raise Invalid(
                    Problem(
                        gettext("Choose at least one topic of {agency}.").format(agency=name), first
                    )
                )
            entries.append(
                {
                    "agencyId": agency,
                    "agencyName": name,
                    "categorySelection": {"candidates": candidates},
                }
            )
        if self.primary not in self.desk.detected:
            raise Invalid(Problem(gettext("Choose the agency that answers first."), "primary"))
        primary = {"agencyId": self.primary, "reason": "chosen by a caseworker"}
        return {"semanticAnalysis": {"agencies": entries, "primaryAgency": primary}}

    def field_of(self, path: str) -> str:
        return "primary" if "primaryAgency" in path else self._first_id()
