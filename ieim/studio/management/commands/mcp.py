"""Serve the current release to an assistant on this machine."""

from __future__ import annotations

from typing import Any

from ieim.studio.management.base import PlainHelpCommand


class Command(PlainHelpCommand):
    help = """\
Serves the current release by the Model Context Protocol on standard input and output, for an
assistant on this machine that starts this command. Over HTTP it is served at /mcp."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until the input ends."""
        from ieim.studio.mcp.server import server  # other commands need not wait for its import

        server().run("stdio")
