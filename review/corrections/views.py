"""A decided item as a golden question, in one click."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from ieim.people.access import member
from ieim.studio.trying.golden import keeping as questions
from review.corrections import feedback
from review.corrections.feedback import NoCase
from review.scope.reach import visible


@require_POST
def golden(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep the decision of an item as a golden question, or say why it makes none."""
    user = member(request)
    item = get_object_or_404(visible(user).select_related("turn__session"), pk=pk)
    try:
        question, new = questions.keep(case=feedback.case_of(item), by=user)
    except NoCase as error:
        messages.error(request, f"It makes no golden question. {error}")
    else:
        known = f"It is a golden question already: {question.name}."
        messages.success(request, f"Kept as golden question {question.name}." if new else known)
    return redirect("review:item", pk=item.pk)
