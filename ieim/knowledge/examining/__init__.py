"""The checks that the knowledge goes through before somebody proposes to publish it.

They are pure: a bundle goes in, remarks come out, errors first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from ieim.knowledge.bundle import Bundle
from ieim.knowledge.examining.budgets import too_costly
from ieim.knowledge.examining.linked import links
from ieim.knowledge.examining.reach import silent, unreached
from ieim.knowledge.examining.references import dangling
from ieim.knowledge.examining.remarks import Remark, Severity
from ieim.knowledge.examining.stealing import stealing
from ieim.pipeline.knowledge import Release

__all__ = ["Remark", "Severity", "examine", "examined"]

_KEPT = 4
_kept: OrderedDict[tuple[str, int | None], Sequence[Remark]] = OrderedDict()
_lock = Lock()


def examine(bundle: Bundle, release: Release, *, budget: int | None) -> list[Remark]:
    """Return every remark about ``bundle``, errors first, else in the order of the checks.

    ``release`` is the bundle's; ``budget`` is the input of one call in tokens, None for no limit.
    """
    remarks = [
        *dangling(bundle),
        *unreached(bundle),
        *silent(bundle),
        *stealing(bundle, release),
        *links(bundle),
        *too_costly(bundle, budget),
    ]
    return sorted(remarks, key=lambda remark: remark.severity is not Severity.ERROR)


def examined(bundle: Bundle, release: Release, *, budget: int | None) -> Sequence[Remark]:
    """Return :func:`examine`'s remarks, worked out once per process and content (``sha256``)."""
    key = (release.sha256, budget)
    with _lock:
        known = _kept.get(key)
    if known is None:
        known = tuple(examine(bundle, release, budget=budget))
    with _lock:
        _kept[key] = known
        _kept.move_to_end(key)
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    return known
