"""Forms to correct a stage's answer: one for each contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from ieim.pipeline.findings import pointer, steps
from ieim.pipeline.gate.gate import MINIMUM_SCORE
from ieim.pipeline.knowledge import Agency, Service
from ieim.pipeline.reply.cards import SECTIONS
from ieim.pipeline.stages.triage import INTENTS
from review.item.base_forms import (
    VALUES,
    ActionForm,
    FormContext,
    Option,
    Output,
    Problem,
    ServicePicker,
    TextField,
)
from review.labels import agency_name

SURE = Decimal("1.00")
"""The score of what a person picks without a number."""
MAX_TOPICS = 60
FIRST_AGENCIES = 6
"""The number of agencies that are shown at once; the others are behind a heading."""
SPARE_ROWS = 2


class JudgementForm(ActionForm):
    """judgement_v1: whether it is a question for a public service, and if not, what helps."""

    template = "review/deciding/_answers.html#judgement"
    answer_fields = {"guidance": "assistantReply"}
    inquiry = forms.CharField(required=False)
    guidance = TextField(required=False)

    def clean_inquiry(self) -> Any:
        inquiry = self.cleaned_data["inquiry"]
        if inquiry not in ("yes", "no"):
            raise ValidationError(gettext("Say whether it is a question for a public service."))
        return inquiry

    def clean_guidance(self) -> Any:
        guidance = self.cleaned_data["guidance"]
        if self.cleaned_data.get("inquiry") == "no" and not guidance:
            raise ValidationError(gettext("Write what the citizen is told instead."))
        return guidance

    def payload(self) -> Output:
        is_inquiry = self.cleaned_data["inquiry"] == "yes"
        guidance = None if is_inquiry else self.cleaned_data["guidance"]
        return {"judgements": {"inquiry": is_inquiry}, "assistantReply": guidance}

    def field_of(self, path: str) -> str:
        return "guidance" if path.startswith("/assistantReply") else "inquiry"


class AgencyForm(ActionForm):
    """agency_detect_v1: one agency, or several."""

    template = "review/deciding/_answers.html#agencies"
    error_ids = {"agency": "agency-0"}
    agency = VALUES

    @cached_property
    def options(self) -> list[Option]:
        """Every agency of the release, what fits the message first."""
        context, chosen = self.context, self.data.getlist("agency")
        by_model = context.model_answer.get("judgements", {}).get("agencyDetected", [])
        offered = {agency["agencyId"] for agency in context.call.get("agencies", [])}
        agencies = context.release.agencies
        ranked = [agencies[hit.item.id] for hit in context.ranking.agencies(limit=len(agencies))]
        return [
            Option(
                value=agency.id,
                id=f"agency-{number}",
                name=agency.name,
                hint=agency.description,
                checked=agency.id in chosen,
                by_model=agency.id in by_model,
                offered=agency.id in offered if offered else None,
            )
            for number, agency in enumerate(ranked)
        ]

    @property
    def first(self) -> list[Option]:
        """The agencies that are shown at once."""
        return [
            option
            for number, option in enumerate(self.options)
            if number < FIRST_AGENCIES or option.checked or option.by_model
        ]

    @property
    def others(self) -> list[Option]:
        """All other agencies."""
        return [option for option in self.options if option not in self.first]

    def clean_agency(self) -> list[Agency]:
        agencies = self.context.release.agencies
        chosen = [agencies[agency] for agency in self.data.getlist("agency") if agency in agencies]
        if not chosen:
            raise ValidationError(gettext("Choose the agency that the question is for."))
        return chosen

    def payload(self) -> Output:
        agencies = self.cleaned_data["agency"]
        info = [
            {"agencyId": a.id, "name": a.name, "path": a.path, "description": a.description}
            for a in agencies
        ]
        return {
            "judgements": {
                "agencyDetected": [agency.id for agency in agencies],
                "agencyInfo": info,
                "agencyCount": len(agencies),
                "complexity": "low" if len(agencies) == 1 else "high",
            }
        }


class ScoreField(forms.DecimalField):
    """A score from 0.50 to 1.00, which may be written with a comma; 1.00 for none."""

    def __init__(self) -> None:
        text = _("Give how sure you are as a number from 0.50 to 1.00.")
        messages = dict.fromkeys(("invalid", "min_value", "max_value"), text)
        super().__init__(
            required=False, min_value=MINIMUM_SCORE, max_value=1, error_messages=messages
        )

    def clean(self, value: Any) -> Decimal:
        """Return the number with two decimals."""
        score = super().clean((value or "").strip().replace(",", "."))
        return SURE if score is None else score.quantize(SURE)


class TopicForm(ActionForm):
    """category_select_v1: topics of the one agency."""

    template = "review/deciding/_answers.html#topics"
    several = False
    topic = VALUES

    def __init__(self, context: FormContext, data: QueryDict | None) -> None:
        super().__init__(context, data)
        options = [option for _, _, options in self.groups for option in options]
        scores = {f"score:{o.value}": f"{o.id}-score" for o in options if o.checked}
        self.fields |= {name: ScoreField() for name in scores}
        self.error_ids = {"topic": options[0].id if options else "", **scores}

    def clean_topic(self) -> None:
        if not any(option.checked for _, _, options in self.groups for option in options):
            raise ValidationError(gettext("Choose at least one topic."))

    @property
    def agencies(self) -> Sequence[str]:
        """The agencies whose topics are picked."""
        agencies = self.context.detected if self.several else [self.context.answering]
        return [agency for agency in agencies if agency]

    @cached_property
    def groups(self) -> list[tuple[str, str, list[Option]]]:
        """The agencies with their topics, as (id, name, options)."""
        release = self.context.release
        return [(a, agency_name(release, a), self._options(a)) for a in self.agencies]

    def _options(self, agency: str) -> list[Option]:
        """Return an agency's dictionary to pick from, what fits the message first."""
        context, chosen = self.context, self.data.getlist("topic")
        by_model = self._model_topics(agency)
        entries = context.call.get("KnowledgeBase_Dictionary", [])
        offered = {entry["key"] for entry in entries if entry["agencyId"] == agency}
        ranked = context.ranking.categories(agencies=[agency], limit=MAX_TOPICS)
        group = list(context.release.agencies).index(agency)
        return [
            Option(
                value=(value := pointer(agency, hit.item.key)),
                id=f"topic-{group}-{number}",
                name=hit.item.value,
                hint=", ".join(hit.item.keywords[:5]),
                checked=value in chosen,
                by_model=hit.item.key in by_model,
                offered=hit.item.key in offered if context.call else None,
                score=self.data.get(f"score:{value}", ""),
            )
            for number, hit in enumerate(ranked)
        ]

    def _model_topics(self, agency: str) -> Mapping[str, Any]:
        answer = self.context.model_answer
        entries = answer.get("semanticAnalysis", {}).get("agencies", [answer])
        for entry in entries:
            if entry.get("agencyId", agency) == agency and "categorySelection" in entry:
                topics: Mapping[str, Any] = entry["categorySelection"]["candidates"]
                return topics
        return {}

    def _selection(self, options: Sequence[Option]) -> Output:
        """Return the selection of an agency: ``{key: {value, score}}`` of its chosen topics."""
        candidates = {}
        for option in options:
            if option.checked:
                agency, key = steps(option.value)
                value = self.context.release.categories[agency, key].value
                score = self.cleaned_data[f"score:{option.value}"]
                candidates[key] = {"value": value, "score": score}
        return {"categorySelection": {"candidates": candidates}}

    def payload(self) -> Output:
        return self._selection(self.groups[0][2])


