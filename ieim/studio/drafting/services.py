"""Writes: a draft is asked for, made by a worker, and taken by a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext

from conversations.turns import running
from conversations.turns.store import spent_today
from ieim.administration import selectors as administration
from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.people.scope import works_for
from ieim.pipeline import contract as contracts
from ieim.pipeline import drafting
from ieim.pipeline.drafting import Drafted
from ieim.pipeline.findings import Finding
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Model, ModelUnavailable
from ieim.pipeline.stages.base import Output
from ieim.studio import runs
from ieim.studio.drafting import requests, selectors
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts import editing
from ieim.studio.drafts.editing import Edit
from ieim.studio.drafts.selectors import golden_texts
from ieim.studio.drafts.translations import Owner
from ieim.studio.models import Change, DraftingRun, Proposal, Service, Translation
from ieim.studio.proposals.selectors import sides
from ieim.studio.translating.selectors import target_languages

OUTAGE = "The model could not be reached: {}. Ask for the draft again when it can."
NOT_PASSED = "The model’s answer did not pass the checks."
Kind = DraftingRun.Kind


class DraftingError(Exception):
    """It cannot be done; the message is a sentence that says why and what to do."""


def has_model() -> bool:
    """Whether a language model is configured: the offline engine writes nothing."""
    return bool(settings.IEIM_MODEL["BASE_URL"])


@transaction.atomic
def start(*, kind: str, owner: Owner, language: str, by: User) -> DraftingRun:
    """Queue a draft of a :class:`DraftingRun.Kind` about an agency, category or service.

    ``language`` is the one to translate into, "" for the other kinds.

    Raises:
        DraftingError: there is no model, no such entry or language, or nothing to draft from.
    """
    draft = drafts.draft()
    if not has_model():
        raise DraftingError(gettext("No language model is configured, so nothing can be drafted."))
    is_translation = kind == Kind.TRANSLATION
    languages = target_languages(draft.bundle) if is_translation else [""]
    agency, category, service = owner
    is_known = kind in Kind and language in languages and not (category and service)
    if not is_known or not (service or is_translation):
        raise DraftingError(gettext("Choose what to draft, and a language of the list."))
    try:
        texts = requests.texts_of(draft.release, owner, kind)
    except KeyError:
        texts = {}
    if not texts or not works_for(by, agency):
        raise DraftingError(gettext("There is no text of your agencies to draft from."))
    identity = {"agency": agency, "service": service, "category": category}
    entry = Service.objects.filter(agency=agency, key=service).first()
    stored = Translation.objects.filter(**identity, language=language).first()
    changed = stored if is_translation else entry
    run = DraftingRun.objects.create(
        kind=kind,
        **identity,
        language=language,
        seen={"version": changed.version if changed else None, "texts": texts},
        created_by=by,
    )
    runs.queue(DraftingRun, run.pk)
    return run


@transaction.atomic
def start_stale(*, proposal: Proposal, by: User) -> None:
    """Queue a draft of each translation that a change set makes out of date and nobody has drafted.

    Those of other agencies than those of ``by`` are left out.

    Raises:
        DraftingError: there is no model.
        BundleError: the set refers to what is not there.
    """
    lock_head(SYSTEM_CHAIN)  # of two that ask at once, one does
    for stale in selectors.stale_translations(*sides(proposal)):
        if not stale.is_drafted and works_for(by, stale.owner[0]):
            start(kind=Kind.TRANSLATION, owner=stale.owner, language=stale.language, by=by)


def run_drafting(*, run_id: int, model: Model | None = None) -> None:
    """Ask the model for a draft; see :func:`ieim.studio.runs.execute`."""
    runs.execute(DraftingRun, run_id, lambda claim: _execute(claim, model), _fail)


def _execute(claim: runs.Claim, model: Model | None) -> None:
    run, draft = DraftingRun.objects.get(pk=claim.run_id), drafts.draft()
    contract_id, golden = requests.CONTRACTS[run.kind], golden_texts()

    def check(output: Output) -> Any:
        if run.kind != Kind.QUESTIONS:
            return ()
        return requests.question_findings(
            output, owner=run.owner, bundle=draft.bundle, golden=golden
        )

    payload = requests.payload(run, draft.bundle, draft.release)
    try:
        drafted, details = ask(contract_id, payload, draft.release, check, model)
    except ModelUnavailable as error:
        raise runs.RunFailed(OUTAGE.format(str(error).rstrip("."))) from error
    _finish(claim, run, drafted, details)


def ask(
    contract_id: str,
    payload: Mapping[str, Any],
    release: Release,
    check: Callable[[Output], Iterable[Finding]],
    model: Model | None = None,
) -> tuple[Drafted, dict[str, Any]]:
    """Return what the deployment's model drafts (:func:`ieim.pipeline.drafting.draft`), and what an
    audit event says of it.

    Raises:
        ModelUnavailable: no answer could be had.
    """
    model, persona = model or running.current_model(), administration.current().persona
    drafted = drafting.draft(
        contract_id,
        payload,
        release=release,
        model=model,
        options=running.options(persona=persona),
        day_spent=spent_today(),
        check=check,
    )
    contract = contracts.load(contract_id, persona)
    return drafted, {
        "contract": contract.id,
        "schema_sha256": contract.schema_sha256,
        "prompt_sha256": contract.prompt_sha256,
        "model": model.name,
        "attempts": drafted.attempts,
        "prompt_tokens": drafted.prompt_tokens,
        "completion_tokens": drafted.completion_tokens,
        "findings": [finding.code.value for finding in drafted.findings],
    }


@transaction.atomic
def _finish(
    claim: runs.Claim, run: DraftingRun, drafted: Drafted, details: Mapping[str, Any]
) -> None:
    tokens = drafted.prompt_tokens + drafted.completion_tokens
    if drafted.output is not None:
        result = requests.result_of(drafted.output, run.seen["texts"])
        claim.write(state=DraftingRun.State.DONE, result=result, tokens=tokens)
    else:
        result = {"findings": [finding.message for finding in drafted.findings]}
        failed = DraftingRun.State.FAILED
        claim.write(state=failed, error=NOT_PASSED, result=result, tokens=tokens)
    kind = "drafting.failed" if drafted.output is None else "drafting.finished"
    record_system(kind=kind, actor="system", payload={**_identity(run), **details})


@transaction.atomic
def _fail(claim: runs.Claim, sentence: str) -> None:
    claim.fail(sentence)
    record_system(kind="drafting.failed", actor="system", payload={"run": claim.run_id})


def _identity(run: DraftingRun) -> dict[str, Any]:
    names = ("kind", "agency", "category", "service", "language")
    return {"run": run.pk, **{name: str(getattr(run, name)) for name in names}}


@transaction.atomic
def accept(*, run: DraftingRun, taken: Mapping[str, str], by: User) -> None:
    """Save what a person takes of a draft, with their changes, by :func:`editing.save_all`.

    ``taken`` has the texts by field, or by the number of a question; a list has an item a line.

    Raises:
        DraftingError: it is taken already, nothing is ticked, or the original is another one now.
        editing.Stale, editing.OutOfScope, editing.ManyInvalid: as saving by hand.
    """
    lock_head(SYSTEM_CHAIN)
    run = DraftingRun.objects.get(pk=run.pk)
    if run.state != DraftingRun.State.DONE or run.accepted_at is not None:
        raise DraftingError(gettext("This draft is taken already, or is not ready."))
    if not taken:
        raise DraftingError(gettext("Tick what you want to take."))
    table, edits = _edits(run, taken)
    editing.save_all(table=table, edits=edits, by=by, source=Change.Source.ADMIN)
    run.accepted_at = timezone.now()
    run.save(update_fields=["accepted_at"])
    payload = {**_identity(run), "taken": sorted(taken)}
    record_system(kind="drafting.accepted", actor=by.actor, payload=payload)


def _edits(run: DraftingRun, taken: Mapping[str, str]) -> tuple[Table, Sequence[Edit]]:
    if run.kind == Kind.QUESTIONS:
        about = {"agency": run.agency, "service": run.service, "origin": "model"}
        drafted = dict(enumerate(run.result["questions"]))
        rows = [
            {**about, "language": drafted[int(number)]["language"], "text": " ".join(text.split())}
            for number, text in taken.items()
        ]
        return "questions", [Edit(row, None) for row in rows]
    originals = run.seen["texts"]
    try:
        now = requests.texts_of(drafts.draft().release, run.owner, run.kind)
    except KeyError:
        now = {}
    if any(now.get(name) != originals[name] for name in taken):
        raise DraftingError(gettext("The original has changed meanwhile: ask for a new draft."))
    values: dict[str, Any] = {
        name: text.strip()
        if isinstance(originals[name], str)
        else [line.strip() for line in text.splitlines() if line.strip()]
        for name, text in taken.items()
    }
    if run.kind == Kind.PLAIN:
        identity = {"agency": run.agency, "key": run.service}
        return "services", [Edit({**identity, **values}, run.seen["version"])]
    identity = {"language": run.language, "agency": run.agency}
    identity |= {"category": run.category, "service": run.service}
    return "translations", [Edit({**identity, **values}, run.seen["version"])]


def tokens_since(moment: datetime) -> int:
    """Return the tokens of the drafts that were asked for since a moment."""
    drafted = DraftingRun.objects.filter(created_at__gte=moment)
    return drafted.aggregate(used=Sum("tokens"))["used"] or 0


def forget(before: datetime) -> int:
    """Delete the drafts that were ready, or failed, before a moment; return how many."""
    finished = DraftingRun.objects.exclude(state__in=runs.UNFINISHED_STATES)
    count, _ = finished.filter(updated_at__lt=before).delete()
    return count
