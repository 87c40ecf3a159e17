"""Queueing tasks: a broker that is away stops nothing, since the sweeper queues what is stored."""

from __future__ import annotations

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def queue_after_commit(
    task: str, *arguments: Any, queue: str | None = None, countdown: float | None = None
) -> None:
    """Queue a task by its name once the transaction is committed, to run ``countdown`` seconds
    later at the earliest.

    A broker that is away is logged and raises nothing: what is stored is swept up later.
    """

    def send() -> None:
        try:
            current_app.send_task(task, arguments, queue=queue, countdown=countdown, retry=False)
        except (OperationalError, OSError) as error:
            logger.warning("The broker cannot be reached: %s is left to the sweeper", task)
            logger.debug("It says: %s", error)

    transaction.on_commit(send, robust=True)
