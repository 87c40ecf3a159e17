"""Log records without secrets."""

from __future__ import annotations

import logging


class RoutesOnly(logging.Filter):
    """Put a request's route in place of its address, which may hold a resume link's secret."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record's arguments; let every record through."""
        request = getattr(record, "request", None)
        path = getattr(request, "path", None)
        if path and isinstance(record.args, tuple):
            match = getattr(request, "resolver_match", None)
            route = match.route if match else "(no route)"
            record.args = tuple(route if arg == path else arg for arg in record.args)
        return True
