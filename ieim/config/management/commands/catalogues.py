"""``manage.py catalogues``: gather what there is to translate, or compile what is translated."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ieim.config.catalogues import files


class Command(BaseCommand):
    """Without GNU gettext: Babel does the work."""

    help = "Keep the catalogues in locale/: refresh them from the code, or compile them."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do."""
        parser.add_argument("what", choices=("refresh", "compile"))

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say what is left to translate."""
        if options["what"] == "refresh":
            for locale, lacking in files.refresh().items():
                self.stdout.write(f"{locale}: {lacking or 'nothing'} to translate")
        files.compile_stale()
