"""How often one may come: sessions, messages and e-mails, by session and by address.

Counted in the cache: for all processes together where there is Redis, and in the one process where
there is none. A restart of Redis or of that process forgets a window's count and nothing else.
"""

from __future__ import annotations

import logging
import math
from time import time
from typing import Literal

from django.conf import settings
from django.core.cache import cache
from django.utils.crypto import salted_hmac

from ieim.people import addresses

logger = logging.getLogger(__name__)

Scope = Literal["sessions", "turns", "address", "everybody", "mail", "mail_origin", "tokens"]
"""What is counted: new sessions of an address, messages of a session, messages of an address,
questions of everybody together, e-mails that ask for a confirmation (of a session, and to a
mailbox), those that an address asked for, and requests with a token of staff's (of the token, and
of an address with wrong ones)."""
_COUNT_BITS = 24
_BY_ADDRESS = ("sessions", "address", "mail_origin")


def take(scope: Scope, who: str) -> int | None:
    """Count one more of ``who``; returns None, or the seconds to wait when it is too much.

    An address of IPv6 counts for its /48 too, or one customer would have 65,536 limits. A window
    begins with the first one and is over after the rate's time. The cache is told a digest of
    ``who`` only. A cache that cannot be reached allows everything, and is logged: the limit
    guards against too much, and an outage of the cache must not be an outage.
    """
    rate: tuple[int, int] | None = settings.IEIM_RATES[scope]
    if rate is None:
        return None
    most, seconds = rate
    keys = addresses.counted_as(who) if scope in _BY_ADDRESS else [(who, 1)]
    waits = (_count(scope, name, most * times, seconds) for name, times in keys)
    return next((wait for wait in waits if wait is not None), None)


def _count(scope: Scope, who: str, most: int, seconds: int) -> int | None:
    now = time()
    key = f"ieim.rate.{scope}.{salted_hmac('ieim.limits', who, algorithm='sha256').hexdigest()}"
    try:
        # When the window began stands above the count: one entry, which goes when it is over.
        cache.add(key, math.ceil(now) << _COUNT_BITS, seconds)
        since, count = divmod(cache.incr(key), 1 << _COUNT_BITS)
    except Exception:  # Whatever fails here: nobody who asks for help is turned away for it.
        logger.exception("The cache cannot be reached: nothing is limited")
        return None
    return None if count <= most else min(seconds, max(1, math.ceil(since + seconds - now)))
