"""``manage.py recall AGENCY SERVICE``: the answers that a service was used for."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from conversations.citations import content_in
from conversations.citations import version as version_of
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.formats import BOM
from ieim.knowledge.models import Release
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
        number, version = options["release"], ""
        if number is not None:
            try:
                release = knowledge.release(number)
            except knowledge.UnknownReleaseError as error:
                raise CommandError(f"There is no release {number}.") from error
            if (agency, service) not in release.services:
                raise CommandError(f"Release {number} has no {agency}/{service}.")
            version = version_of(release, agency, service)
        citations = selectors.listed(agency, service, version)
        contents = Release.objects.order_by("-number").values_list("content", flat=True)
        if not citations.exists() and not any(
            content_in(content, agency, service) for content in contents.iterator(chunk_size=1)
        ):
            raise CommandError(f"No release has, or had, {agency}/{service}.")
        for line in selectors.as_csv(citations):
            self.stdout.write(line.removeprefix(BOM).rstrip("\r\n"))
