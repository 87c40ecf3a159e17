"""A model that is sure of the wrong service: whole turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ieim.pipeline.findings import Code
from ieim.pipeline.work import Abstained, Answered, Outcome
from tests.pipeline.build import RELEASE, RENEW, REPLACE, valid
from tests.pipeline.drive import ScriptedModel, run
from tests.pipeline.searching import FakeSearch

OTHER = replace(RENEW, key="passports.lend", name="Lend a passport", path="https://a.example/l")
WIDER = replace(RELEASE, services={**RELEASE.services, (OTHER.agency, OTHER.key): OTHER})


def chosen(sure: float, *, first: float, history: Sequence[Any] = ()) -> Outcome:
    """What comes of a model that is so sure of the third service, where the search has the first
    one by ``first``."""
    odds = {(s.agency, s.key): p for s, p in ((REPLACE, first), (RENEW, 0.04), (OTHER, 0.03))}
    answer = valid("service_select_v1")
    answer["serviceSelection"] |= {
        "serviceKey": OTHER.key,
        "name": OTHER.name,
        "path": OTHER.path,
        "score": sure,
    }
    answer["template"] = {"placeholders": {"service_name": "{service_name}"}, "rules": ""}
    model = ScriptedModel({"service_select_v1": [answer]})
    search = FakeSearch(WIDER, odds=odds)
    return run(model, shortlist=search, release=WIDER, history=history)[0]


def test_what_was_chosen_and_what_the_search_is_sure_of_are_both_offered_first() -> None:
    outcome = chosen(0.99, first=0.85)
    assert isinstance(outcome, Abstained)
    assert [finding.code for finding in outcome.findings] == [Code.ROUTE_SUBJECT]
    assert outcome.offered[:2] == (OTHER, REPLACE)
    assert isinstance(chosen(0.99, first=0.7), Answered)


def test_a_sure_model_is_believed_in_a_talk() -> None:
    talk = [
        {"role": "user", "text": "Hello, I have a question about my passport."},
        {"role": "assistant", "text": "Hello. What do you need?"},
    ]
    assert isinstance(chosen(0.99, first=0.85, history=talk), Answered)
    assert isinstance(chosen(0.79, first=0.85, history=talk), Abstained)
