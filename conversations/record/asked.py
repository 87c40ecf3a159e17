"""Keeping what a model was asked with, and reading it back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import rfc8785
from django.db.models import Exists, OuterRef

from conversations.models import Attempt
from conversations.record.models import Artifact
from ieim.audit.comparing import of_store
from ieim.audit.vouching import Discrepancy, Fault
from ieim.pipeline.contract import Contract, without_examples

KIND = "artifact"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model was asked: the three messages of the call, and the contract's schema.

    ``exact`` says that their digest is the one that was stored with the attempt.
    """

    persona: str
    directive: str
    question: str
    schema: dict[str, Any]
    exact: bool


def keep(contract: Contract) -> None:
    """Store a contract's prompt and schema unless they are, inside the caller's transaction."""
    wanted = {
        contract.prompt_sha256: f"{contract.persona}\0{contract.directive}".encode(),
        contract.schema_sha256: rfc8785.dumps(dict(contract.schema)),
    }
    stored = Artifact.objects.filter(sha256__in=wanted).values_list("sha256", flat=True)
    missing = wanted.keys() - set(stored)
    Artifact.objects.bulk_create(
        [Artifact(sha256=sha256, content=wanted[sha256]) for sha256 in sorted(missing)],
        # Two workers may use a prompt for the first time at once.
        ignore_conflicts=True,
    )


def prompts(digests: Iterable[str]) -> dict[str, str]:
    """Return the prompts that were kept among ``digests``, persona and directive, to read."""
    found = Artifact.objects.filter(pk__in=set(digests))
    return {each.pk: bytes(each.content).decode().replace("\0", "\n") for each in found}


def asked(attempt: Attempt) -> Asked:
    """Return what the model was asked in an attempt, whatever today's prompts are.

    Raises ``Artifact.DoesNotExist`` where prompt or schema were not kept.
    """
    prompt = bytes(Artifact.objects.get(pk=attempt.prompt_sha256).content).decode()
    schema = bytes(Artifact.objects.get(pk=attempt.contract_sha256).content)
    persona, _, directive = prompt.partition("\0")
    # The second attempt is asked without the examples.
    for sent in (directive, without_examples(directive)):
        messages = (persona, sent, attempt.asked_text)
        digest = hashlib.sha256("\0".join(messages).encode("utf-8", "surrogatepass")).hexdigest()
        if digest == attempt.request_sha256:
            return Asked(*messages, json.loads(schema), exact=True)
    return Asked(persona, directive, attempt.asked_text, json.loads(schema), exact=False)


def faults() -> Iterator[Discrepancy]:
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
