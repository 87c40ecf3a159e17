"""Lockout after too many wrong passwords, with django-axes.

Failures are counted by account and by address separately: one password tried on many accounts
never reaches the limit of an account, nor do many addresses reach that of one. Whether an account
exists makes no difference.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from ieim.people import addresses


class Handler(AxesDatabaseHandler):
    """The database handler of axes, with a limit for each of the two."""

    def get_failures(self, request: HttpRequest, credentials: Any = None) -> int:
        """Return the wrong passwords by account, or by address at the account's scale."""
        of_account, of_address = (
            sum(attempts.values_list("failures_since_start", flat=True))
            for attempts in self.get_user_attempts(request, credentials)
        )
        limit, address_limit = settings.AXES_FAILURE_LIMIT, settings.IEIM_ADDRESS_FAILURE_LIMIT
        return max(int(of_account), int(of_address) * limit // address_limit)

    def reset_user_attempts(self, request: HttpRequest, credentials: Any = None) -> int:
        """Delete the account's failures from this address.

        Those of other accounts stay: a login must not reset the counter of the address.
        """
        of_account, _ = self.filter_user_attempts(request, credentials)
        count, _ = of_account.filter(ip_address=client_address(request)).delete()
        return int(count)


def client_address(request: HttpRequest) -> str | None:
    """Return the address to count, None if there is none."""
    return addresses.of_request(request) or None


def locked_usernames(usernames: Collection[str]) -> frozenset[str]:
    """Return those of some usernames that are locked now, from whichever address."""
    since = timezone.now() - settings.AXES_COOLOFF_TIME
    attempts = AccessAttempt.objects.filter(username__in=usernames, attempt_time__gte=since)
    sums = attempts.values("username").annotate(failures=Sum("failures_since_start"))
    rows = sums.filter(failures__gte=settings.AXES_FAILURE_LIMIT)
    return frozenset(rows.values_list("username", flat=True))


def forget(before: datetime) -> int:
    """Delete the failures before a moment, with names and addresses; return their number."""
    count, _ = AccessAttempt.objects.filter(attempt_time__lt=before).delete()
    return int(count)


def locked(request: HttpRequest, *_args: Any) -> HttpResponse:
    """Return the page of a lockout: 429."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    page = render(request, "registration/locked.html", {"minutes": seconds // 60}, status=429)
    page.headers["Retry-After"] = str(seconds)
    return page
