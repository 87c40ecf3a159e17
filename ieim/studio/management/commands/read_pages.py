"""Read web pages, and draft entries from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from ieim.studio.management.base import PlainHelpCommand, reading
from ieim.studio.models import PageRun, WebPage
from ieim.studio.webpages import running, services


class Command(PlainHelpCommand):
    help = """\
Reads web pages of the hosts in IEIM_PAGE_HOSTS, or saved pages, and drafts an entry of each. It
says of every page what became of it. Nothing of the draft changes: editors look at each page at
/knowledge/webpages/pages/ and take what is right. Interrupted, editors can go on with it there."""
    epilog = """\
examples:
  manage.py read_pages --agency passports https://city.example/passports/renew
  manage.py read_pages --agency passports --sitemap https://city.example/sitemap.xml
  manage.py read_pages --agency passports --file saved.zip"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("addresses", nargs="*", metavar="ADDRESS", help="of a page")
        parser.add_argument("--agency", metavar="ID", required=True, help="whose entries they are")
        parser.add_argument("--sitemap", metavar="URL", default="", help="of pages")
        parser.add_argument(
            "--file", type=Path, nargs="*", default=[], metavar="PATH", help="HTML, or a ZIP of it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the pages here; raise :class:`CommandError` where nothing could be begun."""
        files = []
        for path in options["file"]:
            with reading(path):
                files.append((path.name, path.read_bytes()))
        given = {name: options[name] for name in ("agency", "addresses", "sitemap")}
        try:
            run = services.start(**given, files=files, by=None, is_queued=False)
        except services.PagesError as error:
            raise self.refusal(error.reasons, verb="read") from error
        running.run_pages(run_id=run.pk, after=self._say)
        run.refresh_from_db()
        if run.note:
            self.stdout.write(run.note)
        if run.state != PageRun.State.DONE:
            raise CommandError(run.error or f"Run {run.pk} is gone on with by a worker.")

    def _say(self, page: WebPage) -> None:
        state = "waits" if page.is_due else page.state
        by = page.draft.get("by", "") if state == WebPage.State.DRAFTED else ""
        self.stdout.write("\t".join(filter(None, (state, page.address, by, page.problem))))
