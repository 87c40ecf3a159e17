"""What an entry costs when a stage is given it as a candidate, against the budget of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.rows import Table
from ieim.pipeline.canonical import dumps
from ieim.pipeline.ports import Ranked
from ieim.pipeline.stages.slots import service_slot
from ieim.pipeline.work import Options
from ieim.studio.checks.remarks import Remark, Severity

CODE = "budget.terms"


def too_costly(bundle: Bundle, budget: int | None) -> Iterator[Remark]:
    """Yield entries whose candidate slot costs more than its share of ``budget``.

    ``budget`` is the input of one call in tokens, None for no limit; a slot's tokens are its UTF-8
    bytes, as in :mod:`ieim.pipeline.budget`. An error where the slot alone is over the budget: then
    no question about it can be asked at all.
    """
    if budget is None:
        return
    limits = Options().limits
    for agency in bundle.agencies:
        slot = {"name": agency.name, "path": agency.path, "description": agency.description}
        yield from _judged("agencies", agency.id, agency.id, slot, budget, limits["agencies"])
    for entry in bundle.dictionary:
        slot = {"value": entry.value, "keywords": "\n".join(entry.keywords)}
        name = f"{entry.agency} {entry.key}"
        yield from _judged("dictionary", name, entry.agency, slot, budget, limits["categories"])
    for service in bundle.services:
        # As it is answered from: what is only chosen from is cut.
        slot = service_slot(Ranked(service, 1, 0.0), detail=True)
        name = f"{service.agency} {service.key}"
        yield from _judged("services", name, service.agency, slot, budget, limits["services"])


def _judged(
    table: Table, entry: str, agency: str, slot: Mapping[str, Any], budget: int, limit: int
) -> Iterator[Remark]:
    cost, share = len(dumps(slot).encode()), budget // limit
    if cost <= share:
        return
    longest = max(slot, key=lambda name: len(dumps(slot[name]).encode())).replace("_", " ")
    if cost > budget:
        severity, over = Severity.ERROR, f"the whole budget of a question is {budget:,}"
    else:
        severity, over = Severity.WARNING, f"its share of a question's budget is {share:,}"
    sentence = f"It costs up to {cost:,} tokens, and {over}: shorten the {longest}."
    yield Remark(CODE, severity, table, entry, agency, sentence)
