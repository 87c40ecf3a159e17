"""A reviewer's program: the staff's login, its CSRF token, plain HTTP."""

from __future__ import annotations

import json
from typing import Any

from review.models import ReviewItem
from tests.review.people import StaffProgram

ITEMS = "/api/v1/review/items/"


class Reviewer(StaffProgram):
    """A reviewer's program."""

    def get(self, path: str = ITEMS, **params: str) -> Any:
        """Read an address."""
        return self.http.get(path, params)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """Post to an address, with the CSRF token; a body that is not bytes is sent as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"X-CSRFToken": self.csrf, **headers}
        return self.http.post(
            path,
            b"" if body is None else data,
            content_type=given.pop("Content-Type", "application/json"),
            headers={name: value for name, value in given.items() if value},
        )

    def read(self, item: ReviewItem) -> Any:
        """Read an item."""
        return self.get(path_of(item))

    def claim(self, item: ReviewItem) -> Any:
        """Claim an item."""
        return self.post(f"{path_of(item)}claim/")

    def decide(self, item: ReviewItem, body: Any, *, seen: str | None = None) -> Any:
        """Decide an item as it stands, or as it was ``seen``."""
        tag = self.read(item)["ETag"] if seen is None else seen
        return self.post(f"{path_of(item)}decide/", body, **{"If-Match": tag})


def path_of(item: ReviewItem) -> str:
    """Return an item's address."""
    return f"{ITEMS}{item.pk}/"


def written(text: str = "Please write to us.", **extra: Any) -> dict[str, Any]:
    """Return a decision to write a reply."""
    body = {"action": "write", "reason": "I looked it up.", "payload": {"text": text}}
    return {**body, **extra}


def override(output: Any, **extra: Any) -> dict[str, Any]:
    """Return a decision to put an answer in place of a stage's."""
    payload = {"output": output, **extra}
    return {"action": "override", "reason": "I looked it up.", "payload": payload}
