"""A decided item as a golden question, in one click."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from ieim.knowledge import golden as questions
from review import feedback
from review.feedback import NoCase
from review.reach import visible

may_decide = permission_required("review.decide_reviewitem", raise_exception=True)


@require_POST
@login_required
@may_decide
def golden(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep the decision of an item as a golden question, or say why it makes none."""
    user = cast(User, request.user)
    item = get_object_or_404(visible(user).select_related("turn__session"), pk=pk)
    try:
        question, new = questions.keep(case=feedback.case_of(item), by=user)
    except NoCase as error:
        messages.error(request, f"It makes no golden question. {error}")
    else:
        known = f"It is a golden question already: {question.name}."
        messages.success(request, f"Kept as golden question {question.name}." if new else known)
    return redirect("review:item", pk=item.pk)
