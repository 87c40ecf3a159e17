"""Forms to correct a stage's answer: one for each contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext, gettext_noop

from ieim.pipeline.findings import pointer, steps
from ieim.pipeline.reply.cards import SECTIONS
from ieim.pipeline.stages.triage import INTENTS
from review.item.forms import (
    SURE,
    Form,
    Invalid,
    Option,
    Output,
    Problem,
    ServicePicker,
    score_of,
)
from review.labels import agency_name

MOST_TOPICS = 60
SPARE_ROWS = 2


class JudgementForm(Form):
    """judgement_v1: is it a question for a public service, and if not, what helps on."""

    template = "review/deciding/answering/judgement.html"
    field_id = "inquiry"
    guidance_id = "guidance"

    @property
    def inquiry(self) -> str:
        """``yes``, ``no`` or nothing yet."""
        return self.data.get("inquiry", "")

    @property
    def guidance(self) -> str:
        """The words for the citizen: what was typed, at first those of the model's answer."""
        if self.posted:
            return self.text(self.guidance_id)
        return self.desk.model_answer.get("assistantReply") or ""

    def payload(self) -> Output:
        if self.inquiry not in ("yes", "no"):
            raise self.invalid(gettext("Say whether it is a question for a public service."))
        if self.inquiry == "yes":
            return {"judgements": {"inquiry": True}, "assistantReply": None}
        if not self.guidance:
            raise self.invalid(gettext("Write what the citizen is told instead."), self.guidance_id)
        return {"judgements": {"inquiry": False}, "assistantReply": self.guidance}

    def field_of(self, path: str) -> str:
        return self.guidance_id if path.startswith("/assistantReply") else self.field_id


