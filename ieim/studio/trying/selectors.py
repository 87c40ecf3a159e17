"""Reads: the golden questions, the page of a golden run, and possible outcomes of a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from ieim.knowledge.bundles.bundle import BundleError
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY
from ieim.knowledge.vectors import shortlist_for
from ieim.people.scope import agencies_of
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Query
from ieim.studio import runs
from ieim.studio.drafts import selectors as drafts
from ieim.studio.editor.addresses import edit_url
from ieim.studio.evaluation.comparing import KINDS
from ieim.studio.labels import stage_label
from ieim.studio.models import DRAFT_MODELS, GoldenQuestion, GoldenRun, Proposal

OFFERED = 8
"""How many services are offered for a golden question."""

VERDICTS: Mapping[str, str] = {
    "right": gettext_noop("Right"),
    "wrong": gettext_noop("Wrong"),
    "review": gettext_noop("A person gets it"),
    "unlabelled": gettext_noop("Answered; nobody has said what is right"),
}
UNSAID: Final = gettext_noop("Wrong: the entry does not say what was asked")
LISTED: Final = "golden.listed"
"""The event that somebody is shown golden questions: some were citizens' messages."""


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


def question_row(question: GoldenQuestion, release: Release | None) -> dict[str, Any]:
    """Return a golden question for the template, with the right outcome in words."""
    case = question.case
    return {
        "question": question,
        "text": case["text"],
        "expects": _expectation(case["expected"], release),
        "note": case.get("note", ""),
        "talk": bool(case["history"]),
    }


def _expectation(expected: Mapping[str, Any], release: Release | None) -> str:
    if not expected["inquiry"]:
        return gettext("Not an inquiry")
    agencies, keys = expected["agencies"], expected.get("acceptable_services") or []
    if agencies == [] and not keys:
        return gettext("A person looks at it: nothing here answers it")
    names = {id_: agency.name for id_, agency in release.agencies.items()} if release else {}
    services = release.services if release else {}
    service_names = {
        key: services[agency, key].name
        for agency in agencies or ()
        for key in keys
        if (agency, key) in services
    }
    offices = ", ".join(names.get(agency, agency) for agency in agencies or ())
    if words := gettext(" or ").join(f"“{service_names.get(key, key)}”" for key in keys):
        return f"{words} ({offices})" if offices else words
    if offices:
        return gettext("Any service of {agencies}").format(agencies=offices)
    return gettext("An inquiry, whatever the service")


def golden_page(proposal: Proposal, user: AbstractBaseUser | AnonymousUser) -> dict[str, Any]:
    """Return a proposal's golden questions for the template: the newest run, the worst first."""
    run = proposal.golden_runs.first()
    is_running = run is not None and run.state in runs.UNFINISHED_STATES
    kinds: list[dict[str, Any]] = []
    if run is not None and run.state == GoldenRun.State.DONE:
        cases = {question.name: question.case for question in questions_of(user)}
        result = (run.result or {})["rows"].items()
        for kind, words in KINDS.items():
            rows = [_row(n, row, cases.get(n)) for n, row in result if row["kind"] == kind]
            rows.sort(key=lambda row: (not row["loss"], row["name"]))
            kinds.append({"kind": kind, "words": gettext(words), "rows": rows})
    return {
        "proposal": proposal,
        "run": run,
        "questions": GoldenQuestion.objects.count(),
        "kinds": kinds,
        "question_count": sum(len(kind["rows"]) for kind in kinds),
        "going_on": is_running,
        "may_start": proposal.state == Proposal.State.OPEN and not is_running,
    }


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
    return {
        **{name: stored[name] for name in ("agency", "service", "lead", "reason")},
        "verdict": gettext(UNSAID if stored.get("unsaid") else VERDICTS[stored["verdict"]]),
        "stopped_at": stage_label(stored["stage"]) if stored["stage"] else "",
    }


def problems_of(error: BundleError) -> list[dict[str, str]]:
    """Return the errors of the draft, each with the address of its entry."""
    urls: dict[str, str] = {}
    for table, model in DRAFT_MODELS.items():
        page = f"admin:studio_{model._meta.model_name}_change"
        for values in model._default_manager.values("pk", *COLUMNS[table]):
            entry = f"{model._meta.verbose_name_raw} {drafts.entry_name(table, values)}"
            own_page = edit_url(table, [values[name] for name in IDENTITY[table]])
            urls[entry] = own_page or reverse(page, args=[values["pk"]])
    return [
        {"entry": problem.file, "message": problem.message, "url": urls.get(problem.file, "")}
        for problem in error.errors
    ]


class Choice(NamedTuple):
    """An outcome that can be right; ``value`` is what the form sends."""

    value: str
    words: str
    remark: str
    expected: dict[str, Any]


def choices(release: Release, text: str, scope: frozenset[str] | None) -> list[Choice]:
    """Return the services of ``scope`` (None: all) that fit ``text`` best, their agencies, and the
    two outcomes without a service."""
    agencies = None if scope is None else sorted(scope)
    ranked = shortlist_for(release).rank(Query(text)).services(agencies=agencies, limit=OFFERED)
    services = [match.item for match in ranked]
    names = {service.agency: release.agencies[service.agency].name for service in services}
    any_service = gettext("Any service of {agencies}")
    agency_only = gettext("When only the agency counts.")
    nothing, by_person = gettext("Nothing here answers it"), gettext("A person has to look at it.")
    no_inquiry, example = gettext("It is not an inquiry"), gettext("Small talk, thanks, a test.")
    return [
        *(
            Choice(
                f"service {s.agency} {s.key}",
                s.name,
                names[s.agency],
                expected_case(s.agency, s.key),
            )
            for s in services
        ),
        *(
            Choice(
                f"agency {id_}", any_service.format(agencies=name), agency_only, expected_case(id_)
            )
            for id_, name in list(names.items())[:3]
        ),
        Choice("nothing", nothing, by_person, expected_case()),
        Choice("no-inquiry", no_inquiry, example, expected_case(inquiry=False)),
    ]


def expected_case(*key: str, inquiry: bool = True) -> dict[str, Any]:
    """Return the ``expected`` of an evaluation case, for an agency and a service or less."""
    agencies, services = [*key[:1]], [*key[1:]]
    return {
        "inquiry": inquiry,
        "agencies": agencies,
        "service": services[0] if services else None,
        "acceptable_services": services,
    }
