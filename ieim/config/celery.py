"""The Celery app: ``celery -A ieim.config worker`` and ``celery -A ieim.config beat``."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")

app = Celery("ieim")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Threads that Celery did not start itself (the embedded worker's, a request's) must find this app,
# or what they send is dropped without a word.
app.set_default()
