"""Forms to correct the answering stages."""

from __future__ import annotations

from django.utils.translation import gettext

from ieim.pipeline.reply.cards import SECTIONS
from review.item.forms.base import (
    SURE,
    Form,
    Invalid,
    Option,
    Output,
    Problem,
)
from review.item.forms.services import chosen_services, picked, services

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
