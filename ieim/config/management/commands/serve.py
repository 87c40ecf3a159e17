"""Run IEIM on this machine: chat, staff pages and worker in one process."""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import uvicorn
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.db import connections

from ieim.administration import demo as administration
from ieim.config import demo
from ieim.knowledge import selectors as knowledge
from ieim.studio.models import Service

HOST = "127.0.0.1"
DEMO_KNOWLEDGE = Path(knowledge.__file__).parent / "demo"
FRAME_BYTES = 16 * 1024
"""The largest websocket frame that is taken: a message of 2,000 characters has room in it."""


def prepare(output: TextIO | OutputWrapper) -> bool:
    """Make the tables, the demo accounts and, where there is no knowledge, the demo's.

    Returns whether the knowledge was published.
    """
    call_command("migrate", verbosity=0, interactive=False)
    # A draft that nobody has published yet is somebody's work.
    first = knowledge.current_number() is None and not Service.objects.exists()
    if first:
        output.write("Publishing the demo knowledge ...\n")
        call_command("load_knowledge", str(DEMO_KNOWLEDGE), publish=True, verbosity=0)
    demo.create_accounts()
    administration.furnish()
    connections.close_all()
    return first


def accounts() -> list[str]:
    """Return the lines that tell of the demo accounts."""
    width = max(len(account.username) for account in demo.ACCOUNTS)
    return [
        "  Staff accounts (this machine only)",
        *(f"    {a.username:<{width}}  {a.password:<16} {a.may}" for a in demo.ACCOUNTS),
    ]


class Command(BaseCommand):
    """The command."""

    help = (
        "Prepare the database, publish the demo knowledge if there is none, and serve everything "
        "on this machine until Ctrl-C. For trying and developing; production runs the processes "
        "of deploy/compose.yaml."
    )
    # The checks need nothing of the database; `migrate` runs them once anyway.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add --port."""
        parser.add_argument(
            "--port",
            type=int,
            default=settings.IEIM_PORT,
            help="the port to listen on (default: the variable PORT, else 8000)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare, say where everything is, and serve."""
        if settings.PRODUCTION:
            raise CommandError(
                "`serve` is for one machine. In production run the processes of "
                "deploy/compose.yaml; leave IEIM_ENV out to try IEIM here."
            )
        listener = self._listen(options["port"])
        first = prepare(self.stdout)
        self._introduce(listener.getsockname()[1], first=first)
        self._serve(listener)

    def _listen(self, port: int) -> socket.socket:
        try:
            return socket.create_server((HOST, port), backlog=2048)
        except (OSError, OverflowError) as error:
            raise CommandError(
                f"Port {port} cannot be used ({error}). Stop what uses it, or choose another: "
                f"PORT={port + 1 if port < 65535 else 8000} make run"
            ) from error

    def _introduce(self, port: int, *, first: bool) -> None:
        base = f"http://{HOST}:{port}"
        lines = [
            "",
            f"  Chat         {base}/",
            f"  Staff pages  {base}/staff/",
            f"  Knowledge    {base}/knowledge/",
            "",
            *accounts(),
            "",
            f"  Model        {settings.IEIM_MODEL['NAME'] or 'the offline engine'}",
        ]
        if first:
            lines.append("  Search       goes by words for some seconds, until vectors are made")
        if not settings.IEIM_EMBEDDED:
            lines.append("  Worker       not here, because REDIS_URL is set. Start it beside this:")
            lines.append("               celery -A ieim.config worker --pool threads")
        self.stdout.write("\n".join([*lines, "", "  Ctrl-C ends everything.", ""]))
        self.stdout.flush()

    def _serve(self, listener: socket.socket) -> None:
        config = uvicorn.Config(
            "ieim.config.asgi:application",
            loop="uvloop",
            http="httptools",
            ws="websockets-sansio",
            ws_max_size=FRAME_BYTES,
            ws_per_message_deflate=False,
            # What a proxy says is for the settings to believe (IEIM_TRUSTED_PROXIES).
            proxy_headers=False,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        # uvicorn raises the signal again once it has stopped: either one is the normal end here.
        signal.signal(signal.SIGTERM, _interrupt)
        server = uvicorn.Server(config)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        sys.stdout.flush()
        sys.stderr.flush()
        # Not sys.exit: Python would wait for the worker's threads, and so for a slow model. What
        # they were doing is in the database and goes on after the next start.
        os._exit(0 if server.started else 1)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
