"""What leads a reply about one service: the passages that answer, or that nothing does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Passage, Passages, Query
from ieim.pipeline.reply.answering import lead_with_answer, rearranges
from ieim.pipeline.reply.cards import SECTIONS, Section
from ieim.pipeline.reply.reply import Reply, render_service
from ieim.pipeline.sentences import sentences
from ieim.pipeline.stages.base import Inputs
from ieim.search import Search, fuse, kinds, passages
from ieim.search.embedders import fault
from tests.embedders import embedded
from tests.pipeline.build import PASS, RELEASE, TODAY, context
from tests.pipeline.searching import FakeSearch

LOST = Service(
    "passports",
    "passports.replace",
    "Replace a lost passport",
    overview=(
        "Report a lost passport at once. If you find it later, it is void. We tell the police."
    ),
    applicability_summary="For every citizen.",
    requirements=("Two photos", "A police report"),
    fees="MRK 45.00. Children pay half.",
    processing_time="3 weeks",
    how_to_apply=("Report the loss.", "Book a visit."),
    contact="Desk 3, +999 20 555 0130",
    deadline_days="14",
)
LEAST, SURE = 1.0, 3.0
DEMO = "ieim/knowledge/demo"


class Ranking:
    """A search that ranks the passages of a service as it is told."""

    def __init__(
        self, *best: tuple[str, str, float], fields: Sequence[str] = (), question: bool = True
    ) -> None:
        others = [Passage(field, text, -1.0) for field, text in passages.of_service(LOST)]
        results = tuple(Passage(*entry) for entry in best)
        self.found: Passages | None = Passages(
            (*results, *others), tuple(fields), question, LEAST, SURE
        )

    def passages(self, _text: str, _service: Service) -> Passages | None:
        return self.found


def inputs(search: Any) -> Inputs:
    release = replace(RELEASE, services={("passports", LOST.key): LOST})
    judged = replace(context("service_select_v1"), release=release, redacted=prepare("?"))
    return Inputs(judged.seen, (), judged, search, {}, today=TODAY, query=Query(judged.seen))


def reply(search: Any, *, rules: str = "", talk: bool = False) -> Reply:
    """The reply to a message about the lost passport."""
    rendered = render_service(
        {f"service_{name}": f"{{service_{name}}}" for name in SECTIONS},
        service=LOST,
        agency=PASS,
        category_value=None,
        entities={},
        rules=rules,
    )
    about = replace(rendered, still_about=LOST.name if talk else "")
    return lead_with_answer(about, inputs(search))


def opened(shown: Reply) -> list[tuple[str, tuple[str, ...]]]:
    return [(section.field, section.items) for section in shown.sections if not section.folded]


POLICE = ("overview", "We tell the police.", 4.0)
VOID = ("overview", "If you find it later, it is void.", 3.5)
PHOTOS = ("requirements", "Two photos", 3.6)
WITH_ITS_CONTEXT = ("overview", ("If you find it later, it is void. We tell the police.",))


@pytest.mark.parametrize(
    ("search", "opens"),
    [
        # A sentence may speak of the one before it.
        (Ranking(POLICE), [WITH_ITS_CONTEXT]),
        (
            Ranking(VOID),
            [("overview", ("Report a lost passport at once. If you find it later, it is void.",))],
        ),
        (Ranking(PHOTOS), [("requirements", ("Two photos",))]),
        # All papers were asked for, and what a price depends on belongs to it.
        (
            Ranking(PHOTOS, fields=["requirements"]),
            [("requirements", ("Two photos", "A police report"))],
        ),
        (Ranking(("fees", "Children pay half.", 3.2)), [("fees", (LOST.fees,))]),
        # Two that are as good, one of another field.
        (
            Ranking(POLICE, PHOTOS),
            [WITH_ITS_CONTEXT, ("requirements", ("Two photos",))],
        ),
        # Not sure: whom to ask stands beside it.
        (
            Ranking(("processing_time", "3 weeks", 2.0), fields=["processing_time"]),
            [("processing_time", ("3 weeks",)), ("contact", (LOST.contact,))],
        ),
    ],
)
def test_the_passages_that_answer_lead(search: Ranking, opens: Any) -> None:
    result = reply(search)
    assert (result.lead, result.unsaid) == ("", False)
    assert opened(result) == opens
    folded = {section.field for section in result.sections if section.folded}
    whole = {field for field, items in opens if items == shown_whole(field)}
    assert folded == set(SECTIONS) - {"url"} - whole
    assert Reply.from_dict(result.as_dict()) == result


def test_a_quoted_passage_is_said_once_in_plain_text() -> None:
    text = reply(Ranking(POLICE, PHOTOS)).as_text()
    for entry in ("We tell the police.", "Two photos", "A police report"):
        assert text.count(entry) == 1, entry
    # Another field may say the same.
    sections = (Section("fees", ("Free.",)), Section("contact", ("Free.", "Call us.")))
    assert Reply("service", sections=sections).as_text().count("Free.") == 2


def shown_whole(field: str) -> tuple[str, ...]:
    value = getattr(LOST, field)
    return (value,) if isinstance(value, str) else tuple(value)


def test_what_the_entry_does_not_say_is_said_with_whom_to_ask() -> None:
    result = reply(Ranking(fields=["fees"]))
    assert result.unsaid
    assert opened(result) == [("contact", (LOST.contact,))]
    assert "does not say" in result.as_text()
    assert Reply.from_dict(result.as_dict()) == result
    assert reply(Ranking(), talk=True).unsaid


@pytest.mark.parametrize(
    "search",
    [
        Ranking((*POLICE[:2], 2.5)),  # a first question is about the service as a whole
        Ranking((*POLICE[:2], 5.0), question=False),  # and so is what tells a story
        FakeSearch(),  # words alone do not tell
    ],
)
def test_a_message_about_the_whole_keeps_what_to_do_first(search: Any) -> None:
    result = reply(search)
    assert result.lead == "Report the loss."
    assert not any(section.folded for section in result.sections)


def test_what_a_model_opens_with_is_believed() -> None:
    for search in (Ranking(POLICE), Ranking(fields=["contact"])):
        result = reply(search, rules="{service_fees} {service_processing_time}")
        assert [field for field, _ in opened(result)] == ["fees", "processing_time"]
        assert not result.unsaid
    habit = " ".join(f"{{service_{name}}}" for name in SECTIONS[:4])
    assert opened(reply(Ranking(POLICE), rules=habit)) == [WITH_ITS_CONTEXT]


def test_a_service_asked_for_as_a_whole_opens_with_what_to_do_first() -> None:
    result = reply(Ranking(question=False), rules="{service_fees}")
    assert result.lead == "Report the loss."
    assert opened(result) == [("fees", (LOST.fees,))]
    assert rearranges(result, replace(result, lead=""), inputs(Ranking()).context.release)
    # In a talk a model that opens with one field answers a message that names nothing.
    assert reply(Ranking(question=False), rules="{service_fees}", talk=True).lead == ""


def test_by_when_is_never_answered_with_how_long_it_takes() -> None:
    search = Ranking(("overview", "Report a lost passport at once.", 4.5), fields=["deadline"])
    result = reply(search, rules="{service_processing_time}")
    assert opened(result) == [("overview", ("Report a lost passport at once.",))]


def test_a_message_that_only_tells_something_opens_with_one_passage() -> None:
    result = reply(Ranking(POLICE, PHOTOS, question=False), talk=True)
    assert opened(result) == [WITH_ITS_CONTEXT]


ASKED = {
    "civil-registry.register-birth": "register a birth",
    "passports.renew-passport": "renew my passport",
    "immigration.appeal-visa-refusal": "appeal against a visa refusal",
    "vehicles.traffic-fine": "contest a traffic fine",
    "municipal.register-address": "register my new address",
}
QUESTIONS = (
    "How much does it cost to {}?",
    "How long does it take to {}?",
    "Which documents do I need to {}?",
    "What is the deadline to {}?",
)


def rewritten(service: Service) -> Service:
    """The service with other figures and names and its sentences in the opposite order."""

    def text(value: str) -> str:
        results = [value[start:end] for start, end in sentences(value)]
        figured = re.sub(r"\d+", lambda digits: str(int(digits[0]) + 7), " ".join(results[::-1]))
        return figured.replace("Tarrow", "Belmora").replace("MRK", "KRB")

    changes: dict[str, Any] = {}
    for field in (*SECTIONS, "deadline_days"):
        value = getattr(service, field)
        changes[field] = text(value) if isinstance(value, str) else tuple(map(text, value))
    return replace(service, **changes)


@pytest.mark.skipif(fault() is not None, reason=f"THE EMBEDDED MODEL IS NOT TESTED: {fault()}")
def test_other_figures_names_and_order_have_answers_of_the_same_form() -> None:
    demo = read_bundle(DEMO).release()
    by_key = {key: service for key, service in demo.services.items() if service.key in ASKED}
    changed = {key: rewritten(service) for key, service in by_key.items()}
    forms = []
    for services in (by_key, changed):
        release = replace(demo, services=services, questions=())
        search = fuse(release, embedded(), kinds.shipped())
        form = []
        for service in services.values():
            for question in QUESTIONS:
                text = question.format(ASKED[service.key])
                result = search.passages(text, service)
                assert result is not None
                first = result.ranked[0]
                states = bool(service.deadline_days) and service.deadline_days in first.text
                by_when = "deadline" in result.fields
                form.append((text, first.field, first.score >= result.least, by_when and states))
        forms.append(form)
    assert forms[0] == forms[1]
    for text, field, answers, states in forms[0]:
        assert answers, text
        assert field == "fees" or not text.startswith("How much"), text
        assert states == ("deadline" in text and "passport" not in text), text


@cache
def _searched_demo() -> tuple[Release, Search]:
    release = read_bundle(DEMO).release()
    return release, fuse(release, embedded(), kinds.shipped())


@pytest.mark.skipif(fault() is not None, reason=f"THE EMBEDDED MODEL IS NOT TESTED: {fault()}")
@pytest.mark.parametrize(
    ("service", "text", "says"),
    [
        ("immigration.apply-tourist-visa", "Can I work with it?", "You cannot work"),
        ("employment.unfair-dismissal", "Gibt es eine Frist?", "45 days"),
        ("social-support.hardship-payment", "How much do I get?", "MRK 80.00 to MRK 450.00"),
        ("passports.renew-passport", "Wie lange dauert das?", "3 weeks"),
        ("education.change-school", "And how much is that?", "Free"),
        ("municipal.register-dog", "he died last week", "gets a new owner or dies"),
        ("municipal.register-address", "jusqu’à quand dois-je le faire ?", "within 14 days"),
    ],
)
def test_the_search_finds_the_passage(service: str, text: str, says: str) -> None:
    release, search = _searched_demo()
    result = search.passages(text, release.services[service.partition(".")[0], service])
    assert result is not None
    assert says in " ".join(entry.text for entry in result.ranked[:2])
    assert result.ranked[0].score >= result.least


@pytest.mark.parametrize("fees", ["MRK 45.00", "MRK 82.00", "Free", "What the office asks for it."])
@pytest.mark.parametrize("turned", [False, True])
def test_what_was_asked_for_leads_whatever_its_words_and_figures(fees: str, turned: bool) -> None:
    sentences = LOST.overview.split(". ")
    changed = replace(
        LOST,
        fees=fees,
        overview=". ".join(reversed(sentences) if turned else sentences),
        requirements=LOST.requirements[:: -1 if turned else 1],
    )
    passages_of_it = passages.of_service(changed)
    # Every other passage is all that the question is, in meaning, and has its words.
    vectors = np.array([[field != "fees", field == "fees"] for field, _ in passages_of_it], float)
    result = passages.rank(
        changed,
        vectors.astype(np.float32),
        "Report a lost passport: what does it cost?",
        np.array([1.0, 0.0], dtype=np.float32),
        {"fees": passages.CLEAR},
        limits=np.zeros(len(passages_of_it)),
        question=True,
    )
    assert (result.ranked[0].field, result.ranked[0].text) == ("fees", fees)
    assert result.ranked[0].score >= result.least
