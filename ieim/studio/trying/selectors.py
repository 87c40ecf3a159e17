"""Reads: the page of a golden run, and what a golden question can expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext, gettext_noop

from ieim.knowledge.bundles.bundle import BundleError
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.vectors import shortlist_for
from ieim.people.scope import agencies_of
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Query
from ieim.studio import runs
from ieim.studio.drafts import selectors as drafts
from ieim.studio.labels import stage_label
from ieim.studio.models import DRAFT_MODELS, GoldenQuestion, GoldenRun, Proposal
from ieim.studio.trying.comparing import KINDS

OFFERED = 8
"""How many services are offered for a golden question."""

VERDICTS: Mapping[str, str] = {
    "right": gettext_noop("Right"),
    "wrong": gettext_noop("Wrong"),
    "review": gettext_noop("A person gets it"),
    "unlabelled": gettext_noop("Answered; nobody has said what is right"),
}


LISTED: Final = "golden.listed"
"""The kind of the event that somebody is shown golden questions: some were citizens' messages."""


@dataclass(frozen=True, slots=True)
class GoldenPage:
    """A proposal's golden questions; ``run`` is the newest, None before the first."""

    proposal: Proposal
    run: GoldenRun | None
    questions: int
    kinds: Sequence[Mapping[str, Any]] = ()

    @property
    def going_on(self) -> bool:
        return self.run is not None and self.run.state in runs.GOING_ON

    @property
    def may_start(self) -> bool:
        return self.proposal.state == Proposal.State.OPEN and not self.going_on

    @property
    def question_count(self) -> int:
        """How many questions the result has."""
        return sum(len(kind["rows"]) for kind in self.kinds)


def visible(question: GoldenQuestion, scope: frozenset[str] | None) -> bool:
    """Whether a user with ``scope`` (None: every agency) may see a question.

    Everybody may see one for which no agency is expected.
    """
    agencies = question.case["expected"]["agencies"]
    return scope is None or not agencies or not scope.isdisjoint(agencies)


def questions_of(user: AbstractBaseUser | AnonymousUser) -> list[GoldenQuestion]:
    """Return the golden questions that ``user`` may see, the newest first."""
    scope = agencies_of(user)
    questions = GoldenQuestion.objects.select_related("created_by")
    return [question for question in questions if visible(question, scope)]


def golden_page(proposal: Proposal, user: AbstractBaseUser | AnonymousUser) -> GoldenPage:
    """Return the page of a proposal's golden questions for ``user``, the worst first."""
    run = proposal.golden_runs.first()
    questions = GoldenQuestion.objects.count()
    if run is None or run.state != GoldenRun.State.DONE:
        return GoldenPage(proposal, run, questions)
    seen = {question.name: question.case for question in questions_of(user)}
    rows: Mapping[str, Any] = (run.result or {})["rows"]
    kinds = []
    for kind, words in KINDS.items():
        found = [_row(n, row, seen.get(n)) for n, row in rows.items() if row["kind"] == kind]
        found.sort(key=lambda row: (not row["loss"], row["name"]))
        kinds.append({"kind": kind, "words": gettext(words), "rows": found})
    return GoldenPage(proposal, run, questions, kinds)


def _row(name: str, row: Mapping[str, Any], case: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a question for the template, without its text where the user may not see it."""
    return {
        "name": name,
        "text": "" if case is None else case["text"],
        "talk": case is not None and bool(case["history"]),
        "loss": row["loss"],
        "differs": list(map(gettext, row["differs"])),
        "before": _outcome(row["before"]) if row.get("before") else None,
        "after": _outcome(row["after"]),
    }


def _outcome(stored: Mapping[str, Any]) -> dict[str, str]:
    """Return how a question ends on one side, for the template."""
    return {
        **{name: stored[name] for name in ("agency", "service", "lead", "reason")},
        "verdict": gettext(VERDICTS[stored["verdict"]]),
        "stopped_at": stage_label(stored["stage"]) if stored["stage"] else "",
    }


def problems_of(error: BundleError) -> list[dict[str, str]]:
    """Return what is wrong with the draft, each with the address of its entry, where it has one."""
    pages: dict[str, str] = {}
    for table, model in DRAFT_MODELS.items():
        meta = model._meta
        for values in model._default_manager.values("pk", *COLUMNS[table]):
            entry = f"{meta.verbose_name_raw} {drafts.entry_name(table, values)}"
            try:
                name = f"admin:{meta.app_label}_{meta.model_name}_change"
                pages[entry] = reverse(name, args=[values["pk"]])
            except NoReverseMatch:
                break  # the table has no page of its own
    return [
        {"entry": each.file, "message": each.message, "url": pages.get(each.file, "")}
        for each in error.errors
    ]


class Choice(NamedTuple):
    """Something that a golden question can expect; ``value`` is what the form sends."""

    value: str
    words: str
    remark: str = ""


NOTHING, NO_INQUIRY = "nothing", "no-inquiry"


def choices(release: Release, text: str, scope: frozenset[str] | None) -> list[Choice]:
    """Return the services that fit ``text`` best and their agencies, then the two ends without one.

    Only those of ``scope`` (None: every agency) are offered.
    """
    agencies = None if scope is None else sorted(scope)
    ranked = shortlist_for(release).rank(Query(text)).services(agencies=agencies, limit=OFFERED)
    found = [each.item for each in ranked]
    names = {service.agency: release.agencies[service.agency].name for service in found}
    services = [Choice(f"service {s.agency} {s.key}", s.name, names[s.agency]) for s in found]
    any_service, remark = (
        gettext("Any service of {agencies}"),
        gettext("When only the agency counts."),
    )
    whole = [
        Choice(f"agency {agency}", any_service.format(agencies=name), remark)
        for agency, name in list(names.items())[:3]
    ]
    ends = [
        Choice(NOTHING, gettext("Nothing here answers it"), gettext("A person has to look at it.")),
        Choice(NO_INQUIRY, gettext("It is not an inquiry"), gettext("Small talk, thanks, a test.")),
    ]
    return [*services, *whole, *ends]


def expected(release: Release, value: str, scope: frozenset[str] | None) -> dict[str, Any] | None:
    """Return what an evaluation case expects for a choice, None for what is no choice."""
    if value == NO_INQUIRY:
        return {"inquiry": False, "agencies": [], "service": None, "acceptable_services": []}
    kind, _, rest = value.partition(" ")
    agency, _, key = rest.partition(" ")
    agencies, service = [agency], key or None
    if value == NOTHING:
        agencies, service = [], None
    elif scope is not None and agency not in scope:
        return None
    elif kind == "service":
        if (agency, key) not in release.services:
            return None
    elif kind != "agency" or key or agency not in release.agencies:
        return None
    return {
        "inquiry": True,
        "agencies": agencies,
        "service": service,
        "acceptable_services": [service] if service else [],
    }
