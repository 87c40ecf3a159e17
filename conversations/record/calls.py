"""Records of model calls: prompts and schemas, attempts, and the cost of unused calls."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import rfc8785
from django.db.models import Exists, OuterRef

from conversations.models import Artifact, Attempt, Stage, Turn, Unused
from ieim.audit import services as audit
from ieim.audit.audited import Discrepancy, Fault
from ieim.audit.comparing import of_store
from ieim.pipeline import budget
from ieim.pipeline.budget import Count
from ieim.pipeline.contract import Contract, without_examples
from ieim.pipeline.findings import RECORDED
from ieim.pipeline.ports import ModelAnswer, ModelRequest
from ieim.pipeline.work import AttemptRecord

KIND = "artifact"
COUNTED_CALLS = 200
"""The latest calls by which :func:`tokens_per_byte` counts."""


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A request to the model: the three messages of the call, and the contract's schema.

    ``exact`` says that their digest is the one that was stored with the attempt.
    """

    persona: str
    directive: str
    question: str
    schema: dict[str, Any]
    exact: bool


def stored_digests() -> frozenset[str]:
    """Return the digests of all prompts and schemas that are stored: some tens."""
    return frozenset(Artifact.objects.values_list("sha256", flat=True))


def store_contract(contract: Contract, stored: Set[str]) -> Set[str]:
    """Store a contract's prompt and schema unless they are among ``stored``.

    Inside the caller's transaction. Returns the digests of both.
    """
    contents = {
        contract.prompt_sha256: f"{contract.persona}\0{contract.directive}".encode(),
        contract.schema_sha256: rfc8785.dumps(dict(contract.schema)),
    }
    missing = contents.keys() - stored
    if missing:  # another worker may have stored them
        missing -= set(Artifact.objects.filter(sha256__in=missing).values_list("sha256", flat=True))
    Artifact.objects.bulk_create(
        [Artifact(sha256=sha256, content=contents[sha256]) for sha256 in sorted(missing)],
        # Two workers may use a prompt for the first time at once.
        ignore_conflicts=True,
    )
    return contents.keys()


def prompts(digests: Iterable[str]) -> dict[str, str]:
    """Return the stored prompts among ``digests``, persona and directive, as text to read."""
    artifacts = Artifact.objects.filter(pk__in=set(digests))
    return {
        artifact.pk: bytes(artifact.content).decode().replace("\0", "\n") for artifact in artifacts
    }


def request_of(attempt: Attempt) -> StoredRequest:
    """Return the request of an attempt as it was sent, whatever the prompts are now.

    Raises:
        Artifact.DoesNotExist: prompt or schema are not stored.
    """
    prompt = bytes(Artifact.objects.get(pk=attempt.prompt_sha256).content).decode()
    schema = bytes(Artifact.objects.get(pk=attempt.contract_sha256).content)
    persona, _, directive = prompt.partition("\0")
    # The second attempt is sent without the examples.
    for sent in (directive, without_examples(directive)):
        messages = (persona, sent, attempt.asked_text)
        digest = hashlib.sha256("\0".join(messages).encode("utf-8", "surrogatepass")).hexdigest()
        if digest == attempt.request_sha256:
            return StoredRequest(*messages, json.loads(schema), exact=True)
    return StoredRequest(persona, directive, attempt.asked_text, json.loads(schema), exact=False)


def artifact_faults() -> Iterator[Discrepancy]:
    """Yield the artifacts that do not have their digest, and those that are missing."""
    for artifact in Artifact.objects.order_by("pk").iterator(chunk_size=100):
        if hashlib.sha256(artifact.content).hexdigest() != artifact.pk:
            yield from of_store(KIND, [artifact.pk], Fault.CHANGED)
    missing: set[str] = set()
    for column in ("prompt_sha256", "contract_sha256"):
        artifacts = Artifact.objects.filter(pk=OuterRef(column))
        attempts = Attempt.objects.order_by().filter(~Exists(artifacts))
        missing.update(attempts.values_list(column, flat=True).distinct())
    yield from of_store(KIND, sorted(missing), Fault.MISSING)


