"""A decided item as a golden question, in one click."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from ieim.people.access import member
from ieim.studio.trying import services as questions
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
        said = gettext("It makes no golden question. {why}")
        messages.error(request, said.format(why=error))
    else:
        said = (
            gettext("Kept as golden question {name}.")
            if new
            else gettext("It is a golden question already: {name}.")
        )
        messages.success(request, said.format(name=question.name))
    return redirect("review:item", pk=item.pk)
