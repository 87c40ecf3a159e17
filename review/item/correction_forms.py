"""Forms to correct a stage's answer: one for each contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from ieim.pipeline.findings import pointer
from ieim.pipeline.knowledge import Label
from ieim.pipeline.reply.cards import SECTIONS
from review.item.forms import (
    SURE,
    Form,
    Invalid,
    Option,
    Output,
    Problem,
    chosen_services,
    parts,
    picked,
    score_of,
    services,
    topic_options,
)
from review.item.outputs import agency_name

GUIDANCE_ID, SERVICE_ID, ANSWER_ID = "guidance", "service-words", "answer"


class JudgementForm(Form):
    """judgement_v1: is it a question for a public service, and if not, what helps on."""

    template = "review/deciding/answering/judgement.html"

    @property
    def inquiry(self) -> str:
        """``yes``, ``no`` or nothing yet."""
        return self.data.get("inquiry", "")

    @property
    def guidance(self) -> str:
        """The words for the citizen: what was typed, at first what the model said."""
        if self.posted:
            return self.text("guidance")
        return self.desk.said.get("assistantReply") or ""

    def payload(self) -> Output:
        if self.inquiry not in ("yes", "no"):
            raise Invalid(
                Problem(gettext("Say whether it is a question for a public service."), "inquiry")
            )
        if self.inquiry == "yes":
            return {"judgements": {"inquiry": True}, "assistantReply": None}
        if not self.guidance:
            raise Invalid(Problem(gettext("Write what the citizen is told instead."), GUIDANCE_ID))
        return {"judgements": {"inquiry": False}, "assistantReply": self.guidance}

    def field_of(self, path: str) -> str:
        return GUIDANCE_ID if path.startswith("/assistantReply") else "inquiry"


class AgencyForm(Form):
    """agency_detect_v1: one agency, or several."""

    template = "review/deciding/answering/agencies.html"
    FIRST = 6

    @property
    def options(self) -> list[Option]:
        """Every agency of the release, what fits the message first."""
        release = self.desk.release
        chosen = self.data.getlist("agency")
        said = self.desk.said.get("judgements", {}).get("agencyDetected", [])
        given = {agency["agencyId"] for agency in self.desk.given.get("agencies", [])}
        ranked = self.desk.index.agencies(self.desk.turn.text, limit=len(release.agencies))
        return [
            Option(
                value=each.item.id,
                id=f"agency-{place}",
                name=each.item.name,
                hint=each.item.description,
                checked=each.item.id in chosen,
                by_model=each.item.id in said,
                offered=each.item.id in given if given else None,
            )
            for place, each in enumerate(ranked)
        ]

    @property
    def first(self) -> list[Option]:
        """The agencies that are shown at once."""
        return [o for i, o in enumerate(self.options) if i < self.FIRST or o.checked or o.by_model]

    @property
    def others(self) -> list[Option]:
        """All others."""
        return [o for o in self.options if o not in self.first]

    def payload(self) -> Output:
        known = [a for a in self.data.getlist("agency") if a in self.desk.release.agencies]
        if not known:
            raise Invalid(
                Problem(gettext("Choose the agency that the question is for."), "agency-0")
            )
        agencies = [self.desk.release.agencies[agency] for agency in known]
        return {
            "judgements": {
                "agencyDetected": known,
                "agencyInfo": [
                    {
                        "agencyId": agency.id,
                        "name": agency.name,
                        "path": agency.path,
                        "description": agency.description,
                    }
                    for agency in agencies
                ],
                "agencyCount": len(known),
                "complexity": "low" if len(known) == 1 else "high",
            }
        }

    def field_of(self, path: str) -> str:
        return "agency-0"


class ServiceForm(Form):
    """service_select_v1: the service that answers."""

    template = "review/deciding/answering/service.html"
    input_name = "service"
    input_type = "radio"

    @property
    def words(self) -> str:
        """What was searched for."""
        return self.text("service-words")

    @property
    def options(self) -> list[Option]:
        """Services of the agency that answers."""
        agency = self.desk.answering
        key = self.desk.said.get("serviceSelection", {}).get("serviceKey", "")
        return services(
            self.desk,
            name=self.input_name,
            words=self.words,
            chosen=self.data.getlist(self.input_name),
            agencies=[agency] if agency else [],
            said=[(agency or "", key)],
        )

    def payload(self) -> Output:
        service = picked(self.desk, self.data.get("service", ""))
        if service is None:
            raise Invalid(
                Problem(gettext("Choose the service that answers the question."), SERVICE_ID)
            )
        asked = [f"service_{name}" for name in SECTIONS if getattr(service, name)]
        return {
            "serviceSelection": {
                "serviceKey": service.key,
                "name": service.name,
                "path": service.path,
                "matchedField": "name",
                "score": SURE,
            },
            "template": {
                "placeholders": {key: f"{{{key}}}" for key in ("service_name", *asked)},
                "rules": "Name the service, then give all that its entry says.",
            },
        }

    def field_of(self, path: str) -> str:
        return SERVICE_ID


class AnswerForm(Form):
    """multi_agency_service_answer_v1: the text, and the services that it stands on."""

    template = "review/deciding/answering/answer.html"
    input_name = "source"
    input_type = "checkbox"

    @property
    def answer(self) -> str:
        """What was typed, at first what the model wrote."""
        return self.text("answer") if self.posted else self.desk.said.get("assistantReply", "")

    @property
    def words(self) -> str:
        """What was searched for."""
        return self.text("source-words")

    @property
    def options(self) -> list[Option]:
        """Services of the agencies found."""
        said = [(s["agencyId"], s["serviceKey"]) for s in self.desk.said.get("sourcesUsed", [])]
        return services(
            self.desk,
            name=self.input_name,
            words=self.words,
            chosen=self.data.getlist(self.input_name),
            agencies=self.desk.detected,
            said=said,
        )

    def payload(self) -> Output:
        problems = []
        cited = chosen_services(self.desk, self.data.getlist(self.input_name), "source-words")
        if not self.answer:
            problems.append(Problem(gettext("Write the answer."), ANSWER_ID))
        if not cited:
            problems.append(
                Problem(gettext("Choose the services that the answer uses."), "source-words")
            )
        if problems:
            raise Invalid(*problems)
        sources = [{"agencyId": s.agency, "serviceKey": s.key, "path": s.path} for s in cited]
        return {"assistantReply": self.answer, "sourcesUsed": sources}

    def field_of(self, path: str) -> str:
        return "source-words" if path.startswith("/sourcesUsed") else ANSWER_ID


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


SPARE_ROWS = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a form: a label, a value where the contract has one, and the words quoted.

    ``id`` is the beginning of the HTML ids of its fields; ``said`` are the label's name and the
    words of the model's answer where they were wrong, so that they are not filled in.
    """

    id: str
    label: str
    value: str
    quote: str
    said: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing was filled in."""
        return not (self.label or self.value or self.quote)


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the same label set. ``codes`` are (code, name); ``by_value`` asks for a value."""

    name: str
    title: str
    codes: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    by_value: bool = False
    optional: bool = False


