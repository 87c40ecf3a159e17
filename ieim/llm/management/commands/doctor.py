"""``manage.py doctor``: what the configured model server takes, costs and needs."""

from __future__ import annotations

import sys
import time
from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ieim.llm.capabilities import Capabilities, configured
from ieim.llm.doctor import report
from ieim.llm.doctor.probes import Asker, Call, Found, ask_all, find_out
from ieim.llm.factory import build_model
from ieim.pipeline.ports import Model, ModelUnavailable
from ieim.pipeline.work import Options

_HELP = """\
Asks the configured model server in several ways what it takes, then each contract once, with a
made-up question: no citizen's words leave the machine, and no database is needed. Says which
settings to change. About twenty calls."""

_EPILOG = """\
The exit code is 0 when the settings fit the server and every contract had an answer of its shape;
else 1."""


class Command(BaseCommand):
    """Ask, and say what to set."""

    help = _HELP
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the line breaks of the help."""
        kwargs.setdefault("formatter_class", RawDescriptionHelpFormatter)
        return super().create_parser(prog_name, subcommand, epilog=_EPILOG, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask; no answer at all is a CommandError."""
        config, takes = settings.IEIM_MODEL, configured(settings.IEIM_MODEL)
        asker = Asker(
            _model,
            time.monotonic,
            temperature=config["TEMPERATURE"],
            max_output_tokens=Options().max_output_tokens,
            deadline=config["DEADLINE"],
        )
        if not config["BASE_URL"]:
            self.stdout.write(
                "No model server is set (IEIM_MODEL_BASE_URL): the offline engine answers.\n"
            )
            found = None
        else:
            self.stdout.write(f"{config['BASE_URL']}, {config['NAME']}\n")
            found = self._server(asker, takes)
        self.stdout.write("\nEach contract, asked once:")
        calls = ask_all(asker, found.best if found else takes)
        self._write(report.of_contracts(calls))
        good = all(isinstance(call, Call) and call.kept for call in calls.values())
        if not self._advise(found, takes) or not good:
            sys.exit(1)

    def _server(self, asker: Asker, takes: Capabilities) -> Found:
        try:
            found = find_out(asker, takes)
        except ModelUnavailable as error:
            raise CommandError(str(error)) from None
        if found is None:
            raise CommandError(
                "The server refuses or fails at the request however it is made. Check its log, "
                "IEIM_MODEL_BASE_URL and IEIM_MODEL_NAME, and that the model takes some "
                "thousand tokens."
            )
        self.stdout.write("\nWhat the server takes:")
        self._write(report.of_server(found))
        return found

    def _advise(self, found: Found | None, takes: Capabilities) -> bool:
        """Say what to set; return whether there is nothing."""
        if found is None:
            return True
        lines = report.advice(found, takes)
        self.stdout.write("")
        if lines:
            self.stdout.write("The settings do not fit this server:")
            self._write(f"  {line}" for line in lines)
        else:
            self.stdout.write("The settings fit this server.")
        self._write(report.warnings(found))
        return not lines

    def _write(self, lines: Any) -> None:
        for line in lines:
            self.stdout.write(line)


def _model(takes: Capabilities) -> Model:
    try:
        return build_model(settings.IEIM_MODEL, takes)
    except ValueError as error:
        raise CommandError(str(error)) from None
