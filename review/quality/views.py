"""Pages: reading the sample answer by answer, and what was said of one's own answers."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from conversations import selectors as conversations
from conversations.models import Session
from ieim.people.access import member
from ieim.people.reading import record_listed
from review import reading
from review.metrics.forms import last_days
from review.models import Reading, ReviewItem
from review.quality import figures, selectors, services
from review.quality.models import Score

PAGE = 50
OWN_DAYS = 90


@require_safe
def samples(request: HttpRequest) -> HttpResponse:
    """Say how many answers there are to read."""
    context = {"number": selectors.readable(member(request)).count()}
    return render(request, "review/quality/samples.html", context)


@require_POST
def next_sample(request: HttpRequest) -> HttpResponse:
    """Take the next answer and redirect to it, or back where nothing waits."""
    taken = services.take_next(reader=member(request))
    if taken is None:
        messages.success(request, gettext("That was the last one: no answer waits to be read."))
    address = reverse("review:sample", args=[taken.sample_id]) if taken else "review:samples"
    response = redirect(address)
    response.status_code = 303
    return response


def sample(request: HttpRequest, sample: UUID) -> HttpResponse:
    """Show an answer that the reader has taken; save what they say of it, and go on.

    404 for whoever has not taken it, or may not; 422 with the form for scores that are not whole.
    """
    user, problem = member(request), ""
    try:
        taken = selectors.taken(sample, user)
        statements = selectors.statements(taken.sample.reply)
        scores = [request.POST.get(f"score-{n}", "") for n in range(len(statements))]
        if request.method == "POST":
            remark, skip = request.POST.get("remark", ""), "skip" in request.POST
            _done, item = services.score(
                sample_id=sample, reader=user, scores=scores, remark=remark, skip=skip
            )
            if item is not None:
                messages.success(
                    request,
                    gettext("Its agency has it as an item now, {reference}.").format(
                        reference=item.turn.session.reference
                    ),
                )
            return next_sample(request)
    except (Reading.DoesNotExist, Session.DoesNotExist) as error:
        raise Http404 from error
    except services.Refused as refused:
        problem = str(refused)
    turn = taken.sample.reply.turn
    record_listed(reading.SAMPLE_READ, "samples", [taken.sample_id], user)
    context = {
        "sample": taken.sample,
        "turn": turn,
        "history": conversations.history(turn),
        "statements": list(zip(statements, scores, strict=True)),
        "choices": Score.choices,
        "remark": request.POST.get("remark", ""),
        "problem": problem,
        "left": selectors.readable(user).count(),
    }
    return render(request, "review/quality/sample.html", context, status=422 if problem else 200)


@require_POST
def add_sample(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Put the answer of an item in the sample, and go back to the item."""
    try:
        services.add(item_id=pk, by=member(request))
    except ReviewItem.DoesNotExist as error:
        raise Http404 from error
    except services.Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, gettext("Somebody else will read this answer again."))
    return redirect("review:item", pk=pk)


@require_safe
def answers(request: HttpRequest) -> HttpResponse:
    """Show what citizens and blind readers say of the answers that one decided."""
    user = member(request)
    page = Paginator(selectors.own_answers(user), PAGE).get_page(request.GET.get("page"))
    rows = [selectors.own_answer(reply) for reply in page]
    record_listed(reading.ANSWERS_LISTED, "turns", (row["turn"].pk for row in rows), user)
    period = last_days(OWN_DAYS, timezone.localdate())
    share = figures.own(figures.load(period, None), user.pk)
    context = {"page": page, "rows": rows, "share": share, "days": OWN_DAYS}
    return render(request, "review/quality/answers.html", context)


urlpatterns = [
    path("samples/", samples, name="samples"),
    path("samples/next/", next_sample, name="next_sample"),
    path("samples/<uuid:sample>/", sample, name="sample"),
    path("<uuid:pk>/sample/", add_sample, name="add_sample"),
    path("answers/", answers, name="answers"),
]