def store_unused(
    turn: Turn, request: ModelRequest, answer: ModelAnswer | None, count: Count, seconds: float
) -> Unused:
    """Store and audit the cost of a speculative call whose answer was discarded.

    ``answer`` is None if it had not come when the turn was done.
    """
    cost = Unused.objects.create(
        turn=turn,
        contract=request.contract,
        request_sha256=_sha256(request),
        prompt_tokens=answer.prompt_tokens if answer else None,
        completion_tokens=answer.completion_tokens if answer else None,
        tokens=_counted(answer, count),
        duration_ms=round(seconds * 1000),
    )
    audit.record(
        chain=turn.session_id,
        kind="stage.unused",
        actor="system",
        payload={
            "turn": str(turn.pk),
            "stage": cost.contract,
            "prompt_tokens": cost.prompt_tokens,
            "completion_tokens": cost.completion_tokens,
            "tokens": cost.tokens,
        },
    )
    return cost


def _bytes(text: str | None) -> bytes:
    return (text or "").encode("utf-8", "surrogatepass")


def _name(text: str | None, longest: int) -> str:
    """Return a text of the server in a form that every database can hold."""
    readable = (text or "").encode("utf-8", "replace").decode("utf-8")
    return readable.replace("\0", "?")[:longest]


def store_attempt(row: Stage, attempt: AttemptRecord) -> Attempt:
    """Store an attempt of a stage with its request and its answer."""
    answer, request, judgement = attempt.answer, attempt.request, attempt.judgement
    output = judgement.output or {}
    response_id = output.get("response_id", "")
    return Attempt.objects.create(
        stage=row,
        round=row.round,
        number=attempt.number,
        model=_name(answer.model, 200),
        temperature=round(Decimal(str(request.temperature)), 2),
        request_sha256=_sha256(request),
        contract_sha256=attempt.contract.schema_sha256,
        prompt_sha256=attempt.contract.prompt_sha256,
        request_bytes=request.size,
        asked=zlib.compress(_bytes(request.messages[-1].content)),
        raw=_bytes(answer.raw),
        finish_reason=_name(answer.finish_reason, 64),
        refusal=_bytes(answer.refusal),
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        cached_tokens=answer.cached_tokens,
        tokens=_counted(answer, attempt.count),
        duration_ms=round(attempt.seconds * 1000),
        findings=[finding.as_dict() for finding in judgement.findings],
        response_id=response_id if isinstance(response_id, str) else "",
    )


def tokens_per_byte(before: datetime) -> dict[str, float]:
    """Return the most tokens that a byte took, by contract, as the model's server counts.

    By the last calls ``before`` a moment, a turn's creation, so that a resumed run has the same.
    """
    calls = Attempt.objects.filter(created_at__lt=before).order_by("-created_at")
    columns = ("stage__contract", "model", "request_bytes", "prompt_tokens")
    # Filtered here: for a server that counts nothing the database would read all calls.
    latest = calls.values_list(*columns)[:COUNTED_CALLS]
    return budget.tokens_per_byte(call for call in latest if call[-1])


def _sha256(request: ModelRequest) -> str:
    """Return the digest of what was sent, lower-case hex."""
    sent = "\0".join(message.content for message in request.messages)
    return hashlib.sha256(_bytes(sent)).hexdigest()


def _counted(answer: ModelAnswer | None, count: Count) -> int:
    """Return the tokens of a call by the server's count, or else by the estimate.

    Without an answer it is the most that the call can cost.
    """
    if answer is None:
        return count.most
    sent, received = answer.prompt_tokens, answer.completion_tokens
    written = len(_bytes(answer.raw))
    return (count.input if sent is None else sent) + (written if received is None else received)


def attempt_payload(turn: Turn, row: Stage, stored: Attempt) -> dict[str, Any]:
    """Return the payload of an attempt's event: codes and counts.

    It has nothing from which a citizen's words could be found by trying.
    """
    return {
        "turn": str(turn.pk),
        "stage": row.contract,
        "round": row.round,
        "attempt": stored.number,
        "model": stored.model,
        "temperature": str(stored.temperature),
        "contract_sha256": stored.contract_sha256,
        "prompt_sha256": stored.prompt_sha256,
        "prompt_tokens": stored.prompt_tokens,
        "completion_tokens": stored.completion_tokens,
        "cached_tokens": stored.cached_tokens,
        "duration_ms": stored.duration_ms,
        "codes": [finding["code"] for finding in stored.findings],
        "passed": all(finding["code"] in RECORDED for finding in stored.findings),
    }
