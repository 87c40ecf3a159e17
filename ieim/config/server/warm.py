"""What a process reads before its first citizen comes, so that nobody waits for it."""

from __future__ import annotations

import logging

from django.db import DatabaseError, connection

from ieim.knowledge import following
from ieim.pipeline.message import language, risk

logger = logging.getLogger(__name__)


def warm() -> None:
    """Load the language model (half a second), the risk phrases and the current release.

    Vectors that are missing are not waited for: the follower makes them. A database that does not
    answer yet is no reason not to start: the first turn reads it then.
    """
    text = "A sentence that is long enough to have a language."
    language.detect(text)
    risk.find(text)
    try:
        following.prepare(make=False)
    except DatabaseError:
        logger.warning("The database does not answer yet: no release is loaded", exc_info=True)
    finally:
        connection.close()
