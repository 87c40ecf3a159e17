"""Situations: which one a turn is about, what the reply shows of it, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ieim.llm.engine.thresholds import SURE_ENOUGH
from ieim.llm.offline import OfflineModel
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release, Situation, Step
from ieim.pipeline.reply import situation as situations
from ieim.pipeline.reply.cards import Checklist
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.stages.base import NAMED
from ieim.pipeline.talk import read
from ieim.pipeline.work import Abstained, Answered, Outcome
from tests.pipeline.build import PAVILION, RELEASE, RENEW, REPLACE, RETURN, found, judged, valid
from tests.pipeline.drive import MemoryStore, ScriptedModel, payload, run
from tests.pipeline.searching import FakeSearch

THEFT = Situation(
    "theft",
    "life",
    "Everything was stolen",
    "Your papers and your money are gone.",
    (
        Step("tax", "tax.return", "if your tax papers are gone"),
        Step("passports", "passports.replace"),
        Step("parks", "parks.gone"),
        Step("parks", "parks.pavilion"),
    ),
)
KNOWN = replace(RELEASE, situations={"theft": THEFT})
CODE = "situation.theft"
LISTED = ["tax/tax.return", "passports/passports.replace", "parks/parks.pavilion"]


def answer(confidence: float = 0.9, quote: str = "was stolen") -> dict[str, Any]:
    result = valid("classify")
    intent = {"label": CODE, "confidence": confidence, "evidence_snippets": [quote]}
    result["intents"].append(intent)
    return result


def asked(
    *,
    first: float = 0.4,
    odds: Mapping[tuple[str, str], float] | None = None,
    near: float = 0.05,
    classify: Any = None,
    detect: Any = None,
    release: Release = KNOWN,
    **turn: Any,
) -> tuple[Outcome, MemoryStore, ScriptedModel]:
    """Run a turn in which the search has its first service with the probability ``first``."""
    script = {"classify": [classify, classify]} if classify is not None else {}
    script |= {"agency_detect_v1": [detect]} if detect is not None else {}
    model = ScriptedModel(script)
    odds = odds or {
        ("passports", "passports.replace"): first,
        ("passports", "passports.renew"): 0.05,
    }
    search = FakeSearch(release, odds=odds, situations=dict.fromkeys(release.situations, near))
    outcome, store = run(model, release=release, shortlist=search, **turn)
    return outcome, store, model


def reply_of(outcome: Outcome) -> Reply:
    assert isinstance(outcome, Answered), outcome
    return outcome.reply


def listed(outcome: Outcome) -> Checklist:
    checklist = reply_of(outcome).situation
    assert checklist is not None
    return checklist


def nothing() -> dict[str, Any]:
    result = valid("agency_detect_v1")
    result["judgements"] |= {"agencyDetected": [], "agencyInfo": [], "agencyCount": 0}
    result["nextStep"] = "session_end"
    return result


def test_a_model_is_given_the_nearest_situations_as_intents_of_this_message() -> None:
    _, _, model = asked()
    request = next(result for result in model.requests if result.contract == "classify")
    given = payload(request)["labels"]["intents"]
    assert given[CODE] == "Everything was stolen: Your papers and your money are gone."
    form: Any = request.response_format
    codes = form["properties"]["intents"]["items"]["properties"]["label"]["enum"]
    assert CODE in codes
    _, _, bare = asked(release=RELEASE)
    payloads = [payload(result) for result in bare.requests if result.contract == "classify"]
    assert not any("situation" in str(result) for result in payloads)


def test_the_gate_takes_only_situations_that_the_message_was_given() -> None:
    given = {"labels": {"intents": {CODE: "Everything was stolen"}}}
    judgement = judged("classify", answer(), release=KNOWN, request=given)
    assert judgement.passed
    refused = judged("classify", answer(), release=KNOWN, request={"labels": {"intents": {}}})
    assert found(refused) == [(Code.LABEL_UNKNOWN, "/intents/1/label")]
    invented = judged("classify", answer(quote="my house burned"), release=KNOWN, request=given)
    assert found(invented) == [(Code.EVIDENCE_NOT_FOUND, "/intents/1/evidence_snippets/0")]
    assert judged("classify", answer(), release=KNOWN).passed  # a person's


def test_what_a_model_says_opens_the_checklist_in_its_order() -> None:
    checklist = listed(asked(first=0.8, classify=answer())[0])
    assert (checklist.name, checklist.is_open, checklist.leads) == (THEFT.name, True, False)
    assert [line.source.reference for line in checklist.lines] == LISTED
    assert checklist.lines[0].condition == "if your tax papers are gone"
    assert reply_of(asked(first=0.8, classify=answer())[0]).title == REPLACE.name


OTHERS = replace(
    THEFT,
    steps=(
        Step("tax", "tax.return", "if your tax papers are gone"),
        Step("parks", "parks.pavilion"),
        Step("passports", "passports.renew"),
    ),
)


def test_the_likeliest_of_its_first_services_leads_where_the_message_names_none() -> None:
    assert NAMED == SURE_ENOUGH
    services = {**KNOWN.services, ("parks", "parks.pavilion"): replace(PAVILION, deadline_days="5")}
    release = replace(KNOWN, situations={"theft": OTHERS}, services=services, sha256="d" * 64)
    # The first one is not for everybody, so what comes after it may be the first to see to.
    assert release.first_steps(OTHERS) == release.steps(OTHERS)[:2]
    odds = {("passports", "passports.replace"): 0.4, ("parks", "parks.pavilion"): 0.2}
    reply = reply_of(asked(odds=odds, classify=answer(), release=release)[0])
    assert (reply.title, reply.deadline_days) == (PAVILION.name, "5")
    assert reply.situation is not None
    assert reply.situation.leads


def test_what_the_stages_found_stands_where_it_is_of_the_list() -> None:
    reply = reply_of(asked(first=0.4, classify=answer())[0])
    assert reply.title == REPLACE.name
    assert reply.situation is not None
    assert (reply.situation.is_open, reply.situation.leads) == (True, False)


def test_a_model_that_is_unsure_opens_nothing() -> None:
    reply = reply_of(asked(classify=answer(confidence=0.49))[0])
    assert (reply.title, reply.situation) == (REPLACE.name, None)


def test_a_checklist_takes_the_place_of_a_question_back_and_of_no_service() -> None:
    for first in (0.4, 0.9):
        outcome, _, _ = asked(first=first, detect=nothing(), classify=answer())
        assert listed(outcome).leads


@pytest.mark.parametrize(("near", "offered"), [(0.11, False), (0.12, True)])
def test_a_near_situation_that_holds_the_answer_is_offered(near: float, offered: bool) -> None:
    reply = reply_of(asked(first=0.8, near=near)[0])
    assert (reply.situation is not None) is offered
    assert reply.situation is None or not reply.situation.is_open
    other = replace(KNOWN, situations={"theft": replace(THEFT, steps=THEFT.steps[:1])})
    assert reply_of(asked(first=0.8, near=near, release=other)[0]).situation is None


def test_a_near_situation_is_an_option_where_the_citizen_is_asked_back() -> None:
    outcome, _, _ = asked(first=0.4, near=0.3, detect=nothing())
    assert isinstance(outcome, Abstained)
    assert outcome.situations == (THEFT,)
    far, _, _ = asked(first=0.4, near=0.1, detect=nothing())
    assert not isinstance(far, Abstained)


def test_a_checklist_that_the_talk_has_shown_is_not_opened_again() -> None:
    history = [
        {"role": "user", "text": "all is gone"},
        {"role": "assistant", "text": "", "agency": "tax", "service": "tax.return"}
        | {"situation": "theft", "opened": True, "done": []},
    ]
    reply = reply_of(asked(first=0.4, classify=answer(), history=history)[0])
    assert reply.title == REPLACE.name
    assert reply.situation is not None
    assert not reply.situation.is_open


def test_a_person_s_decision_is_not_replaced() -> None:
    reply = reply_of(asked(first=0.4, classify=answer(), decided=True)[0])
    assert reply.title == REPLACE.name
    assert reply.situation is not None
    assert reply.situation.is_open


def test_a_reply_keeps_its_checklist_as_json() -> None:
    reply = reply_of(asked(first=0.8, classify=answer())[0])
    assert Reply.from_dict(reply.as_dict()) == reply
    assert "1. File a tax return (if your tax papers are gone)" in reply.as_text()


def test_the_checklist_of_a_stored_reply_is_made_again_only_where_it_was_told() -> None:
    opened = listed(asked(first=0.8, classify=answer())[0])
    assert situations.again(opened, THEFT, KNOWN) == opened
    assert situations.again(opened, None, KNOWN) is None
    offered = replace(opened, is_open=False)
    assert situations.again(offered, None, KNOWN) == offered


def engine(search: FakeSearch, **turn: Any) -> Outcome:
    """Run a turn with the offline engine."""
    model: Any = OfflineModel()
    model.pauses = []
    return run(model, release=KNOWN, shortlist=search, **turn)[0]


def test_the_offline_engine_says_a_situation_only_where_the_search_is_sure() -> None:
    odds = {("passports", "passports.replace"): 0.9}
    for near, opened in ((0.59, False), (0.6, True)):
        search = FakeSearch(KNOWN, odds=odds, situations={"theft": near})
        assert listed(engine(search)).is_open is opened


def test_a_message_that_only_tells_of_an_event_is_an_inquiry() -> None:
    text = "they took it all!!"
    odds = {("passports", "passports.replace"): 0.9}
    for near, kind in ((0.1, "guidance"), (0.6, "service")):
        search = FakeSearch(KNOWN, odds=odds, kinds={text: "thanks"}, situations={"theft": near})
        assert reply_of(engine(search, text=text)).kind == kind


NEXT = "I did that, what next?"


def following(
    done: list[str], *answered: str, situation: str = "theft", opened: bool = True
) -> list[str]:
    history: list[dict[str, Any]] = []
    for number, reference in enumerate(answered):
        agency, _, service = reference.partition("/")
        item = {"role": "assistant", "text": "", "agency": agency, "service": service}
        fields = (
            {"situation": situation, "opened": opened, "done": done}
            if number == 0 and situation
            else {}
        )
        history += [{"role": "user", "text": "all is gone"}, {**item, **fields}]
    links = {("tax", "tax.return"): [RENEW], ("parks", "parks.pavilion"): [RENEW]}
    search = FakeSearch(KNOWN, kinds={NEXT: "next"}, links=links)
    return [service for _, service in read(NEXT, history, search, KNOWN).chosen]


def test_what_comes_next_is_the_next_line_of_the_checklist() -> None:
    first, second, third = LISTED
    assert following([], first) == [REPLACE.key]
    assert following([second], first) == [PAVILION.key]
    assert following([], first, second) == [PAVILION.key]
    # All of it is done: what the last entry sends on to.
    assert following([], first, second, third) == [RENEW.key]
    assert following([], first, situation="") == [RENEW.key]
    # What was only offered comes after what the entry itself says.
    assert following([], first, opened=False) == [RENEW.key]
    assert following([], second, opened=False) == [RETURN.key]


def test_a_situation_is_chosen_by_its_name() -> None:
    offered = [
        {"agency": "passports", "service": "passports.renew"},
        {"agency": "", "service": CODE},
    ]
    history: list[dict[str, Any]] = [
        {"role": "user", "text": "help"},
        {"role": "assistant", "text": "", "offered": offered},
    ]
    reading = read("everything was stolen", history, FakeSearch(KNOWN), KNOWN)
    assert reading.chosen == (("", CODE),)
    outcome, _, _ = asked(text="everything was stolen", history=history)
    assert reply_of(outcome).title == RETURN.name
    assert listed(outcome).is_open
