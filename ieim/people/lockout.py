"""Too many wrong passwords: what django-axes counts, and what it says.

It counts by account and by address, each by itself: with one password tried on many accounts the
first never fills up, and with many addresses the second. Whether an account exists makes no
difference to anything here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ieim.people import addresses


class Handler(AxesDatabaseHandler):
    """Axes' own in the database, with a limit for each."""

    def get_failures(self, request: HttpRequest, credentials: Any = None) -> int:
        """Return the wrong passwords by account, or by address at the account's scale."""
        of_account, of_address = (
            sum(attempts.values_list("failures_since_start", flat=True))
            for attempts in self.get_user_attempts(request, credentials)
        )
        most, most_of_address = settings.AXES_FAILURE_LIMIT, settings.IEIM_ADDRESS_FAILURE_LIMIT
        return max(int(of_account), int(of_address) * most // most_of_address)

    def reset_user_attempts(self, request: HttpRequest, credentials: Any = None) -> int:
        """Forget the account's wrong passwords from here.

        The address keeps those of others: who has an account could else guess theirs for ever.
        """
        of_account, _ = self.filter_user_attempts(request, credentials)
        count, _ = of_account.filter(ip_address=client_address(request)).delete()
        return int(count)


def client_address(request: HttpRequest) -> str | None:
    """Return the address that is counted; None where there is none."""
    return addresses.of_request(request) or None


def forget(before: datetime) -> int:
    """Delete the wrong passwords of before a moment, with names and addresses; how many."""
    count, _ = AccessAttempt.objects.filter(attempt_time__lt=before).delete()
    return int(count)


def locked(request: HttpRequest, *_more: Any) -> HttpResponse:
    """Return the page for whoever has to wait: 429."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    page = render(request, "registration/locked.html", {"minutes": seconds // 60}, status=429)
    page.headers["Retry-After"] = str(seconds)
    return page
