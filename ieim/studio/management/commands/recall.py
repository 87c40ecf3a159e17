"""``manage.py recall AGENCY SERVICE``: the answers that a service was used for."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ieim.knowledge.bundles.formats import BOM
from ieim.knowledge.selectors import UnknownReleaseError
from ieim.studio.recall import selectors


class Command(BaseCommand):
    help = (
        "List the answers that were made from a service, the newest first, as CSV: the reference "
        "of the conversation, when, in which language, how, and from which release and version. "
        "No word of a citizen's is printed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("agency", metavar="AGENCY", help="the id of the agency")
        parser.add_argument("service", metavar="SERVICE", help="the key of the service")
        parser.add_argument(
            "--release",
            metavar="N",
            type=int,
            help="only answers from the version that release N has of it, in whatever release",
        )

    def handle(self, *args: Any, agency: str, service: str, **options: Any) -> None:
        version = ""
        if options["release"] is not None:
            try:
                found = selectors.version_in(agency, service, options["release"])
            except UnknownReleaseError as error:
                raise CommandError(f"There is no release {options['release']}.") from error
            if found is None:
                raise CommandError(f"Release {options['release']} has no {agency}/{service}.")
            version = found
        listed = selectors.listed(agency, service, version)
        if not listed.exists() and not selectors.was_ever(agency, service):
            raise CommandError(f"No release has, or had, {agency}/{service}.")
        for line in selectors.as_csv(listed.iterator(chunk_size=1000)):
            self.stdout.write(line.removeprefix(BOM).rstrip("\r\n"))
