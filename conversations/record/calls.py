"""What a call of the model leaves behind: prompt and schema, the attempt, or only its cost."""

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
"""So many of the latest calls say how many tokens a byte is."""


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


def kept() -> frozenset[str]:
    """Return the digests of all prompts and schemas that are stored: some tens."""
    return frozenset(Artifact.objects.values_list("sha256", flat=True))


def keep(contract: Contract, stored: Set[str]) -> Set[str]:
    """Store a contract's prompt and schema unless they are among those ``stored``, inside the
    caller's transaction; returns the digests of both."""
    contents = {
        contract.prompt_sha256: f"{contract.persona}\0{contract.directive}".encode(),
        contract.schema_sha256: rfc8785.dumps(dict(contract.schema)),
    }
    missing = contents.keys() - stored
    if missing:  # by now another worker may have kept them
        there = Artifact.objects.filter(sha256__in=missing).values_list("sha256", flat=True)
        missing -= set(there)
    Artifact.objects.bulk_create(
        [Artifact(sha256=sha256, content=contents[sha256]) for sha256 in sorted(missing)],
        # Two workers may use a prompt for the first time at once.
        ignore_conflicts=True,
    )
    return contents.keys()


def prompts(digests: Iterable[str]) -> dict[str, str]:
    """Return the prompts that were kept among ``digests``, persona and directive, to read."""
    found = Artifact.objects.filter(pk__in=set(digests))
    return {each.pk: bytes(each.content).decode().replace("\0", "\n") for each in found}


def request_of(attempt: Attempt) -> StoredRequest:
    """Return the request of an attempt as it was sent, whatever the prompts are now.

    Raises ``Artifact.DoesNotExist`` where prompt or schema were not kept.
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
    """Yield the artifacts that are not what their digest says, and those that are not there."""
    for artifact in Artifact.objects.order_by("pk").iterator(chunk_size=100):
        if hashlib.sha256(artifact.content).hexdigest() != artifact.pk:
            yield from of_store(KIND, [artifact.pk], Fault.CHANGED)
    missing: set[str] = set()
    for column in ("prompt_sha256", "contract_sha256"):
        there = Artifact.objects.filter(pk=OuterRef(column))
        bare = Attempt.objects.order_by().filter(~Exists(there))
        missing.update(bare.values_list(column, flat=True).distinct())
    yield from of_store(KIND, sorted(missing), Fault.MISSING)


def keep_unused(
    turn: Turn, request: ModelRequest, answer: ModelAnswer | None, count: Count, seconds: float
) -> Unused:
    """Store and audit the cost of a speculative call whose answer was discarded.

    ``answer`` is None where it had not come when the turn was done.
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
    """Return a server's own word for something, as every database can hold it."""
    readable = (text or "").encode("utf-8", "replace").decode("utf-8")
    return readable.replace("\0", "?")[:longest]


def keep_attempt(row: Stage, attempt: AttemptRecord) -> Attempt:
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
    """Return by contract how many tokens its model's server has counted for a byte at most.

    Of the last calls ``before`` a moment: what a turn has from its creation on, however often its
    run is resumed.
    """
    calls = Attempt.objects.filter(created_at__lt=before).order_by("-created_at")
    columns = ("stage__contract", "model", "request_bytes", "prompt_tokens")
    # Which of them are counted is asked here: the database would look through all calls that ever
    # were for those of a server that counts none.
    latest = calls.values_list(*columns)[:COUNTED_CALLS]
    return budget.tokens_per_byte(call for call in latest if call[-1])


def _sha256(request: ModelRequest) -> str:
    """Return the digest of what was sent, lower-case hex."""
    sent = "\0".join(message.content for message in request.messages)
    return hashlib.sha256(_bytes(sent)).hexdigest()


def _counted(answer: ModelAnswer | None, count: Count) -> int:
    """Return what a call counts as: the server's own count, or the estimate where it gave none;
    without an answer the most that it can cost."""
    if answer is None:
        return count.most
    sent, received = answer.prompt_tokens, answer.completion_tokens
    written = len(_bytes(answer.raw))
    return (count.input if sent is None else sent) + (written if received is None else received)


def audited(turn: Turn, row: Stage, stored: Attempt) -> dict[str, Any]:
    """Return what the audit keeps of an attempt beside its row: codes and counts, and nothing from
    which a citizen's words could be found by trying."""
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
