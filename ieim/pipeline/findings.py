"""Findings: what a gate says about an answer, as stable public codes.

The codes are an interface: the review console, the audit record, the reports and other people's
scripts rely on them. A code is added, never renamed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict


class Code(StrEnum):
    """Every way in which an answer, a call or a turn can be stopped."""

    MODEL_REFUSAL = "model.refusal"
    MODEL_TRUNCATED = "model.truncated"
    MODEL_TOO_LARGE = "model.too_large"
    MODEL_CONTEXT_LENGTH = "model.context_length"
    MODEL_REJECTED = "model.rejected"
    MODEL_TIMEOUT = "model.timeout"
    MODEL_UNAVAILABLE = "model.unavailable"
    JSON_SYNTAX = "json.syntax"
    JSON_NOT_OBJECT = "json.not_object"
    JSON_DUPLICATE_KEY = "json.duplicate_key"
    JSON_NUMBER = "json.number"
    JSON_ENCODING = "json.encoding"
    JSON_TOO_DEEP = "json.too_deep"
    SCHEMA = "schema"
    SESSION_MISMATCH = "session.mismatch"
    RESPONSE_REUSED = "response.reused"
    LABEL_UNKNOWN = "label.unknown"
    KNOWLEDGE_UNKNOWN = "knowledge.unknown"
    KNOWLEDGE_MISMATCH = "knowledge.mismatch"
    SOURCES_UNKNOWN = "sources.unknown"
    SCORE_PRECISION = "score.precision"
    SCORE_MINIMUM = "score.minimum"
    EVIDENCE_MISSING = "evidence.missing"
    EVIDENCE_TRIVIAL = "evidence.trivial"
    EVIDENCE_NOT_FOUND = "evidence.not_found"
    VALUE_UNMASKED = "value.unmasked"
    AGENCY_COUNT = "agency.count"
    ROUTE_BRANCH = "route.branch"
    ROUTE_NEXT_STEP = "route.next_step"
    ROUTE_SUBJECT = "route.subject"
    TEMPLATE_UNRESOLVED = "template.unresolved"
    TEMPLATE_UNORDERED = "template.unordered"
    REPLY_EMPTY = "reply.empty"
    REPLY_UNGROUNDED = "reply.ungrounded"
    REPLY_UNCOVERED = "reply.uncovered"
    REPLY_UNSUPPORTED = "reply.unsupported"
    SOURCES_MISSING = "sources.missing"
    TELEMETRY_MISSING = "telemetry.missing"
    PIPELINE_ERROR = "pipeline.error"
    BUDGET_INPUT = "budget.input"
    BUDGET_OUTPUT = "budget.output"
    BUDGET_SESSION = "budget.session"
    BUDGET_DAY = "budget.day"
    POLICY_RISK = "policy.risk"
    POLICY_CONFIDENCE = "policy.confidence"
    """No longer made: it is in old records."""
    POLICY_LANGUAGE = "policy.language"
    POLICY_UNSIGNED = "policy.unsigned"
    POLICY_SWITCHED_OFF = "policy.switched_off"
    POLICY_OUTDATED = "policy.outdated"
    POLICY_PERSON = "policy.person"
    CITIZEN_FEEDBACK = "citizen.feedback"
    CITIZEN_DANGER = "citizen.danger"
    READER_HARMFUL = "reader.harmful"


WAIVABLE: frozenset[Code] = frozenset(
    {
        Code.SCORE_MINIMUM,
        Code.POLICY_RISK,
        Code.POLICY_CONFIDENCE,
        Code.POLICY_LANGUAGE,
        Code.POLICY_UNSIGNED,
        Code.POLICY_SWITCHED_OFF,
        Code.POLICY_OUTDATED,
        Code.CITIZEN_DANGER,
    }
)
"""What a person may approve as it stands; everything else needs an override."""

UNREAD: frozenset[Code] = frozenset(
    {Code.MODEL_REFUSAL, Code.MODEL_CONTEXT_LENGTH, Code.MODEL_REJECTED}
)
"""The findings of a request that was not answered: what its message says is not known."""

RECORDED: frozenset[Code] = frozenset({Code.TELEMETRY_MISSING, Code.TEMPLATE_UNORDERED})
"""What is found and kept with the attempt, and stops nothing where all else passes."""


class FindingDict(TypedDict):
    """A finding as JSON."""

    code: str
    path: str
    message: str
    waivable: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """One failed check.

    ``path`` is a JSON Pointer (RFC 6901) into the model's answer, ``""`` for the whole of it.
    ``message`` is one plain sentence for staff.
    """

    code: Code
    path: str
    message: str

    @property
    def stops(self) -> bool:
        """Whether an answer with this finding does not pass."""
        return self.code not in RECORDED

    @property
    def waivable(self) -> bool:
        """Whether a caseworker may approve the answer in spite of this finding."""
        return self.code in WAIVABLE

    def as_dict(self) -> FindingDict:
        """Return the finding in its published JSON form."""
        return {
            "code": self.code.value,
            "path": self.path,
            "message": self.message,
            "waivable": self.waivable,
        }


def pointer(*parts: str | int) -> str:
    """Return the JSON Pointer (RFC 6901) of ``parts``, escaped."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def steps(path: str) -> list[str]:
    """Return the parts of a JSON Pointer (RFC 6901), unescaped."""
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def all_waivable(findings: Iterable[Finding]) -> bool:
    """Whether every one of ``findings`` that stops an answer could be approved (true for none)."""
    return all(finding.waivable for finding in findings if finding.stops)
