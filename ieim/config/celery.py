"""The Celery app: ``celery -A ieim.config worker`` and ``celery -A ieim.config beat``."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from celery import Celery
from celery.concurrency.thread import TaskPool as Threads
from celery.signals import (
    after_task_publish,
    beat_init,
    before_task_publish,
    heartbeat_sent,
    task_postrun,
    task_prerun,
    worker_init,
    worker_ready,
    worker_shutdown,
)

_SIGNS = Path(tempfile.gettempdir())
"""The folder in which a worker and beat touch a file: its age is a container's health."""

app = Celery("ieim")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Threads that Celery did not start itself (the embedded worker's, a request's) must find this app,
# or what they send is dropped without a word.
app.set_default()


@worker_init.connect
def _prepare_worker(**_signal: Any) -> None:
    # Here, because the module reads the core: too slow for every process that loads the settings.
    from django.conf import settings
    from django.db import connection

    from ieim.config import process

    if settings.IEIM_TRACES:
        from ieim.config.monitoring import tracing

        tracing.start()

    if problem := process.missing_tables():
        sys.exit(problem)
    process.raise_limits()
    process.warm_up()
    # The processes of the pool are forked from this one: they must not share its connections.
    if hasattr(connection, "close_pool"):
        connection.close_pool()


@worker_ready.connect
def _start_follower(sender: Any, **_signal: Any) -> None:
    # Only beside threads: a process that forks would hand locks on that nobody opens, and in its
    # children Celery closes the database's pool around each task, whoever else is using it.
    if isinstance(sender.pool, Threads):
        from ieim.knowledge.following import follower

        follower.start(trains=True)


@heartbeat_sent.connect
def _record_worker(**_signal: Any) -> None:
    from ieim.config import health

    if health.beat("worker"):
        (_SIGNS / "ieim-worker").touch()
        # Here too: it reads the models, which this module is loaded before.
        from ieim.config.monitoring import processes

        processes.report("worker")


@beat_init.connect
def _watch_beat(**_signal: Any) -> None:
    after_task_publish.connect(_touch_beat_file)


def _touch_beat_file(**_signal: Any) -> None:
    (_SIGNS / "ieim-beat").touch()


@task_prerun.connect
def _record_beat(task: Any, **_signal: Any) -> None:
    # Only beat sends these.
    if task.name in app.conf.beat_schedule:
        from ieim.config import health

        health.beat("beat")


_REQUEST, _SPAN = "ieim_request", "ieim_span"


@before_task_publish.connect
def _add_headers(headers: dict[str, Any], **_signal: Any) -> None:
    from conversations import logged, traced

    headers[_REQUEST] = logged.ids().get("request", "")
    headers.update(traced.trace_headers())


@task_prerun.connect
def _begin_task(task: Any, **_signal: Any) -> None:
    from conversations import logged, traced

    # None before an upgrade's first tasks, and where a task is called like a function.
    logged.begin({"request": getattr(task.request, _REQUEST, None) or ""})
    # A task of beat has none: it runs every few seconds, and mostly does nothing.
    if traceparent := getattr(task.request, traced.TRACEPARENT, None):
        span = traced.span(f"task {task.name}", kind="CONSUMER", traceparent=traceparent)
        stack = ExitStack()
        stack.enter_context(span)
        setattr(task.request, _SPAN, stack)


@task_postrun.connect
def _end_span(task: Any, **_signal: Any) -> None:
    if span := getattr(task.request, _SPAN, None):
        span.close()


@worker_shutdown.connect
def _stop_follower(**_signal: Any) -> None:
    from ieim.knowledge.following import follower

    follower.stop()
