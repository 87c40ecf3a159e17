"""An editor's program: the staff's login, its CSRF token, plain HTTP."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from tests.review.people import StaffProgram

ROOT = "/api/v1/knowledge/"


class Editor(StaffProgram):
    """An editor's program."""

    def get(self, path: str, **query: str) -> Any:
        """Read an address below the root; ``query`` goes into it."""
        return self.http.get(f"{ROOT}{path}", query)

    def send(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Send with the CSRF token: ``query`` into the address, other ``options`` as headers."""
        query = options.pop("query", {})
        headers = {"X-CSRFToken": self.csrf}
        headers |= {name.replace("_", "-"): value for name, value in options.items()}
        return self.http.generic(
            method,
            f"{ROOT}{path}" + (f"?{urlencode(query)}" if query else ""),
            b"" if body is None else json.dumps(body).encode(),
            content_type="application/json",
            headers=headers,
        )
