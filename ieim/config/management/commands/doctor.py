"""``manage.py doctor``: what is wrong with this installation, and what its model server needs."""

from __future__ import annotations

import sys
import time
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email

from ieim.config import doctor as installation
from ieim.llm import doctor
from ieim.llm.capabilities import Capabilities, configured
from ieim.llm.factory import build_model
from ieim.pipeline.ports import Model, ModelUnavailable
from ieim.pipeline.work import Options

_HELP = """\
Asks everything that a question needs: database, Redis, worker, beat, release, storage, clock, mail,
keys, and the site at its own address. Then asks the configured model server in several ways what it
takes, and each contract once, with a made-up question: no citizen's words leave the machine. Says
what to change. About twenty calls of the model."""

_EPILOG = """\
The exit code is 0 when nothing is wrong, the settings fit the model server, and every contract had
an answer of its shape; else 1."""

SITE, MODEL = "site", "model"


class Command(BaseCommand):
    """Asks the site, then the model server, and prints what to do."""

    help = _HELP
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the line breaks of the help."""
        kwargs.setdefault("formatter_class", RawDescriptionHelpFormatter)
        return super().create_parser(prog_name, subcommand, epilog=_EPILOG, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what is asked, and --mail."""
        parser.add_argument(
            "part",
            nargs="?",
            choices=(SITE, MODEL),
            help=f"ask only of this: {MODEL} needs no database, {SITE} no call of the model",
        )
        parser.add_argument(
            "--mail", default="", metavar="ADDRESS", help="send one e-mail to this address"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Examine both; no answer at all of the model server is a CommandError."""
        good = options["part"] == MODEL or self._ask_site(options["mail"])
        if options["part"] != SITE:
            good = self._ask_model() and good
        if not good:
            sys.exit(1)

    def _ask_site(self, mail_to: str) -> bool:
        try:
            if mail_to:
                validate_email(mail_to)
        except ValidationError:
            raise CommandError(f"{mail_to!r} is no e-mail address.") from None
        rows = list(installation.examine(mail_to))
        cells = [(row.name, "ok" if row.good else "WRONG", row.text) for row in rows]
        self._write(["What a question needs:", *doctor.table(cells), ""])
        return all(row.good for row in rows)

    def _ask_model(self) -> bool:
        config, capabilities = settings.IEIM_MODEL, configured(settings.IEIM_MODEL)
        prober = doctor.Prober(
            _model,
            time.monotonic,
            temperature=config["TEMPERATURE"],
            max_output_tokens=Options().max_output_tokens,
            deadline=config["DEADLINE"],
        )
        support = None
        if config["BASE_URL"]:
            self.stdout.write(f"{config['BASE_URL']}, {config['NAME']}\n")
            support = self._examine(prober, capabilities)
        else:
            self.stdout.write(
                "No model server is set (IEIM_MODEL_BASE_URL): the offline engine answers.\n"
            )
        self.stdout.write("\nEach contract, asked once:")
        calls = prober.call_all(support.best if support else capabilities)
        self._write(doctor.contract_table(calls))
        good = all(isinstance(call, doctor.Call) and call.in_shape for call in calls.values())
        if support is not None:
            good = not self._advise(support, capabilities) and good
        return good

    def _examine(self, prober: doctor.Prober, capabilities: Capabilities) -> doctor.Support:
        try:
            support = doctor.examine(prober, capabilities)
        except ModelUnavailable as error:
            raise CommandError(str(error)) from None
        if support is None:
            raise CommandError(
                "The server refuses or fails at the request however it is made. Check its log, "
                "IEIM_MODEL_BASE_URL and IEIM_MODEL_NAME, and that the model takes some "
                "thousand tokens."
            )
        self.stdout.write("\nWhat the server takes:")
        self._write(doctor.server_table(support))
        return support

    def _advise(self, support: doctor.Support, capabilities: Capabilities) -> list[str]:
        lines = doctor.advice(support, capabilities)
        heading = "The settings do not fit this server:" if lines else ""
        if not lines and support.in_shape:
            heading = "The settings fit this server."
        self._write(["", heading, *(f"  {line}" for line in lines), *doctor.warnings(support)])
        return lines

    def _write(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line)


def _model(capabilities: Capabilities) -> Model:
    try:
        return build_model(settings.IEIM_MODEL, capabilities)
    except ValueError as error:
        raise CommandError(str(error)) from None
