"""The gate: every check that an attempt must pass, in order, each failure with its code.

Steps run in the order of :data:`STEPS`; a later step runs only on what the earlier ones let
through, and all findings of a step are collected. The gate never raises for anything that a model
can say, knows no model and keeps no state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from itertools import islice
from typing import Any, NamedTuple, TypedDict, cast

from jsonschema import Draft202012Validator, ValidationError

from ieim.pipeline import evidence
from ieim.pipeline.canonical import map_scores, two_decimals
from ieim.pipeline.contract import Contract
from ieim.pipeline.evidence import Span, UsedSpans
from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.gate import strict_json
from ieim.pipeline.ports import CONTENT_FILTER, REJECTED, TOO_LONG, ModelAnswer
from ieim.pipeline.stages.base import Claim, Context, Output

MAX_BYTES = 256 * 1024
MAX_FINDINGS = 100
"""The most findings of a step: an answer can hold tens of thousands."""

MINIMUM_SCORE = Decimal("0.50")
SOURCE = "user_prompt"
UNKNOWN_FIELD = "The contract does not know this field."
"""The message of the one fault of shape that is harmless: the answer can be taken without it."""


class EvidenceDict(TypedDict):
    """A located quote as JSON."""

    path: str
    source: str
    start: int
    end: int
    quote: str
    snippet_sha256: str
    occurrences: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """The place of a quote of the answer in the citizen's text (half-open code points)."""

    path: str
    start: int
    end: int
    quote: str
    snippet_sha256: str
    occurrences: int

    def as_dict(self) -> EvidenceDict:
        """Return the span in its published JSON form."""
        return cast(EvidenceDict, {"source": SOURCE, **asdict(self)})


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gate says of one answer.

    ``output`` is the parsed answer (numbers with a point as Decimal) as soon as it is strict JSON,
    ``state_merge`` the slice for ``cached_state``, only when the answer passed or is taken
    in spite of its findings (:func:`accepted`).
    """

    findings: tuple[Finding, ...]
    evidence: tuple[Evidence, ...]
    output: dict[str, Any] | None
    state_merge: dict[str, Any] | None

    def stopped_by(self, findings: Iterable[Finding]) -> Judgement:
        """Return the judgement with findings from outside the gate: with any it has not passed."""
        added = tuple(findings)
        return replace(self, findings=self.findings + added, state_merge=None) if added else self

    @property
    def passed(self) -> bool:
        """Whether nothing was found that stops an answer."""
        return not any(finding.stops for finding in self.findings)


class Checked(NamedTuple):
    """An answer that a step checks. The evidence step adds to ``located`` the quotes that stand."""

    contract: Contract
    output: Output
    context: Context
    located: list[Evidence]


def judge(contract: Contract, answer: ModelAnswer, context: Context) -> Judgement:
    """Judge one answer of a model against its contract."""
    findings = _model(answer)
    if findings:
        return Judgement(tuple(findings), (), None, None)
    output, findings = strict_json.parse(answer.raw)
    if output is None:
        return Judgement(_capped(findings), (), None, None)
    checked = Checked(contract, output, context, [])
    recorded: list[Finding] = []
    for step in STEPS:
        step_findings = _capped(step(checked))
        if stopping := tuple(finding for finding in step_findings if finding.stops):
            if step in _BEFORE_EVIDENCE:  # who reads the answer sees its quotes in place
                list(_evidence(checked))
            return Judgement(stopping, tuple(checked.located), output, None)
        recorded += step_findings
    return accepted(contract, Judgement(tuple(recorded), tuple(checked.located), output, None))


def accepted(contract: Contract, judgement: Judgement) -> Judgement:
    """Return a judgement whose answer is taken, with its slice for ``cached_state``."""
    output = with_two_decimals(judgement.output)
    return replace(judgement, output=output, state_merge=contract.stage.state_slice(output))


def with_two_decimals(value: Any) -> Any:
    """Return an answer with every score as a Decimal of two places, where that is its value."""
    return map_scores(value, _in_two_decimals)


def _in_two_decimals(score: int | Decimal) -> Decimal:
    number = Decimal(score)
    return two_decimals(number) if has_two_decimals(number) else number


def _capped(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(islice(findings, MAX_FINDINGS))


def _model(answer: ModelAnswer) -> list[Finding]:
    raw = answer.raw
    # Characters first: a bound on the bytes without encoding 10 MB.
    large = len(raw) > MAX_BYTES or len(raw.encode("utf-8", "surrogatepass")) > MAX_BYTES
    reason = answer.finish_reason
    refused = bool(answer.refusal) or reason == CONTENT_FILTER
    cut = reason == "length"
    too_long, rejected = reason == TOO_LONG, reason == REJECTED
    faults = (
        (refused, Code.MODEL_REFUSAL, "The model refused, or its content filter stopped it."),
        (too_long, Code.MODEL_CONTEXT_LENGTH, "The request is too long for the model's context."),
        (rejected, Code.MODEL_REJECTED, "The model server did not take this request."),
        (cut, Code.MODEL_TRUNCATED, "The answer was cut off at the length limit."),
        (large, Code.MODEL_TOO_LARGE, f"The answer is larger than {MAX_BYTES} bytes."),
    )
    return [Finding(code, "", message) for fails, code, message in faults if fails]


def _schema(checked: Checked) -> Iterable[Finding]:
    return schema_findings(checked.contract.validator, checked.output, limit=MAX_FINDINGS)


def schema_findings(
    validator: Draft202012Validator, output: Mapping[str, Any], *, limit: int
) -> Iterable[Finding]:
    """Yield the findings of at most ``limit`` validation errors, ordered by place."""
    errors = islice(validator.iter_errors(output), limit)
    for error in sorted(errors, key=lambda e: [str(part) for part in e.absolute_path]):
        yield from _of_error(error)


_PHRASES: Mapping[str, str] = {
    "type": "has the wrong type; expected {0}",
    "enum": "is not one of the values that the contract lists",
    "const": "is not the value that the contract fixes",
    "minLength": "is empty",
    "maxLength": "is longer than {0} characters",
    "minimum": "is below {0}",
    "maximum": "is above {0}",
    "minItems": "has fewer than {0} items",
    "maxItems": "has more than {0} items",
    "maxProperties": "has more than {0} entries",
    "minProperties": "has no entry",
}


def _of_error(error: ValidationError) -> Iterable[Finding]:
    path = list(error.absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        schema = error.schema if isinstance(error.schema, Mapping) else {}
        for name in sorted(set(error.instance) - set(schema.get("properties", {}))):
            yield Finding(Code.SCHEMA, pointer(*path, name), UNKNOWN_FIELD)
        return
    if error.validator == "required" and isinstance(error.instance, dict):
        # One error a missing name: the message is jsonschema's, which quotes only that name.
        yield Finding(Code.SCHEMA, pointer(*path), f"A field is missing: {error.message}.")
        return
    expected = error.validator_value
    if isinstance(expected, list):
        expected = " or ".join(str(item) for item in expected)
    phrase = _PHRASES.get(str(error.validator), "does not fit the contract").format(expected)
    yield Finding(Code.SCHEMA, pointer(*path), f"The value {phrase}.")


def _session(checked: Checked) -> Iterable[Finding]:
    output, context = checked.output, checked.context
    if not checked.contract.stage.has_session:
        for name in ("session_id", "response_id"):
            if name in output:
                yield Finding(Code.SESSION_MISMATCH, f"/{name}", f"This contract has no {name}.")
        return
    if output["session_id"] != context.cached("session_id"):
        message = "The session_id is not that of this session."
        yield Finding(Code.SESSION_MISMATCH, "/session_id", message)
    if output["response_id"] in context.used_response_ids:
        message = "This response_id was used before in the session."
        yield Finding(Code.RESPONSE_REUSED, "/response_id", message)


def _labels(checked: Checked) -> Iterable[Finding]:
    return checked.contract.stage.labels(checked.output, checked.context)


def _knowledge(checked: Checked) -> Iterable[Finding]:
    # Judged first and alone: on the wrong branch there is nothing to compare with.
    if not checked.contract.stage.branch(checked.context):
        message = "The session's state does not lead to this stage."
        return [Finding(Code.ROUTE_BRANCH, "", message)]
    return checked.contract.stage.knowledge(checked.output, checked.context)


def _scores(checked: Checked) -> Iterable[Finding]:
    for score in checked.contract.stage.scores(checked.output):
        value = Decimal(score.value)
        if not has_two_decimals(value):
            message = "A score has at most two decimal places."
            yield Finding(Code.SCORE_PRECISION, score.path, message)
        if value < MINIMUM_SCORE:
            yield Finding(Code.SCORE_MINIMUM, score.path, f"The score is below {MINIMUM_SCORE}.")


def has_two_decimals(value: Decimal) -> bool:
    """Whether ``value`` times 100 is whole, by value: 0.9 and 5e-1 are, 0.876 is not."""
    # From the digits, not by multiplying: the decimal context rounds long numbers to 28 digits.
    parts = value.as_tuple()
    digits = "".join(map(str, parts.digits))
    zeros = len(digits) - len(digits.rstrip("0"))
    return not digits.strip("0") or int(parts.exponent) + zeros >= -2


def _evidence(checked: Checked) -> Iterable[Finding]:
    claims = checked.contract.stage.claims(checked.output)
    for claim, spans in placed(claims, checked.context.seen):
        yield from _check_claim(claim, spans, checked.context, checked.located)


def placed(claims: Iterable[Claim], text: str) -> Iterator[tuple[Claim, list[Span | None]]]:
    """Yield each claim of one answer with the place of each of its quotes in ``text``.

    Facts share their quotes: where two facts have the same quote, the first points to its first
    occurrence and the second to the next, in the order of the answer; with more facts than
    occurrences the later ones point to the last. Each label has its quotes to itself: several
    labels may rest on the same words, and point to their first occurrence.
    """
    facts: UsedSpans = {}
    for claim in claims:
        used_spans = None if claim.value is None else facts
        yield claim, evidence.locate_each(text, claim.snippets, used_spans)


def _check_claim(
    claim: Claim, spans: Iterable[Span | None], context: Context, located: list[Evidence]
) -> Iterable[Finding]:
    text = context.seen
    base = f"{claim.path}/evidence_snippets"
    # Where the whole message is filler ("by when?") a label can stand on nothing else.
    may_be_filler = claim.may_be_filler or (claim.value is None and evidence.is_trivial(text))
    if not claim.snippets:
        yield Finding(Code.EVIDENCE_MISSING, base, "There is no quote from the citizen's text.")
    findings = []
    for i, span in enumerate(spans):
        quote, path = claim.snippets[i], f"{base}/{i}"
        if evidence.is_trivial(quote) and not may_be_filler:
            message = "The quote is only filler words or marks."
            yield Finding(Code.EVIDENCE_TRIVIAL, path, message)
        elif span is None:
            message = "The quote does not stand in the citizen's text."
            yield Finding(Code.EVIDENCE_NOT_FOUND, path, message)
        else:
            findings.append(text[span.start : span.end])
            start, end = context.original(span.start, span.end)
            sent = Span(start, end, span.occurrences)
            digest = evidence.snippet_sha256(context.user_prompt, sent)
            located.append(Evidence(path, start, end, quote, digest, span.occurrences))
    if claim.value is not None and not _value_stands(claim, claim.value, text, findings):
        message = "The value does not stand in the quotes from the citizen's text."
        yield Finding(Code.EVIDENCE_NOT_FOUND, claim.value_path, message)


def _value_stands(claim: Claim, value: str, text: str, quotes: Iterable[str]) -> bool:
    def stands_in(quote: str) -> bool:
        return evidence.contains_value(quote, value, masks=claim.may_be_masked)

    if any(map(stands_in, quotes)):
        return True
    # A quote that is missing, filler or not in the text has a finding of its own: the value is at
    # fault only where the text does not have it, or none of its quotes as they were given.
    return stands_in(text) and (not claim.snippets or any(map(stands_in, claim.snippets)))


def _semantics(checked: Checked) -> Iterable[Finding]:
    stage, output, context = checked.contract.stage, checked.output, checked.context
    yield from stage.semantics(output, context)
    legal = stage.legal_next(output, context)
    if legal is not None and output["nextStep"] != legal:
        yield Finding(Code.ROUTE_NEXT_STEP, "/nextStep", f"The next step can only be {legal}.")


def _telemetry(checked: Checked) -> Iterable[Finding]:
    if checked.context.attempt > 1 and "telemetry" in checked.contract.schema["properties"]:
        notes = checked.output["telemetry"]["notes"]
        if not notes or not notes.strip():
            message = "A second attempt has to say what it fixed."
            yield Finding(Code.TELEMETRY_MISSING, "/telemetry/notes", message)


Step = Callable[[Checked], Iterable[Finding]]

STEPS: tuple[Step, ...] = (
    _schema,
    _session,
    _labels,
    _knowledge,
    _scores,
    _evidence,
    _semantics,
    _telemetry,
)
"""After ``model`` and ``json``, which work on the answer before there is any output."""

_BEFORE_EVIDENCE = frozenset({_session, _labels, _knowledge, _scores})
"""Steps whose findings leave an answer of the right shape: its quotes are located all the same."""