class RowForm(Form):
    """What the three forms share: rows that are posted as parallel lists."""

    template = "review/deciding/answering/rows.html"

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of rows in their order."""
        raise NotImplementedError

    def _group(
        self,
        name: str,
        title: str,
        label_set: str,
        said: Sequence[tuple[str, str, str, str]],
        *,
        most: int = 0,
        by_value: bool = False,
        optional: bool = False,
    ) -> Group:
        labels: Mapping[str, Label] = self.desk.release.labels.get(label_set, {})
        rows = self._of_model(name, said, labels)
        total = max(1, len(rows)) if most else len(rows) + SPARE_ROWS
        rows += [Row(f"{name}-{i}", "", "", "") for i in range(len(rows), total)]
        if self.posted:
            rows = self._posted(name, rows)
        codes = tuple((label.code, label.name) for label in labels.values())
        return Group(name, title, codes, tuple(rows), by_value, optional)

    def _posted(self, name: str, rows: Sequence[Row]) -> list[Row]:
        """Return the rows as they were filled in; what the model said stays beside them."""
        labels, quotes, values = (
            self.data.getlist(f"{name}-{part}") for part in ("label", "quote", "value")
        )
        return [
            replace(
                row,
                label=_nth(labels, i),
                value=_nth(values, i).strip(),
                quote=_nth(quotes, i).strip(),
            )
            for i, row in enumerate(rows)
        ]

    def _of_model(
        self, name: str, said: Iterable[tuple[str, str, str, str]], labels: Mapping[str, Label]
    ) -> list[Row]:
        """Return the model's elements (path, label, value, quote): what was right is filled in."""
        rows = []
        for i, (path, label, value, quote) in enumerate(said):
            if not any(wrong == path or wrong.startswith(f"{path}/") for wrong in self.desk.wrong):
                rows.append(Row(f"{name}-{i}", label, value, quote))
                continue
            words = labels[label].name if label in labels else label
            model = " · ".join(filter(None, (words, value, f"“{quote}”" if quote else "")))
            rows.append(Row(f"{name}-{i}", "", "", "", model))
        return rows

    def filled(self, group: Group) -> list[Row]:
        """Return the rows that say something; raises :class:`Invalid` for half a row."""
        rows = [row for row in group.rows if not row.empty]
        problems = list(_half(group, rows))
        if not rows and not group.optional:
            problems.append(
                Problem(
                    gettext("Choose for “{title}”, with words of the message.").format(
                        title=group.title
                    ),
                    f"{group.name}-0-label",
                )
            )
        if problems:
            raise Invalid(*problems)
        return rows

    def field_of(self, path: str) -> str:
        names = path.split("/")
        place = names[2] if len(names) > 2 and names[2].isdigit() else "0"
        for group in self.groups:
            if names[1:2] == [group.name]:
                part = "quote" if "evidence_snippets" in path else "label"
                part = "value" if names[-1] in ("value_redacted", "key_value") else part
                return f"{group.name}-{place}-{part}"
        return f"{self.groups[0].name}-0-label"


