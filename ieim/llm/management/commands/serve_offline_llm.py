"""``manage.py serve_offline_llm``: the offline engine as an OpenAI-compatible endpoint."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Mapping
from textwrap import fill
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ieim.llm.server import FAULTS, REFUSALS, offline_app, serve
from ieim.pipeline.topology import STAGES

DEFAULT_PORT = 8011
_LAST_PORT = 65_535


def _listing(names: Mapping[str, str]) -> str:
    return "\n".join(f"  {name:24}{description}" for name, description in names.items())


_EPILOG = f"""\
what --fault does, for trying what becomes of a bad answer (docs/faults.md says what has to):

{_listing(FAULTS)}

what --refuse takes, as often as you like, for trying settings and manage.py doctor:

{_listing({name: refusal.description for name, refusal in REFUSALS.items()})}
"""


class Command(BaseCommand):
    """Serves until Ctrl-C."""

    help = fill(
        "Serve the offline engine as an OpenAI-compatible endpoint: set IEIM_MODEL_BASE_URL to the "
        "address that is printed and IEIM_MODEL_NAME to ieim-offline. Any key is accepted. Ctrl-C "
        "ends it.",
        width=78,
    )
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the line breaks of the epilog."""
        form = RawDescriptionHelpFormatter
        return super().create_parser(
            prog_name, subcommand, epilog=_EPILOG, formatter_class=form, **kwargs
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        add = parser.add_argument
        add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
        port = f"port to listen on, 0 for any free one (default: {DEFAULT_PORT})"
        add("--port", type=_port, default=DEFAULT_PORT, help=port)
        delay = "wait this long before each answer (default: 0)"
        add("--delay", type=_seconds, default=0.0, metavar="SECONDS", help=delay)
        fault = "give every answer this fault; the names are below"
        add("--fault", choices=FAULTS, default="", metavar="NAME", help=fault)
        contract = f"only the answers to this contract: {', '.join(STAGES)}"
        add("--fault-contract", choices=STAGES, default="", metavar="CONTRACT", help=contract)
        refuse = "answer 400 to a request that has this; the names are below"
        add("--refuse", action="append", choices=REFUSALS, default=[], metavar="NAME", help=refuse)

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve; an address that cannot be had is a CommandError, as is a contract alone."""
        host, port = options["host"], options["port"]
        fault, contract = options["fault"], options["fault_contract"]
        if contract and not fault:
            raise CommandError("--fault-contract says where a fault is: name it with --fault.")
        app = offline_app(
            delay=options["delay"], refuse=options["refuse"], fault=fault, contract=contract
        )
        try:
            serve(app, host=host, port=port, ready=self._ready)
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {host}, port {port}: {error.strerror or error}. Choose another "
                "port with --port, or 0 for any free one."
            ) from None

    def _ready(self, base_url: str) -> None:
        self.stdout.write(f"listening on {base_url}")
        self.stdout.flush()


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _LAST_PORT):
        raise ArgumentTypeError(f"a port is a whole number from 0 to {_LAST_PORT}, not {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ArgumentTypeError(f"a delay is a number of seconds, 0 or more, not {text!r}")
    return seconds
