"""multi_agency_service_answer_v1 of the offline engine: the index's words, only what it cites."""

from __future__ import annotations

import json
from typing import Any

from ieim.pipeline.findings import Code
from tests.llm.offline.payloads import answered, service_slot
from tests.pipeline.build import PAVILION, RENEW, REPLACE, judged

CONTRACT = "multi_agency_service_answer_v1"


def composed(**changes: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(answered(CONTRACT, **changes))
    return answer


def test_it_says_what_to_do_first_at_each_agency_and_cites_both() -> None:
    output = composed()
    assert output["assistantReply"].split("\n\n") == [
        "Passport Office: Report the loss.",
        "Parks Office: Book a pavilion.",
    ]
    assert output["sourcesUsed"] == [
        {"agencyId": s.agency, "serviceKey": s.key, "path": s.path} for s in (REPLACE, PAVILION)
    ]


def test_it_leaves_out_sentences_that_name_what_it_does_not_cite() -> None:
    first = {
        **service_slot(REPLACE, 1),
        "how_to_apply": ["Or renew a passport."],
        "overview": "See also Renew a passport. It takes a week.",
    }
    index = [service_slot(RENEW, 2), first, service_slot(PAVILION, 1)]
    reply = composed(service_index=index)["assistantReply"]
    assert reply.startswith("Passport Office: It takes a week.")


def test_it_keeps_to_names_when_the_first_answer_said_too_much() -> None:
    findings = [{"code": "reply.ungrounded", "path": "/assistantReply"}]
    reply = composed(attempt=2, previous_findings=findings)["assistantReply"]
    assert reply == "Passport Office: Replace a lost passport.\n\nParks Office: Book a pavilion."


def test_an_agency_without_a_service_fails_the_gate() -> None:
    raw = answered(CONTRACT, service_index=[service_slot(REPLACE, 1)])
    assert Code.REPLY_UNCOVERED in {finding.code for finding in judged(CONTRACT, raw).findings}
