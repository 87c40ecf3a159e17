"""Answers with one thing wrong, and what the gate says of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ieim.pipeline.findings import Code
from tests.pipeline.build import SESSION

Change = Callable[[dict[str, Any]], Any]

CASES: list[tuple[str, Change, list[tuple[Code, str]]]] = [
    # shape
    ("judgement_v1", lambda a: a.update(stage="x"), [(Code.SCHEMA, "/stage")]),
    ("judgement_v1", lambda a: a.update(assistantReply="Hi"), [(Code.SCHEMA, "/assistantReply")]),
    # What the type of inquiry says is said once: nothing follows for the reply.
    (
        "judgement_v1",
        lambda a: a["judgements"].update(inquiry="yes"),
        [(Code.SCHEMA, "/judgements/inquiry")],
    ),
    (
        "judgement_v1",
        lambda a: a.update(judgements={}, assistantReply="Hi"),
        [(Code.SCHEMA, "/judgements")],
    ),
    (
        "judgement_v1",
        lambda a: a["judgements"].update(inquiry=False),
        [(Code.SCHEMA, "/assistantReply")],
    ),
    ("agency_detect_v1", lambda a: a.update(response_id=""), [(Code.SCHEMA, "/response_id")]),
    (
        "agency_detect_v1",
        lambda a: a["judgements"].update(complexity="medium"),
        [(Code.SCHEMA, "/judgements/complexity")],
    ),
    (
        "category_select_v1",
        lambda a: a["categorySelection"].update(candidates={}),
        [(Code.SCHEMA, "/categorySelection/candidates")],
    ),
    (
        "category_select_v1",
        lambda a: a["categorySelection"]["candidates"]["lost"].update(score=1.5),
        [(Code.SCHEMA, "/categorySelection/candidates/lost/score")],
    ),
    (
        "service_select_v1",
        lambda a: a["template"].update(placeholders={}),
        [(Code.SCHEMA, "/template/placeholders")],
    ),
    (
        "semantic_analysis_v1",
        lambda a: a["semanticAnalysis"]["primaryAgency"].update(reason=""),
        [(Code.SCHEMA, "/semanticAnalysis/primaryAgency/reason")],
    ),
    (
        "classify",
        lambda a: a["urgency"]["evidence_snippets"].append("x" * 201),
        [(Code.SCHEMA, "/urgency/evidence_snippets/1")],
    ),
    # session
    (
        "agency_detect_v1",
        lambda a: a.update(session_id="other"),
        [(Code.SESSION_MISMATCH, "/session_id")],
    ),
    (
        "judgement_v1",
        lambda a: a.update(session_id=SESSION),
        [(Code.SESSION_MISMATCH, "/session_id")],
    ),
    # labels
    (
        "classify",
        lambda a: a["urgency"].update(label="replace_lost"),
        [(Code.LABEL_UNKNOWN, "/urgency/label")],
    ),
    (
        "classify",
        lambda a: a.update(primary_intent="other"),
        [(Code.LABEL_UNKNOWN, "/primary_intent")],
    ),
    (
        "classify",
        lambda a: a["urgency"].update(label="high\n"),
        [(Code.LABEL_UNKNOWN, "/urgency/label")],
    ),
    (
        "extract",
        lambda a: a["entities"][0].update(entity_type="Date"),
        [(Code.LABEL_UNKNOWN, "/entities/0/entity_type")],
    ),
    (
        "identity_assist",
        lambda a: a["keys"][0].update(key_type="x"),
        [(Code.LABEL_UNKNOWN, "/keys/0/key_type")],
    ),
    # knowledge
    (
        "agency_detect_v1",
        lambda a: a["judgements"]["agencyInfo"][0].update(path="https://evil.example"),
        [(Code.KNOWLEDGE_MISMATCH, "/judgements/agencyInfo/0/path")],
    ),
    (
        "agency_detect_v1",
        lambda a: a["judgements"].update(agencyDetected=["passport"]),
        [
            (Code.KNOWLEDGE_UNKNOWN, "/judgements/agencyDetected/0"),
            (Code.KNOWLEDGE_UNKNOWN, "/judgements/agencyInfo/0/agencyId"),
            (Code.KNOWLEDGE_MISMATCH, "/judgements/agencyInfo"),
        ],
    ),
    (
        "category_select_v1",
        lambda a: a["categorySelection"]["candidates"].update(
            rooms={"value": "Rooms and pavilions", "score": 0.9}
        ),
        [(Code.KNOWLEDGE_UNKNOWN, "/categorySelection/candidates/rooms")],
    ),
    (
        "category_select_v1",
        lambda a: a["categorySelection"]["candidates"]["lost"].update(value="lost passports"),
        [(Code.KNOWLEDGE_MISMATCH, "/categorySelection/candidates/lost/value")],
    ),
    (
        "semantic_analysis_v1",
        lambda a: a["semanticAnalysis"]["primaryAgency"].update(agencyId="tax"),
        [(Code.KNOWLEDGE_UNKNOWN, "/semanticAnalysis/primaryAgency/agencyId")],
    ),
    (
        "semantic_analysis_v1",
        lambda a: a["semanticAnalysis"]["agencies"][1].update(agencyName="Parks"),
        [(Code.KNOWLEDGE_MISMATCH, "/semanticAnalysis/agencies/1/agencyName")],
    ),
    (
        "service_select_v1",
        lambda a: a["serviceSelection"].update(serviceKey="tax.return"),
        [(Code.KNOWLEDGE_UNKNOWN, "/serviceSelection/serviceKey")],
    ),
    (
        "service_select_v1",
        lambda a: a["serviceSelection"].update(path="https://passports.example/other"),
        [(Code.KNOWLEDGE_MISMATCH, "/serviceSelection/path")],
    ),
    (
        "multi_agency_service_answer_v1",
        lambda a: a["sourcesUsed"][0].update(serviceKey="passports.x"),
        [(Code.SOURCES_UNKNOWN, "/sourcesUsed/0/serviceKey")],
    ),
    (
        "multi_agency_service_answer_v1",
        lambda a: a["sourcesUsed"][0].update(agencyId="tax"),
        [(Code.SOURCES_UNKNOWN, "/sourcesUsed/0/agencyId")],
    ),
    (
        "multi_agency_service_answer_v1",
        lambda a: a["sourcesUsed"][1].update(path=""),
        [(Code.KNOWLEDGE_MISMATCH, "/sourcesUsed/1/path")],
    ),
    # scores
    (
        "service_select_v1",
        lambda a: a["serviceSelection"].update(score=0.455),
        [
            (Code.SCORE_PRECISION, "/serviceSelection/score"),
            (Code.SCORE_MINIMUM, "/serviceSelection/score"),
        ],
    ),
    (
        "classify",
        lambda a: a["urgency"].update(confidence=0.875),
        [(Code.SCORE_PRECISION, "/urgency/confidence")],
    ),
    # evidence
    (
        "classify",
        lambda a: a["urgency"].update(evidence_snippets=[]),
        [(Code.EVIDENCE_MISSING, "/urgency/evidence_snippets")],
    ),
    (
        "classify",
        lambda a: a["urgency"].update(evidence_snippets=["..."]),
        [(Code.EVIDENCE_TRIVIAL, "/urgency/evidence_snippets/0")],
    ),
    (
        "classify",
        lambda a: a["urgency"].update(evidence_snippets=["Please help tomorrow"]),
        [(Code.EVIDENCE_NOT_FOUND, "/urgency/evidence_snippets/0")],
    ),
    (
        "extract",
        lambda a: a["entities"][0].update(value_redacted="4 May"),
        [(Code.EVIDENCE_NOT_FOUND, "/entities/0/value_redacted")],
    ),
    (
        "identity_assist",
        lambda a: a["keys"][0].update(evidence_snippets=["was stolen on 3 May"]),
        [(Code.EVIDENCE_NOT_FOUND, "/keys/0/key_value")],
    ),
    # Only an entity's value may be masked (decision 16).
    (
        "identity_assist",
        lambda a: a["keys"][0].update(key_value="AB-****56"),
        [(Code.EVIDENCE_NOT_FOUND, "/keys/0/key_value")],
    ),
    (
        "identity_assist",
        lambda a: a["keys"][0].update(key_value="[NUMBER]"),
        [(Code.EVIDENCE_NOT_FOUND, "/keys/0/key_value")],
    ),
    # One fault, one finding: a bad quote does not make a good value a bad one.
    (
        "identity_assist",
        lambda a: a["keys"][0].update(evidence_snippets=["pasport AB-123456"]),
        [(Code.EVIDENCE_NOT_FOUND, "/keys/0/evidence_snippets/0")],
    ),
    (
        "extract",
        lambda a: a["entities"][0].update(value_redacted="3", evidence_snippets=["3"]),
        [(Code.EVIDENCE_TRIVIAL, "/entities/0/evidence_snippets/0")],
    ),
    (
        "extract",
        lambda a: a["entities"][0].update(evidence_snippets=[]),
        [(Code.EVIDENCE_MISSING, "/entities/0/evidence_snippets")],
    ),
    (
        "extract",
        lambda a: a["entities"][0].update(value_redacted="4 May", evidence_snippets=[]),
        [
            (Code.EVIDENCE_MISSING, "/entities/0/evidence_snippets"),
            (Code.EVIDENCE_NOT_FOUND, "/entities/0/value_redacted"),
        ],
    ),
    (
        "extract",
        lambda a: a["entities"][0].update(
            value_redacted="4 May", evidence_snippets=["stolen on 4 May"]
        ),
        [
            (Code.EVIDENCE_NOT_FOUND, "/entities/0/evidence_snippets/0"),
            (Code.EVIDENCE_NOT_FOUND, "/entities/0/value_redacted"),
        ],
    ),
    # semantics
    (
        "agency_detect_v1",
        lambda a: a["judgements"].update(agencyCount=2),
        [(Code.AGENCY_COUNT, "/judgements/agencyCount")],
    ),
    (
        "agency_detect_v1",
        lambda a: a.update(nextStep="session_end"),
        [(Code.ROUTE_NEXT_STEP, "/nextStep")],
    ),
    (
        "judgement_v1",
        lambda a: a.update(nextStep="session_end"),
        [(Code.ROUTE_NEXT_STEP, "/nextStep")],
    ),
    (
        "service_select_v1",
        lambda a: a.update(nextStep="multi_agency_service_answer_v1"),
        [(Code.ROUTE_NEXT_STEP, "/nextStep")],
    ),
    (
        "service_select_v1",
        lambda a: a["template"].update(rules="Add {service_contact}."),
        [(Code.TEMPLATE_UNRESOLVED, "/template/rules")],
    ),
    (
        "service_select_v1",
        lambda a: a["template"]["placeholders"].update(service_name="Passport"),
        [(Code.TEMPLATE_UNRESOLVED, "/template/placeholders/service_name")],
    ),
    (
        "multi_agency_service_answer_v1",
        lambda a: a.update(assistantReply=" \n"),
        [(Code.REPLY_EMPTY, "/assistantReply")],
    ),
    (
        "multi_agency_service_answer_v1",
        lambda a: a.update(assistantReply=a["assistantReply"] + " It costs MRK 46.00."),
        [(Code.REPLY_UNGROUNDED, "/assistantReply")],
    ),
    (
        "multi_agency_service_answer_v1",
        lambda a: a.update(assistantReply=a["assistantReply"] + " Or File a tax return."),
        [(Code.SOURCES_MISSING, "/assistantReply")],
    ),
]