class AnalysisForm(TopicForm):
    """semantic_analysis_v1: topics of each agency, and the agency that answers first."""

    several = True
    primary = forms.CharField(required=False)

    def clean_primary(self) -> Any:
        primary = self.cleaned_data["primary"]
        if primary not in self.context.detected:
            raise ValidationError(gettext("Choose the agency that answers first."))
        return primary

    def payload(self) -> Output:
        entries = [
            {"agencyId": agency, "agencyName": name, **self._selection(options)}
            for agency, name, options in self.groups
        ]
        primary = {"agencyId": self.cleaned_data["primary"], "reason": "chosen by a caseworker"}
        return {"semanticAnalysis": {"agencies": entries, "primaryAgency": primary}}

    def field_of(self, path: str) -> str:
        return "primary" if "primaryAgency" in path else super().field_of(path)


class ServiceForm(ServicePicker):
    """service_select_v1: the service that answers, of the agency that answers."""

    template = "review/deciding/_fields.html#picker"
    legend = _("Which service answers the question?")
    input_name = "service"
    input_type = "radio"
    words_id = "service-words"
    error_ids = {"service": words_id}
    service = forms.CharField(required=False)

    @property
    def agencies(self) -> Sequence[str]:
        return [self.context.answering] if self.context.answering else []

    @property
    def model_services(self) -> Sequence[tuple[str, str]]:
        key = self.context.model_answer.get("serviceSelection", {}).get("serviceKey", "")
        return [(self.context.answering or "", key)]

    def clean_service(self) -> Service:
        service = self._service(self.cleaned_data["service"])
        if service is None:
            raise ValidationError(gettext("Choose the service that answers the question."))
        return service

    def payload(self) -> Output:
        service = self.cleaned_data["service"]
        names = ["service_name", *(f"service_{n}" for n in SECTIONS if getattr(service, n))]
        return {
            "serviceSelection": {
                "serviceKey": service.key,
                "name": service.name,
                "path": service.path,
                "matchedField": "name",
                "score": SURE,
            },
            "template": {
                "placeholders": {name: f"{{{name}}}" for name in names},
                "rules": "Name the service, then give all that its entry says.",
            },
        }


