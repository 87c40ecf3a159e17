"""The one page that belongs to no app: where staff go after logging in."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


@login_required
def staff_home(request: HttpRequest) -> HttpResponse:
    """Send staff to their work: the queue, the knowledge, or else the admin."""
    if request.user.has_perm("review.view_reviewitem"):
        return redirect("review:queue")
    editor = request.user.has_perm("knowledge.view_release")
    return redirect("knowledge:home" if editor else "admin:index")
