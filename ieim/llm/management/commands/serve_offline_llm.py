"""``manage.py serve_offline_llm``: the offline engine as an OpenAI-compatible endpoint."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from textwrap import fill
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ieim.llm.faults.app import CONTRACT_HEADER, FAULT_HEADER, with_faults
from ieim.llm.faults.pages import listing
from ieim.llm.faults.table import ALL, FAULTS
from ieim.llm.serving.refusals import REFUSALS
from ieim.llm.serving.server import offline_app, serve

DEFAULT_PORT = 8011
_LAST_PORT = 65_535
_EPILOG = f"""\
faults, for trying what becomes of a bad answer (docs/faults.md says what has to):

{{faults}}

A single request can ask for one by the headers {FAULT_HEADER} and {CONTRACT_HEADER}.

what --refuse takes, as often as you like, for trying settings and manage.py doctor:

{{refusals}}
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
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=_EPILOG.format(faults=listing(), refusals=_refusals()),
            formatter_class=RawDescriptionHelpFormatter,
            **kwargs,
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"
        )
        parser.add_argument(
            "--port",
            type=_port,
            default=DEFAULT_PORT,
            help=f"port to listen on, 0 for any free one (default: {DEFAULT_PORT})",
        )
        parser.add_argument(
            "--delay",
            type=_seconds,
            default=0.0,
            metavar="SECONDS",
            help="wait this long before each answer (default: 0)",
        )
        parser.add_argument(
            "--fault",
            choices=FAULTS,
            metavar="NAME",
            help="give every answer this fault; the names are below",
        )
        parser.add_argument(
            "--fault-contract",
            choices=ALL,
            metavar="CONTRACT",
            help=f"only the answers to this contract: {', '.join(ALL)}",
        )

        parser.add_argument(
            "--refuse",
            action="append",
            choices=REFUSALS,
            default=[],
            metavar="NAME",
            help="answer 400 to a request that has this; the names are below",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve; an address that cannot be had is a CommandError, as is a fault without effect."""
        host, port = options["host"], options["port"]
        fault, contract = options["fault"], options["fault_contract"]
        _check_fault(fault, contract)
        offline = offline_app(delay=options["delay"], refuse=options["refuse"])
        app = with_faults(offline, fault=fault, contract=contract)
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


def _refusals() -> str:
    width = max(map(len, REFUSALS)) + 4
    return "\n".join(
        f"  {name}".ljust(width) + refusal.description for name, refusal in REFUSALS.items()
    )


def _check_fault(fault: str | None, contract: str | None) -> None:
    if contract is None:
        return
    if fault is None:
        raise CommandError("--fault-contract says where a fault is: name it with --fault.")
    if contract not in FAULTS[fault].contracts:
        applies = ", ".join(FAULTS[fault].contracts)
        raise CommandError(f"{fault} does not apply to {contract}. It applies to {applies}.")


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