class AnswerForm(ServicePicker):
    """multi_agency_service_answer_v1: the text, and the services that it stands on."""

    template = "review/deciding/_answers.html#answer"
    legend = _("The services that it stands on")
    answer_fields = {"answer": "assistantReply"}
    input_name = "source"
    words_id = "source-words"
    error_ids = {"source": words_id}
    answer = TextField(error_messages={"required": _("Write the answer.")})
    source = VALUES

    def clean_source(self) -> list[Service]:
        return self.clean_services(gettext("Choose the services that the answer uses."))

    @property
    def agencies(self) -> Sequence[str]:
        return self.context.detected

    @property
    def model_services(self) -> Sequence[tuple[str, str]]:
        sources = self.context.model_answer.get("sourcesUsed", [])
        return [(source["agencyId"], source["serviceKey"]) for source in sources]

    def payload(self) -> Output:
        sources = [
            {"agencyId": service.agency, "serviceKey": service.key, "path": service.path}
            for service in self.cleaned_data["source"]
        ]
        return {"assistantReply": self.cleaned_data["answer"], "sourcesUsed": sources}

    def field_of(self, path: str) -> str:
        return self.words_id if path.startswith("/sourcesUsed") else "answer"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a triage form: a label, a value where the contract has one, and the words quoted.

    ``id`` is the beginning of the HTML ids of its fields. ``rejected`` are the label's name and the
    words of the model's answer where they were wrong, so that they are not filled in.
    """

    id: str
    label: str = ""
    value: str = ""
    quote: str = ""
    rejected: str = ""

    def problems(self, title: str) -> Iterator[Problem]:
        """Yield what is missing; ``title`` is the group's."""
        if not self.label:
            message = gettext("Choose a label for “{words}”.")
            yield Problem(message.format(words=self.quote or self.value), f"{self.id}-label")
        if not self.quote:
            message = gettext("Say which words show it ({title}).")
            yield Problem(message.format(title=title), f"{self.id}-quote")


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the same label set.

    ``name`` is the answer's field, a list of elements unless it is ``single``; ``label_key`` and
    ``value_key`` are the elements' fields, which have a confidence where it is ``scored``.
    ``codes`` are (code, name), set with the ``rows``.
    """

    name: str
    title: str
    label_set: str
    label_key: str = "label"
    value_key: str = ""
    single: bool = False
    optional: bool = False
    scored: bool = True
    codes: tuple[tuple[str, str], ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def filled(self) -> list[Row]:
        """The rows in which anything is."""
        return [row for row in self.rows if row.label or row.value or row.quote]

    def problems(self) -> list[Problem]:
        """Return what is missing."""
        if not self.filled and not self.optional:
            message = gettext("Choose for “{title}”, with words of the message.")
            return [Problem(message.format(title=self.title), f"{self.name}-0-label")]
        return [problem for row in self.filled for problem in row.problems(self.title)]

    def element(self, row: Row) -> Output:
        """Return a row as an element of the answer."""
        element: Output = {self.label_key: row.label, "evidence_snippets": [row.quote]}
        if self.value_key:
            element[self.value_key] = row.value or row.quote
        return element | ({"confidence": SURE} if self.scored else {})


GROUPS: Mapping[str, Sequence[Group]] = {
    "classify": (
        Group("intents", gettext_noop("What the citizen wants"), "intents"),
        Group("product_line", gettext_noop("What it is about"), "product_lines", single=True),
        Group("urgency", gettext_noop("How urgent it is"), "urgencies", single=True),
        Group("risk_flags", gettext_noop("Risks, if there are any"), "risk_flags", optional=True),
    ),
    "extract": (
        Group(
            *("entities", gettext_noop("Facts"), "entity_types", "entity_type", "value_redacted"),
            optional=True,
        ),
    ),
    "identity_assist": (
        Group(
            *("keys", gettext_noop("Numbers and names"), "key_types", "key_type", "key_value"),
            optional=True,
            scored=False,
        ),
    ),
}
"""The groups of each triage contract."""


class TriageForm(ActionForm):
    """A triage contract: groups of rows."""

    template = "review/deciding/_answers.html#rows"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups with their rows: what is posted, at first what was right in the answer."""
        return tuple(map(self._with_rows, GROUPS[self.context.contract]))

    def _with_rows(self, group: Group) -> Group:
        release = self.context.release
        labels = release.labels.get(group.label_set, {}).values()
        names = {label.code: label.name for label in labels}
        if group.label_set == INTENTS:
            names |= {event.code: event.name for event in release.situations.values()}
        rows = [
            self._row(f"{group.name}-{number}", path, element, group, names)
            for number, (path, element) in enumerate(self._elements(group))
        ]
        total = max(1, len(rows)) if group.single else len(rows) + SPARE_ROWS
        rows += [Row(f"{group.name}-{number}") for number in range(len(rows), total)]
        if self.is_bound:
            parts = ("label", "value", "quote")
            posted = {p: self.data.getlist(f"{group.name}-{p}") + [""] * total for p in parts}
            rows = [
                replace(row, **{part: values[number].strip() for part, values in posted.items()})
                for number, row in enumerate(rows)
            ]
        title = gettext(group.title)
        return replace(group, title=title, codes=tuple(names.items()), rows=tuple(rows))

    def _elements(self, group: Group) -> list[tuple[str, Any]]:
        """Return the (JSON Pointer, element) of a field of the model's answer."""
        elements = self.context.model_answer.get(group.name, [])
        if isinstance(elements, list):
            return [(pointer(group.name, i), element) for i, element in enumerate(elements)]
        return [(pointer(group.name), elements)]

    def _row(
        self, row_id: str, path: str, element: Any, group: Group, names: Mapping[str, str]
    ) -> Row:
        label, value = element[group.label_key], element.get(group.value_key, "")
        quote = (element["evidence_snippets"] or [""])[0]
        wrong = self.context.wrong
        if not any(pointer == path or pointer.startswith(f"{path}/") for pointer in wrong):
            return Row(row_id, label, value, quote)
        words = (names.get(label, label), value, f"“{quote}”" if quote else "")
        return Row(row_id, rejected=" · ".join(filter(None, words)))

    @property
    def problems(self) -> list[Problem]:
        """The errors of all groups."""
        return [problem for group in self.groups for problem in group.problems()]

    def payload(self) -> Output:
        payload: Output = {}
        for group in self.groups:
            elements = [group.element(row) for row in group.filled]
            payload[group.name] = elements[0] if group.single else elements
        if "intents" in payload:
            payload["primary_intent"] = payload["intents"][0]["label"]
        return payload

    def field_of(self, path: str) -> str:
        names = path.split("/")
        number = names[2] if len(names) > 2 and names[2].isdigit() else "0"
        groups = GROUPS[self.context.contract]
        for group in groups:
            if names[1:2] == [group.name]:
                part = "quote" if "evidence_snippets" in path else "label"
                part = "value" if group.value_key and names[-1] == group.value_key else part
                return f"{group.name}-{number}-{part}"
        return f"{groups[0].name}-0-label"


CORRECTION_FORMS: Mapping[str, type[ActionForm]] = {
    "judgement_v1": JudgementForm,
    "agency_detect_v1": AgencyForm,
    "category_select_v1": TopicForm,
    "semantic_analysis_v1": AnalysisForm,
    "service_select_v1": ServiceForm,
    "multi_agency_service_answer_v1": AnswerForm,
    **dict.fromkeys(GROUPS, TriageForm),
}
"""The form to correct each contract's answer."""
