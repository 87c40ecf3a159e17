"""What the studio's tests share with those of the knowledge."""

from __future__ import annotations

from tests.knowledge.conftest import bundle, editor

__all__ = ["bundle", "editor"]
