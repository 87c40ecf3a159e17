"""What the doctor says: two tables, and what to set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ieim.llm.capabilities import SETTINGS, Capabilities
from ieim.llm.doctor.probes import Call, Found
from ieim.pipeline.ports import ModelUnavailable

_USUAL = ("judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1")
_TRIAGE = ("classify", "extract", "identity_assist")


def of_server(found: Found) -> Iterator[str]:
    """Yield the lines of the table of what the server takes."""
    rows = [("what", "the server")]
    for form, call in found.formats.items():
        rows.append((f"response format {form}", _format(call)))
    for limit, held in found.limits.items():
        said = {None: "refuses it", False: "takes it, but does not hold to it", True: "takes it"}
        rows.append((limit, said[held]))
    for name, taken in (
        ("temperature", found.temperature),
        ("store: false", found.store),
        ("prompt_cache_key", found.cache_key),
    ):
        rows.append((name, "takes it" if taken else "refuses it"))
    return _table(rows)


def of_contracts(calls: Mapping[str, Call | ModelUnavailable]) -> Iterator[str]:
    """Yield the lines of the table of what came of each contract, and the sum of a usual turn."""
    rows = [("contract", "in", "out", "cached", "seconds", "the answer")]
    for contract, call in calls.items():
        if isinstance(call, ModelUnavailable):
            rows.append((contract, "-", "-", "-", "-", str(call)))
        else:
            rows.append((contract, *_figures([call]), f"{call.seconds:.1f}", _outcome(call)))
    usual = [calls[name] for name in (*_USUAL, *_TRIAGE)]
    told = [call for call in usual if isinstance(call, Call)]
    if len(told) == len(usual):
        seconds = sum(call.seconds for call in told)
        note = "the seven calls of a usual turn"
        rows.append(("together", *_figures(told), f"{seconds:.1f}", note))
    return _table(rows)


def advice(found: Found, configured: Capabilities) -> list[str]:
    """Return what to set, a line each; none when everything is set as the server takes it."""
    lines = []
    for name, setting in SETTINGS.items():
        wanted = getattr(found.best, name)
        if wanted != getattr(configured, name):
            lines.append(f"Set IEIM_MODEL_{setting}={_value(wanted)}")
    return lines


def warnings(found: Found) -> list[str]:
    """Return what a person has to know and no setting mends."""
    lines = []
    if found.best.store:
        lines.append(
            "IEIM_MODEL_STORE is true: the provider is told to keep what citizens write. Prefix "
            "caching does not need it."
        )
    if not any(found.limits.values()):
        lines.append("No limit of tokens is held to: an answer may be as long as the model likes.")
    if not found.formats[found.best.response_format].kept:
        lines.append(
            "In no response format did the answer have the shape of its contract: this model will "
            "send most questions to a person."
        )
    return lines


def _value(wanted: Any) -> str:
    return str(wanted).lower() if isinstance(wanted, bool) else str(wanted or "")


def _format(call: Call) -> str:
    if not call.taken:
        return "refuses it"
    return "takes it" if call.kept else f"takes it, but the answer was no good: {_codes(call)}"


def _outcome(call: Call) -> str:
    if not call.taken:
        return "the server refuses the request, or fails at it"
    if not call.findings:
        return "passes the gate"
    return f"{'right' if call.kept else 'wrong'} shape; {_codes(call)}"


def _codes(call: Call) -> str:
    return ", ".join(dict.fromkeys(finding.code.value for finding in call.findings))


def _figures(calls: Sequence[Call]) -> tuple[str, str, str]:
    answers = [call.answer for call in calls if call.answer is not None]
    return (
        _sum([answer.prompt_tokens for answer in answers]),
        _sum([answer.completion_tokens for answer in answers]),
        _sum([answer.cached_tokens for answer in answers]),
    )


def _sum(counts: Sequence[int | None]) -> str:
    known = [count for count in counts if count is not None]
    return f"{sum(known):,}" if known else "-"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = {i for i, cell in enumerate(rows[0]) if cell in ("in", "out", "cached", "seconds")}
    for row in rows:
        cells = [
            cell.rjust(widths[i]) if i in numbers else cell.ljust(widths[i])
            for i, cell in enumerate(row)
        ]
        yield "  " + "   ".join(cells).rstrip()