def _nth(values: Sequence[str], index: int) -> str:
    return values[index] if index < len(values) else ""


def _half(group: Group, rows: Iterable[Row]) -> Iterator[Problem]:
    for row in rows:
        if not row.label:
            said = gettext("Choose a label for “{words}”.").format(words=row.quote or row.value)
            yield Problem(said, f"{row.id}-label")
        if not row.quote:
            said = gettext("Say which words show it ({title}).").format(title=group.title)
            yield Problem(said, f"{row.id}-quote")


def _elements(said: Any, name: str, label: str, value: str = "") -> list[tuple[str, str, str, str]]:
    """Return (path, label, value, first quote) of a list, or of one element, of an answer."""
    found = said.get(name, [])
    listed = found if isinstance(found, list) else [found]
    return [
        (
            pointer(name, i) if isinstance(found, list) else pointer(name),
            each[label],
            each.get(value, ""),
            (each["evidence_snippets"] or [""])[0],
        )
        for i, each in enumerate(listed)
    ]


class ClassifyForm(RowForm):
    """classify: what the citizen wants, about what, how urgent, and what is risky."""

    @property
    def groups(self) -> tuple[Group, ...]:
        said = {name: _elements(self.desk.said, name, "label") for name in self.NAMES}
        return (
            self._group("intents", gettext("What the citizen wants"), "intents", said["intents"]),
            self._group(
                "product_line",
                gettext("What it is about"),
                "product_lines",
                said["product_line"],
                most=1,
            ),
            self._group(
                "urgency", gettext("How urgent it is"), "urgencies", said["urgency"], most=1
            ),
            self._group(
                "risk_flags",
                gettext("Risks, if there are any"),
                "risk_flags",
                said["risk_flags"],
                optional=True,
            ),
        )

    NAMES = ("intents", "product_line", "urgency", "risk_flags")

    def payload(self) -> Output:
        intents, line, urgency, risks = map(self.filled, self.groups)
        return {
            "intents": [_label(row) for row in intents],
            "primary_intent": intents[0].label,
            "product_line": _label(line[0]),
            "urgency": _label(urgency[0]),
            "risk_flags": [_label(row) for row in risks],
        }


class ExtractForm(RowForm):
    """extract: facts of the message."""

    @property
    def groups(self) -> tuple[Group, ...]:
        said = _elements(self.desk.said, "entities", "entity_type", "value_redacted")
        return (
            self._group(
                "entities", gettext("Facts"), "entity_types", said, by_value=True, optional=True
            ),
        )

    def payload(self) -> Output:
        return {
            "entities": [
                {
                    "entity_type": row.label,
                    "value_redacted": row.value or row.quote,
                    "confidence": SURE,
                    "evidence_snippets": [row.quote],
                }
                for row in self.filled(self.groups[0])
            ]
        }


class IdentityForm(RowForm):
    """identity_assist: numbers and names that lead to a person or a case."""

    @property
    def groups(self) -> tuple[Group, ...]:
        said = _elements(self.desk.said, "keys", "key_type", "key_value")
        return (
            self._group(
                "keys",
                gettext("Numbers and names"),
                "key_types",
                said,
                by_value=True,
                optional=True,
            ),
        )

    def payload(self) -> Output:
        return {
            "keys": [
                {
                    "key_type": row.label,
                    "key_value": row.value or row.quote,
                    "evidence_snippets": [row.quote],
                }
                for row in self.filled(self.groups[0])
            ]
        }


def _label(row: Row) -> Output:
    return {"label": row.label, "confidence": SURE, "evidence_snippets": [row.quote]}