class AgencyForm(Form):
    """agency_detect_v1: one agency, or several."""

    template = "review/deciding/answering/agencies.html"
    field_id = "agency-0"
    FIRST = 6

    @property
    def options(self) -> list[Option]:
        """Every agency of the release, what fits the message first."""
        desk, chosen = self.desk, self.data.getlist("agency")
        by_model = desk.model_answer.get("judgements", {}).get("agencyDetected", [])
        given = {agency["agencyId"] for agency in desk.given.get("agencies", [])}
        ranked = desk.ranking.agencies(limit=len(desk.release.agencies))
        return [
            Option(
                value=each.item.id,
                id=f"agency-{place}",
                name=each.item.name,
                hint=each.item.description,
                checked=each.item.id in chosen,
                by_model=each.item.id in by_model,
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
        agencies = self.desk.release.agencies
        chosen = [agencies[agency] for agency in self.data.getlist("agency") if agency in agencies]
        if not chosen:
            raise self.invalid(gettext("Choose the agency that the question is for."))
        info = [
            {"agencyId": a.id, "name": a.name, "path": a.path, "description": a.description}
            for a in chosen
        ]
        return {
            "judgements": {
                "agencyDetected": [agency.id for agency in chosen],
                "agencyInfo": info,
                "agencyCount": len(chosen),
                "complexity": "low" if len(chosen) == 1 else "high",
            }
        }


class TopicForm(Form):
    """category_select_v1: topics of the one agency."""

    template = "review/deciding/answering/topics.html"

    @property
    def agencies(self) -> Sequence[str]:
        """The agencies whose topics are picked."""
        return [self.desk.answering] if self.desk.answering else []

    @property
    def groups(self) -> list[tuple[str, str, list[Option]]]:
        """The agencies with their topics, as (id, name, options)."""
        release = self.desk.release
        return [(a, agency_name(release, a), self._options(a)) for a in self.agencies]

    def _options(self, agency: str) -> list[Option]:
        """Return an agency's dictionary to pick from, what fits the message first."""
        desk, picked, by_model = self.desk, self.data.getlist("topic"), self._model_topics(agency)
        given = desk.given.get("KnowledgeBase_Dictionary", [])
        keys = {entry["key"] for entry in given if entry["agencyId"] == agency}
        ranked = desk.ranking.categories(agencies=[agency], limit=MOST_TOPICS)
        return [
            Option(
                value=(value := pointer(agency, each.item.key)),
                id=f"topic-{list(desk.release.agencies).index(agency)}-{place}",
                name=each.item.value,
                hint=", ".join(each.item.keywords[:5]),
                checked=value in picked,
                by_model=each.item.key in by_model,
                offered=each.item.key in keys if desk.given else None,
                score=self.data.get(f"score:{value}", ""),
            )
            for place, each in enumerate(ranked)
        ]

    def _model_topics(self, agency: str) -> Mapping[str, Any]:
        selection = self.desk.model_answer.get("categorySelection", {})
        found: Mapping[str, Any] = selection.get("candidates", {})
        return found

    def _candidates(self, agency: str, options: Sequence[Option]) -> Output:
        """Return ``{key: {value, score}}`` of what was picked for an agency."""
        return {
            (key := steps(option.value)[1]): {
                "value": self.desk.release.categories[agency, key].value,
                "score": score_of(option.score, f"{option.id}-score"),
            }
            for option in options
            if option.checked
        }

    def payload(self) -> Output:
        found = [self._candidates(agency, options) for agency, _, options in self.groups]
        if not any(found):
            raise self.invalid(gettext("Choose at least one topic."), self.field_of(""))
        return {"categorySelection": {"candidates": found[0]}}

    def field_of(self, path: str) -> str:
        return next((o.id for _, _, options in self.groups for o in options), "")


class AnalysisForm(TopicForm):
    """semantic_analysis_v1: topics of each agency, and the agency that answers first."""

    several = True

    @property
    def agencies(self) -> Sequence[str]:
        return self.desk.detected

    @property
    def primary(self) -> str:
        """The agency that answers first, nothing yet at first."""
        return self.data.get("primary", "")

    def _model_topics(self, agency: str) -> Mapping[str, Any]:
        for entry in self.desk.model_answer.get("semanticAnalysis", {}).get("agencies", []):
            if entry["agencyId"] == agency:
                found: Mapping[str, Any] = entry["categorySelection"]["candidates"]
                return found
        return {}

    def payload(self) -> Output:
        entries: list[dict[str, Any]] = [
            {
                "agencyId": agency,
                "agencyName": name,
                "categorySelection": {"candidates": self._candidates(agency, options)},
            }
            for agency, name, options in self.groups
        ]
        if not any(entry["categorySelection"]["candidates"] for entry in entries):
            raise self.invalid(gettext("Choose at least one topic."), super().field_of(""))
        if self.primary not in self.desk.detected:
            raise self.invalid(gettext("Choose the agency that answers first."), "primary")
        primary = {"agencyId": self.primary, "reason": "chosen by a caseworker"}
        return {"semanticAnalysis": {"agencies": entries, "primaryAgency": primary}}

    def field_of(self, path: str) -> str:
        return "primary" if "primaryAgency" in path else super().field_of(path)


class ServiceForm(ServicePicker):
    """service_select_v1: the service that answers, of the agency that answers."""

    template = "review/deciding/answering/service.html"
    input_name = "service"
    input_type = "radio"
    words_id = field_id = "service-words"

    @property
    def agencies(self) -> Sequence[str]:
        return [self.desk.answering] if self.desk.answering else []

    @property
    def model_services(self) -> Sequence[tuple[str, str]]:
        key = self.desk.model_answer.get("serviceSelection", {}).get("serviceKey", "")
        return [(self.desk.answering or "", key)]

    def payload(self) -> Output:
        service = self._picked(self.data.get(self.input_name, ""))
        if service is None:
            raise self.invalid(gettext("Choose the service that answers the question."))
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

    template = "review/deciding/answering/answer.html"
    field_id = "answer"
    input_name = "source"
    words_id = "source-words"

    @property
    def answer(self) -> str:
        """What was typed, at first what the model wrote."""
        return (
            self.text("answer") if self.posted else self.desk.model_answer.get("assistantReply", "")
        )

    @property
    def agencies(self) -> Sequence[str]:
        return self.desk.detected

    @property
    def model_services(self) -> Sequence[tuple[str, str]]:
        return [
            (s["agencyId"], s["serviceKey"]) for s in self.desk.model_answer.get("sourcesUsed", [])
        ]

    def payload(self) -> Output:
        problems = []
        cited = self.chosen()
        if not self.answer:
            problems.append(Problem(gettext("Write the answer."), self.field_id))
        if not cited:
            message = gettext("Choose the services that the answer uses.")
            problems.append(Problem(message, self.words_id))
        if problems:
            raise Invalid(*problems)
        sources = [{"agencyId": s.agency, "serviceKey": s.key, "path": s.path} for s in cited]
        return {"assistantReply": self.answer, "sourcesUsed": sources}

    def field_of(self, path: str) -> str:
        return self.words_id if path.startswith("/sourcesUsed") else self.field_id


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a form: a label, a value where the contract has one, and the words quoted.

    ``id`` is the beginning of the HTML ids of its fields; ``rejected`` are the label's
    name and the words of the model's answer where they were wrong, so that they are not filled in.
    """

    id: str
    label: str = ""
    value: str = ""
    quote: str = ""
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the same label set.

    ``name`` is the answer's field, a list of elements unless it is ``single``; ``label_key`` and
    ``value_key`` are the elements' fields, which have a confidence where it is ``scored``.
    ``codes`` are (code, name), given with the ``rows``.
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

    def element(self, row: Row) -> Output:
        """Return a row as an element of the answer."""
        found: Output = {self.label_key: row.label, "evidence_snippets": [row.quote]}
        if self.value_key:
            found[self.value_key] = row.value or row.quote
        return found | ({"confidence": SURE} if self.scored else {})


class RowForm(Form):
    """What the three forms of triage share: rows that are posted as parallel lists."""

    template = "review/deciding/answering/rows.html"
    GROUPS: Sequence[Group] = ()

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups with their rows: what is posted, at first what was right in the answer."""
        return tuple(self._filled_in(group) for group in self.GROUPS)

    def _filled_in(self, group: Group) -> Group:
        labels, name = self.desk.release.labels.get(group.label_set, {}), group.name
        names = {label.code: label.name for label in labels.values()}
        if group.label_set == INTENTS:
            names |= {each.code: each.name for each in self.desk.release.situations.values()}
        rows = [
            self._of_model(f"{name}-{i}", path, element, group, names)
            for i, (path, element) in enumerate(self._elements(group))
        ]
        total = max(1, len(rows)) if group.single else len(rows) + SPARE_ROWS
        rows += [Row(f"{name}-{i}") for i in range(len(rows), total)]
        if self.posted:
            posted = {
                part: self.data.getlist(f"{name}-{part}") + [""] * len(rows)
                for part in ("label", "value", "quote")
            }
            rows = [
                replace(row, **{part: values[i].strip() for part, values in posted.items()})
                for i, row in enumerate(rows)
            ]
        title = gettext(group.title)
        return replace(group, title=title, codes=tuple(names.items()), rows=tuple(rows))

    def _elements(self, group: Group) -> list[tuple[str, Any]]:
        """Return the (JSON Pointer, element) of a field of the model's answer."""
        found = self.desk.model_answer.get(group.name, [])
        if isinstance(found, list):
            return [(pointer(group.name, i), each) for i, each in enumerate(found)]
        return [(pointer(group.name), found)]

    def _of_model(
        self, row_id: str, path: str, element: Any, group: Group, names: Mapping[str, str]
    ) -> Row:
        label, value = element[group.label_key], element.get(group.value_key, "")
        quote = (element["evidence_snippets"] or [""])[0]
        if not any(wrong == path or wrong.startswith(f"{path}/") for wrong in self.desk.wrong):
            return Row(row_id, label, value, quote)
        words = (names.get(label, label), value, f"“{quote}”" if quote else "")
        return Row(row_id, rejected=" · ".join(filter(None, words)))

    def payload(self) -> Output:
        """Return what the rows say that say something.

        Raises :class:`Invalid` for half a row, and where a group needs one.
        """
        found: Output = {}
        for group in self.groups:
            rows = [row for row in group.rows if row.label or row.value or row.quote]
            problems = list(_half(group, rows))
            if not rows and not group.optional:
                message = gettext("Choose for “{title}”, with words of the message.")
                problems.append(Problem(message.format(title=group.title), f"{group.name}-0-label"))
            if problems:
                raise Invalid(*problems)
            elements = [group.element(row) for row in rows]
            found[group.name] = elements[0] if group.single else elements
        return found

    def field_of(self, path: str) -> str:
        names = path.split("/")
        place = names[2] if len(names) > 2 and names[2].isdigit() else "0"
        for group in self.GROUPS:
            if names[1:2] == [group.name]:
                part = "quote" if "evidence_snippets" in path else "label"
                part = "value" if group.value_key and names[-1] == group.value_key else part
                return f"{group.name}-{place}-{part}"
        return f"{self.GROUPS[0].name}-0-label"


def _half(group: Group, rows: Iterable[Row]) -> Iterator[Problem]:
    for row in rows:
        if not row.label:
            message = gettext("Choose a label for “{words}”.")
            yield Problem(message.format(words=row.quote or row.value), f"{row.id}-label")
        if not row.quote:
            message = gettext("Say which words show it ({title}).")
            yield Problem(message.format(title=group.title), f"{row.id}-quote")


class ClassifyForm(RowForm):
    """classify: what the citizen wants, about what, how urgent, and what is risky."""

    GROUPS = (
        Group("intents", gettext_noop("What the citizen wants"), "intents"),
        Group("product_line", gettext_noop("What it is about"), "product_lines", single=True),
        Group("urgency", gettext_noop("How urgent it is"), "urgencies", single=True),
        Group("risk_flags", gettext_noop("Risks, if there are any"), "risk_flags", optional=True),
    )

    def payload(self) -> Output:
        found = super().payload()
        return found | {"primary_intent": found["intents"][0]["label"]}


class ExtractForm(RowForm):
    """extract: facts of the message."""

    GROUPS = (
        Group(
            "entities",
            gettext_noop("Facts"),
            "entity_types",
            "entity_type",
            "value_redacted",
            optional=True,
        ),
    )


class IdentityForm(RowForm):
    """identity_assist: numbers and names that lead to a person or a case."""

    GROUPS = (
        Group(
            "keys",
            gettext_noop("Numbers and names"),
            "key_types",
            "key_type",
            "key_value",
            optional=True,
            scored=False,
        ),
    )


OVERRIDES: Mapping[str, type[Form]] = {
    "judgement_v1": JudgementForm,
    "agency_detect_v1": AgencyForm,
    "category_select_v1": TopicForm,
    "semantic_analysis_v1": AnalysisForm,
    "service_select_v1": ServiceForm,
    "multi_agency_service_answer_v1": AnswerForm,
    "classify": ClassifyForm,
    "extract": ExtractForm,
    "identity_assist": IdentityForm,
}
"""The form to correct each contract's answer."""
