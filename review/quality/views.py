"""Pages: reading sent answers again one by one, and what was said of one's own answers."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations import selectors as conversations
from conversations.models import Session
from ieim.people.access import member
from ieim.people.reading import record_listed
from review import reading as reading_events
from review.metrics.forms import last_days
from review.models import Reading, ReviewItem
from review.quality import figures, selectors, services
from review.quality.models import Score
from review.queue.views import back
from review.replies import translating
from review.replies.translating import NoTranslation

PAGE, OWN_DAYS = 50, 90


@require_POST
def next_sample(request: HttpRequest) -> HttpResponse:
    """Take the next answer and redirect to it, or to the page that says why nothing waits."""
    reading = services.take_next(reader=member(request))
    address = resolve_url("review:sample", reading.pk) if reading else resolve_url("review:samples")
    return back(request, otherwise=address)


@require_safe
def samples(request: HttpRequest) -> HttpResponse:
    """Show how many answers wait for the reader, why none does, and when the next draw is."""
    context = selectors.waiting(member(request), timezone.now())
    return render(request, "review/quality/samples.html", context)


@require_POST
def draw(request: HttpRequest) -> HttpResponse:
    """Draw some answers at once, and show what waits now."""
    if number := services.draw_by_hand(by=member(request)):
        message = ngettext("{number} answer was drawn.", "{number} answers were drawn.", number)
        messages.success(request, message.format(number=number))
    else:
        messages.warning(request, gettext("No answer of the last seven days is left to draw."))
    return redirect("review:samples")


@require_http_methods(["GET", "HEAD", "POST"])
def sample(request: HttpRequest, sample: UUID) -> HttpResponse:
    """Show an answer that the reader has taken; save what they say of it, and open the next.

    422 with the form where the scores are not whole; 404 for whoever has not taken it, or may not.
    """
    user, problem = member(request), ""
    try:
        reading = selectors.taken(sample, user)
        statements = selectors.statements(reading.reply)
        scores = [request.POST.get(f"score-{n}", "") for n in range(len(statements))]
        if "translate" in request.POST:
            services.translate(reading_id=sample, reader=user)  # What is chosen stays on the page.
        elif request.method == "POST":
            given = None if "skip" in request.POST else scores
            remark = request.POST.get("remark", "").replace("\r\n", "\n")
            item = services.score(reading_id=sample, reader=user, scores=given, remark=remark)[1]
            if item is not None:
                message = gettext("Its agency has it as an item now: {reference}.")
                reference = item.turn.session.reference
                messages.success(request, message.format(reference=reference))
            return next_sample(request)
    except (Reading.DoesNotExist, Session.DoesNotExist) as error:
        raise Http404 from error
    except (services.Refused, NoTranslation) as refused:
        problem = str(refused)
    record_listed(reading_events.SAMPLE_READ, "readings", [sample], user)
    context = {
        "turn": reading.reply.turn,
        "history": conversations.history(reading.reply.turn),
        "statements": list(zip(statements, scores, strict=True)),
        "choices": Score.choices,
        "remark": request.POST.get("remark", ""),
        "problem": problem,
        "translation": translating.translation_of(reading),
        "may_translate": translating.is_foreign(reading.reply.turn, user),
    }
    return render(request, "review/quality/sample.html", context, status=422 if problem else 200)


@require_POST
def add_sample(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Have the answer of an item read again, and go back to the item."""
    try:
        services.add(item_id=pk, by=member(request))
    except (ReviewItem.DoesNotExist, Session.DoesNotExist) as error:
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
    turns = (row["turn"].pk for row in rows)
    record_listed(reading_events.ANSWERS_LISTED, "turns", turns, user)
    share = figures.own(user, last_days(OWN_DAYS, timezone.localdate()))
    context = {"page": page, "rows": rows, "share": share, "days": OWN_DAYS}
    return render(request, "review/quality/answers.html", context)


urlpatterns = [
    path("samples/", samples, name="samples"),
    path("samples/draw/", draw, name="draw_samples"),
    path("samples/next/", next_sample, name="next_sample"),
    path("samples/<uuid:sample>/", sample, name="sample"),
    path("<uuid:pk>/sample/", add_sample, name="add_sample"),
    path("answers/", answers, name="answers"),
]
