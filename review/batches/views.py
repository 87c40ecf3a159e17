"""Views of a decision on several items: choosing it, its preview, its progress, taking it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from ieim.people.access import member
from review.batches import alike, presenters, services
from review.batches.models import Batch
from review.deciding import Action, Refused
from review.item.base_forms import Problem
from review.models import REFUSED, SIGN, ReviewItem
from review.queue import filters as lists
from review.queue.views import back
from review.scope import visible

_STEPS = ("csrfmiddlewaretoken", "look", "again", "confirm", "item", "like")


class Plan(NamedTuple):
    """What is done with each item."""

    action: Action
    reason: str
    payload: Mapping[str, Any]


@require_POST
def prepare(request: HttpRequest) -> HttpResponse:
    """Show the form of a decision on several items; with ``look`` what the first citizens will see,
    with ``confirm`` begin it: 303.

    The items are ``item``, or those of the group that ``list`` names. ``like`` is a decision of the
    user's that is done again, in place of a form.
    """
    user, data = member(request), request.POST
    try:
        pks, plan = _chosen(request), _repeated(request)
    except Refused as refused:
        messages.error(request, refused.message)
        return back(request, field="queue")
    form = presenters.batch_form(pks[0], user, data if "action" in data else None)
    has_read, is_sent = data.get("read") == "1", not {"look", "confirm"}.isdisjoint(data)
    if plan is None and is_sent and form.action and form.is_valid():
        plan = Plan(form.action, form.cleaned_data["reason"], form.payload())
    problems = form.problems if plan is None and is_sent else []
    if plan and "confirm" in data:
        try:
            batch = services.start(actor=user, item_ids=pks, has_read=has_read, **plan._asdict())
        except Refused as refused:
            problems = [Problem(refused.message)]
        else:
            return _see(batch.pk)
    samples = list(
        presenters.samples(pks, user, plan.action, plan.payload, has_read=has_read) if plan else ()
    )
    context = {
        "form": form,
        "pks": pks,
        "items": () if plan else presenters.first_items(pks, user),
        "others": max(len(pks) - presenters.SAMPLES, 0),
        "plan": plan,
        "samples": samples,
        "does_something": len(pks) > len(samples) or not all(s["problem"] for s in samples),
        "like": data.get("like", ""),
        "list": data.get("list", ""),
        "has_read": has_read,
        "unread": ReviewItem.objects.filter(pk__in=pks, rank=REFUSED).exists(),
        "view": {"closes": True},
        "errors": problems,
        "wrong": {problem.field: problem.message for problem in problems},
        "posted": [(n, v) for n, values in data.lists() if n not in _STEPS for v in values],
    }
    status = 422 if problems else 200
    return render(request, "review/batches/prepare.html", context, status=status)


def _chosen(request: HttpRequest) -> list[UUID]:
    """Return the items that the user sees of those that were chosen, in their order, those in
    crisis last, which are not decided with others. Raises :class:`Refused` for none."""
    user, filters = member(request), lists.list_filters(request)
    try:
        chosen = [UUID(value) for value in dict.fromkeys(request.POST.getlist("item"))]
        if not chosen and (key := filters.values["alike"] or request.POST.get("alike", "")):
            members = alike.members(user, filters, key).values_list("pk", flat=True)
            chosen = list(members[: services.MAX_ITEMS])
    except ValueError as error:
        raise Refused(gettext(services.GONE)) from error
    ranks = dict(visible(user).filter(pk__in=chosen).values_list("pk", "rank"))
    if not ranks:
        raise Refused(gettext("Choose at least one item."))
    return sorted((pk for pk in chosen if pk in ranks), key=lambda pk: ranks[pk] <= SIGN)


def _repeated(request: HttpRequest) -> Plan | None:
    """Return what the decision ``like`` did; None without one. Raises :class:`Refused`."""
    like = request.POST.get("like")
    if not like:
        return None
    decision = alike.decision_of(member(request), like)
    if decision is None:
        raise Refused(gettext("The decision is not there any more."))
    action, payload = services.repeat(decision)
    return Plan(action, decision.reason, payload)


@require_safe
def status(request: HttpRequest, batch: UUID) -> HttpResponse:
    """Show how far a batch is; htmx gets the changing part."""
    user = member(request)
    stored = get_object_or_404(services.within_reach(user), pk=batch)
    context = {"progress": presenters.progress(stored, user, timezone.now())}
    is_part = request.headers.get("HX-Request") == "true"
    template = "_parts.html#progress" if is_part else "status.html"
    return render(request, f"review/batches/{template}", context)


@require_POST
def undo(request: HttpRequest, batch: UUID) -> HttpResponse:
    """Take a batch back: 303 to its page."""
    try:
        services.undo(batch_id=batch, actor=member(request))
    except Batch.DoesNotExist as error:
        raise Http404 from error
    except Refused as refused:
        messages.error(request, refused.message)
    return _see(batch)


def _see(batch: UUID) -> HttpResponse:
    return HttpResponseRedirect(reverse("review:batch_status", args=[batch]), status=303)
