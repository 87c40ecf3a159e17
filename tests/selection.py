"""What of a test's cases `make test` runs: a few; `make test-all` runs all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sample(cases: Iterable[Any], keep: int = 1) -> list[Any]:
    """Return ``cases`` for parametrize; all after the first ``keep`` are marked ``whole``."""
    results = list(cases)
    return [*results[:keep], *(_whole(case) for case in results[keep:])]


def _whole(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.whole)
