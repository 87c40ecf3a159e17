"""Run the checks, once for each state of the knowledge.

A small draft is checked within the request. In a large one a worker does the checks that ask the
search, which take seconds; the others, among them all that can stop a proposal, answer meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from ieim.knowledge.bundles.bundle import Bundle, BundleError
from ieim.pipeline.knowledge import Release
from ieim.studio import runs
from ieim.studio.checks import Remark, Severity, at_once, by_search, examine, in_order
from ieim.studio.checks.rules import golden_examples
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts import selectors, sets
from ieim.studio.drafts.cached import Draft
from ieim.studio.models import CheckRun, Proposal

SMALL = 1_000
"""Services up to which everything is checked in less than a second."""

_RUNS_KEPT = 5
_CACHED = 4
_cache: dict[tuple[str, int | None], Sequence[Remark]] = {}


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks say, errors first. ``run`` is None once that is all there is to say;
    otherwise what the search has to say is missing: the run is not DONE."""

    remarks: Sequence[Remark]
    run: CheckRun | None = None

    @property
    def errors(self) -> list[Remark]:
        return [remark for remark in self.remarks if remark.severity is Severity.ERROR]


def budget() -> int | None:
    """Tokens that one call may take in; None is no limit."""
    limit: int | None = settings.IEIM_MODEL["BUDGET"]["input"]
    return limit


def languages() -> list[str]:
    """The languages that the deployment answers in; the first is the knowledge's."""
    return list(settings.IEIM_MODEL["LANGUAGES"])


def checked_draft(draft: Draft) -> Checked:
    """Return what the checks say of ``draft`` with its faults; see :func:`checked`."""
    result = checked(draft.bundle, draft.release)
    return replace(result, remarks=[*draft.faults, *result.remarks])


def checked(bundle: Bundle, release: Release) -> Checked:
    """Return what the checks say of the draft that is ``bundle``; ``release`` is the bundle's.

    The first to ask of a large one has a worker begin.
    """
    result = _checked(bundle, release)
    # Golden questions are no part of a draft, so what is said of them is not cached with it.
    golden = golden_examples(bundle, selectors.golden_texts() if bundle.questions else ())
    return replace(result, remarks=[*golden, *result.remarks])


def _checked(bundle: Bundle, release: Release) -> Checked:
    key = (release.sha256, budget())
    remarks = _cache.get(key)
    if remarks is None and len(bundle.services) <= SMALL:
        remarks = examined(bundle, release)
    elif remarks is None:
        now = at_once(bundle, budget=budget(), languages=languages())
        run = CheckRun.objects.filter(sha256=release.sha256).first() or _begin(release.sha256)
        if run.state != CheckRun.State.DONE:
            return Checked(in_order(now), run)
        remarks = in_order([*now, *map(Remark.from_dict, run.remarks)])
    _cache[key] = remarks
    if len(_cache) > _CACHED:
        _cache.pop(next(iter(_cache)), None)
    return Checked(remarks)


def examined(bundle: Bundle, release: Release) -> list[Remark]:
    """Return every remark about ``bundle``, at once however large it is."""
    return examine(bundle, release, budget=budget(), languages=languages())


def missing(run: CheckRun) -> str:
    """Return why the checks are not complete, and what to do, for who wants to propose."""
    if run.state == CheckRun.State.FAILED:
        return gettext("The checks have failed: start them again on the page of the checks.")
    if not run.total:
        return gettext("The checks of the draft are not done yet. Propose it again when they are.")
    message = gettext(
        "The checks of the draft are not done yet. {done} of {total} searches are made. Propose "
        "it again when they are."
    )
    return message.format(done=f"{run.done:,}", total=f"{run.total:,}")


@transaction.atomic
def _begin(sha256: str) -> CheckRun:
    run, new = CheckRun.objects.get_or_create(sha256=sha256)
    if new:
        # A worker notices that its run is gone. Several states are asked for beside each other: the
        # draft, and what each change set makes of the release.
        newest = CheckRun.objects.values_list("pk", flat=True)[:_RUNS_KEPT]
        CheckRun.objects.exclude(pk__in=list(newest)).delete()
        runs.queue(CheckRun, run.pk)
    return run


@transaction.atomic
def begin_again(*, run_id: int) -> None:
    """Queue a run that has FAILED; any other is left alone."""
    failed = CheckRun.objects.filter(pk=run_id, state=CheckRun.State.FAILED)
    if failed.update(state=CheckRun.State.QUEUED, done=0, total=0, error=""):
        runs.queue(CheckRun, run_id)


def run_checks(*, run_id: int) -> None:
    """Make the searches of a run; see :func:`ieim.studio.runs.execute`."""
    runs.execute(CheckRun, run_id, _run)


def _run(claim: runs.Claim) -> None:
    checked_state = _state(claim.run_id)
    if checked_state is None:
        # It has changed since: whoever looks next has its new state checked.
        CheckRun.objects.filter(pk=claim.run_id).delete()
        return
    bundle, release = checked_state
    saved = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal saved
        if not done or time.monotonic() - saved >= runs.SAVE_EVERY:
            claim.write(done=done, total=total)
            saved = time.monotonic()

    remarks = by_search(bundle, release, progress=progress)
    claim.write(
        state=CheckRun.State.DONE, done=F("total"), remarks=[asdict(remark) for remark in remarks]
    )


def _state(run_id: int) -> tuple[Bundle, Release] | None:
    """Return what a run is to check: the draft, or what a change set makes of the release."""
    sha256 = CheckRun.objects.values_list("sha256", flat=True).get(pk=run_id)
    draft = drafts.draft()
    if draft.release.sha256 == sha256:
        return draft.bundle, draft.release
    for proposal in Proposal.objects.filter(state=Proposal.State.DRAFT).only("pk"):
        with suppress(BundleError):
            result = sets.assembled(sets.parts_of(proposal))
            if result.release.sha256 == sha256:
                return result.bundle, result.release
    return None
