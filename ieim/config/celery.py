"""The Celery app: ``celery -A ieim.config worker`` and ``celery -A ieim.config beat``."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")

app = Celery("ieim")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Threads that Celery did not start itself (the embedded worker's, a request's) must find this app,
# or what they send is dropped without a word.
app.set_default()


@worker_init.connect
def _warm(**_signal: Any) -> None:
    # Here, because the module reads the core: too slow for every process that loads the settings.
    from django.db import connection

    from ieim.config.warm import warm

    warm()
    # The processes of the pool are forked from this one: they must not share its connections.
    if hasattr(connection, "close_pool"):
        connection.close_pool()
