"""A small release and one right answer for each contract: what the gate's tests vary."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from ieim.pipeline import contract as contracts
from ieim.pipeline.findings import Code
from ieim.pipeline.gate.gate import Judgement, judge
from ieim.pipeline.knowledge import Agency, Category, Label, Release, Service
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.stages.base import Context

TODAY = date(2026, 5, 4)
SESSION = "5a1b6c3e-0000-4000-8000-000000000001"
TEXT = "My passport AB-123456 was stolen on 3 May. Please help today, I paid 40.00 already."

PARKS = Agency("parks", "Parks Office", "https://parks.example", "Looks after public gardens.")
PASS = Agency("passports", "Passport Office", "https://passports.example", "Issues passports.")
TAX = Agency("tax", "Tax Office", "https://tax.example", "Collects taxes.")

REPLACE = Service(
    agency="passports",
    key="passports.replace",
    name="Replace a lost passport",
    path="https://passports.example/replace",
    overview="You get a new passport when the old one is gone.",
    applicability_summary="For every citizen.",
    categories=("lost",),
    requirements=("A photo",),
    fees="MRK 45.00",
    how_to_apply=("Report the loss.", "Book a visit."),
    url="https://passports.example/replace",
)
RENEW = Service("passports", "passports.renew", "Renew a passport", "https://passports.example/r")
PAVILION = Service(
    "parks", "parks.pavilion", "Book a pavilion", "https://parks.example/p", fees="MRK 20.00"
)
RETURN = Service("tax", "tax.return", "File a tax return", "https://tax.example/return")


def release() -> Release:
    """Return the release that every test here works with."""
    categories = [
        Category("passports", "lost", "Lost passports", ("stolen",)),
        Category("passports", "new", "New passports"),
        Category("parks", "rooms", "Rooms and pavilions"),
        Category("tax", "returns", "Tax returns"),
    ]
    labels = [
        Label("intents", "replace_lost", "Replace", threshold=Decimal("0.60")),
        Label("intents", "other", "Other"),
        Label("product_lines", "passports", "Passports"),
        Label("urgencies", "high", "High", effect="240"),
        Label("risk_flags", "fraud", "Fraud", effect="hold"),
        Label("risk_flags", "press", "Press", effect="none"),
        Label("entity_types", "date", "Date"),
        Label("entity_types", "amount", "Amount"),
        Label("key_types", "passport_number", "Passport number"),
    ]
    sets: dict[str, dict[str, Label]] = {}
    for label in labels:
        sets.setdefault(label.set, {})[label.code] = label
    services = (REPLACE, RENEW, PAVILION, RETURN)
    return Release(
        number=1,
        sha256="0" * 64,
        agencies={agency.id: agency for agency in (PASS, PARKS, TAX)},
        categories={(c.agency, c.key): c for c in categories},
        services={(s.agency, s.key): s for s in services},
        labels=sets,
    )


RELEASE = release()


def state(branch: str = "low", upto: str = "end") -> dict[str, Any]:
    """Return the ``cached_state`` of a session on ``branch``."""
    cached: dict[str, Any] = {"session_id": SESSION, "judgement_v1": {"inquiry": True}}
    if upto == "agency_detect_v1":
        return cached
    if branch == "low":
        cached["agency_detect_v1"] = valid("agency_detect_v1")["judgements"]
        cached["category_select_v1"] = valid("category_select_v1")["categorySelection"]
        cached["nextStep"] = "service_select_v1"
        return cached
    ids = ["passports", "parks"]
    cached["agency_detect_v1"] = {
        "agencyDetected": ids,
        "agencyInfo": [_info(RELEASE.agencies[i]) for i in ids],
        "agencyCount": 2,
        "complexity": "high",
    }
    if upto == "multi_agency_service_answer_v1":
        cached["semantic_analysis_v1"] = valid("semantic_analysis_v1")["semanticAnalysis"]
        selected = valid("service_select_v1")
        cached["service_select_v1"] = {
            name: selected[name] for name in ("serviceSelection", "template")
        }
    elif upto == "service_select_v1":
        cached["semantic_analysis_v1"] = valid("semantic_analysis_v1")["semanticAnalysis"]
    return cached


def _info(agency: Agency) -> dict[str, str]:
    return {
        "agencyId": agency.id,
        "name": agency.name,
        "path": agency.path,
        "description": agency.description,
    }


def _label(code: str, *snippets: str) -> dict[str, Any]:
    return {"label": code, "confidence": 0.9, "evidence_snippets": list(snippets)}


_HEAD: dict[str, Any] = {"session_id": SESSION, "response_id": "r-1", "telemetry": {"notes": None}}

_VALID: Mapping[str, Callable[[], dict[str, Any]]] = {
    "judgement_v1": lambda: {
        "stage": "judgement_v1",
        "stageStatus": "ready",
        "judgements": {"inquiry": True},
        "assistantReply": None,
        "nextStep": "agency_detect_v1",
        "telemetry": {"notes": None},
    },
    "agency_detect_v1": lambda: {
        **_HEAD,
        "stage": "agency_detect_v1",
        "judgements": {
            "agencyDetected": ["passports"],
            "agencyInfo": [_info(PASS)],
            "agencyCount": 1,
            "complexity": "low",
        },
        "nextStep": "category_select_v1",
    },
    "category_select_v1": lambda: {
        **_HEAD,
        "stage": "category_select_v1",
        "categorySelection": {"candidates": {"lost": {"value": "Lost passports", "score": 0.9}}},
        "nextStep": "service_select_v1",
    },
    "semantic_analysis_v1": lambda: {
        **_HEAD,
        "stage": "semantic_analysis_v1",
        "semanticAnalysis": {
            "agencies": [
                {
                    "agencyId": agency.id,
                    "agencyName": agency.name,
                    "categorySelection": {"candidates": {key: {"value": value, "score": 0.75}}},
                }
                for agency, key, value in (
                    (PASS, "lost", "Lost passports"),
                    (PARKS, "rooms", "Rooms and pavilions"),
                )
            ],
            "primaryAgency": {"agencyId": "passports", "reason": "It is the main wish."},
        },
        "nextStep": "service_select_v1",
    },
    "service_select_v1": lambda: {
        **_HEAD,
        "stage": "service_select_v1",
        "serviceSelection": {
            "serviceKey": REPLACE.key,
            "name": REPLACE.name,
            "path": REPLACE.path,
            "matchedField": "name",
            "score": 0.9,
        },
        "template": {
            "placeholders": {"service_name": "{service_name}", "service_fees": "{service_fees}"},
            "rules": "Begin with {service_name}.",
        },
        "nextStep": "session_end",
    },
    "multi_agency_service_answer_v1": lambda: {
        **_HEAD,
        "stage": "multi_agency_service_answer_v1",
        "assistantReply": (
            "Report the loss first. Replace a lost passport at the Passport Office costs "
            "MRK 45.00.\n\nBook a pavilion at the Parks Office for MRK 20.00."
        ),
        "sourcesUsed": [
            {"agencyId": s.agency, "serviceKey": s.key, "path": s.path} for s in (REPLACE, PAVILION)
        ],
        "nextStep": "session_end",
    },
    "classify": lambda: {
        "intents": [_label("replace_lost", "was stolen")],
        "primary_intent": "replace_lost",
        "product_line": _label("passports", "My passport"),
        "urgency": _label("high", "Please help today"),
        "risk_flags": [],
    },
    "extract": lambda: {
        "entities": [
            {
                "entity_type": "date",
                "value_redacted": "3 May",
                "confidence": 0.9,
                "evidence_snippets": ["stolen on 3 May"],
            }
        ]
    },
    "identity_assist": lambda: {
        "keys": [
            {
                "key_type": "passport_number",
                "key_value": "AB123456",
                "evidence_snippets": ["passport AB-123456"],
            }
        ]
    },
}
CONTRACTS = tuple(_VALID)
STAGE_CONTRACTS = CONTRACTS[:6]

_STATES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "judgement_v1": lambda: {"session_id": SESSION},
    "agency_detect_v1": lambda: state(upto="agency_detect_v1"),
    "semantic_analysis_v1": lambda: state("high"),
    "multi_agency_service_answer_v1": lambda: state("high", "multi_agency_service_answer_v1"),
}


def valid(contract: str) -> dict[str, Any]:
    """Return a fresh answer that passes the gate."""
    return copy.deepcopy(_VALID[contract]())


def context(contract: str, **changes: Any) -> Context:
    """Return what ``valid(contract)`` is judged against."""
    values: dict[str, Any] = {
        "attempt": 1,
        "user_prompt": TEXT,
        "cached_state": _STATES.get(contract, state)(),
        "release": RELEASE,
        "labels": {name: frozenset(codes) for name, codes in RELEASE.labels.items()},
    }
    return Context(**{**values, **changes})


def judged(contract: str, answer: Any, **changes: Any) -> Judgement:
    """Judge ``answer``: a mapping, or the model's exact text, or a whole ModelAnswer."""
    if isinstance(answer, dict):
        answer = json.dumps(answer)
    if isinstance(answer, str):
        answer = ModelAnswer(answer, finish_reason="stop")
    return judge(contracts.load(contract), answer, context(contract, **changes))


def found(judgement: Judgement) -> list[tuple[Code, str]]:
    """Return the findings as ``(code, path)``."""
    return [(finding.code, finding.path) for finding in judgement.findings]
