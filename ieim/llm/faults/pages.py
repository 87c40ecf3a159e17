"""The table of faults as people read it: in the terminal and in ``docs/faults.md``."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from ieim.llm.faults.table import ALL, FAULTS, TRIAGE, Fault
from ieim.pipeline.findings import Code

BEGIN = "<!-- From here to the end mark: python docs/build_faults.py -->"
END = "<!-- end -->"

_WIDTH = 98
_NAME = max(map(len, FAULTS)) + 4
_HEAD = ("fault", "what the server does", "contracts", "outcome", "codes")
_TOGETHER: Mapping[frozenset[str], str] = {
    frozenset(ALL): "all",
    frozenset(TRIAGE): "the three of triage",
    frozenset(ALL) - frozenset(TRIAGE) - {"judgement_v1"}: "all stages after judgement_v1",
}


def listing() -> str:
    """Return the faults for a terminal: name, what happens, what comes of it."""
    lines = []
    for fault in FAULTS.values():
        codes = sorted({code for found in fault.ends.values() for code in found})
        ends = f"{fault.outcome}: {', '.join(codes)}" if codes else fault.outcome.value
        first, *rest = wrap(f"{fault.description} ({ends})", _WIDTH - _NAME)
        lines += [f"  {fault.name}".ljust(_NAME) + first, *(" " * _NAME + line for line in rest)]
    return "\n".join(lines)


def table() -> str:
    """Return the faults as a Markdown table, one row a fault and set of codes."""
    rows = [f"| {' | '.join(_HEAD)} |", "|---" * len(_HEAD) + "|"]
    for fault in FAULTS.values():
        shown = (f"`{fault.name}`", fault.description)
        for codes, contracts in _by_codes(fault).items():
            named = ", ".join(f"`{code}`" for code in sorted(codes)) or "none"
            cells = (*shown, _together(contracts), fault.outcome_at(contracts[0]).value, named)
            rows.append(f"| {' | '.join(cells)} |")
            shown = ("", "")
    return "\n".join(rows)


def refreshed(page: str) -> str:
    """Return ``page`` with the table of today between its marks; ValueError without marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"The page has no section from {BEGIN} to {END}.")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _by_codes(fault: Fault) -> dict[frozenset[Code], list[str]]:
    grouped: dict[frozenset[Code], list[str]] = {}
    for contract, codes in fault.ends.items():
        grouped.setdefault(codes, []).append(contract)
    return grouped


def _together(contracts: list[str]) -> str:
    named = _TOGETHER.get(frozenset(contracts))
    return named or ", ".join(f"`{contract}`" for contract in contracts)
