"""Cases for ``manage.py gate``: read one line, judge it, without a model and without a database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ieim.knowledge.bundles.bundle import Bundle, BundleError, read_bundle
from ieim.pipeline import contract as contracts
from ieim.pipeline import policy
from ieim.pipeline.findings import Finding
from ieim.pipeline.gate import gate
from ieim.pipeline.knowledge import LABEL_SETS, Release
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.stages.base import Context
from ieim.pipeline.topology import STAGES


class MalformedCase(Exception):
    """A line that is no case; the message says what is wrong with it."""


_TEXT_OR_NULL = (str, type(None))
_REQUIRED: Mapping[str, type | tuple[type, ...]] = {
    "id": (str, int),
    "contract": str,
    "attempt": int,
    "raw": _TEXT_OR_NULL,
    "user_prompt": str,
    "cached_state": dict,
    "used_response_ids": list,
    "labels": dict,
    "bundle": str,
}
_OPTIONAL: Mapping[str, type | tuple[type, ...]] = {
    "finish_reason": _TEXT_OR_NULL,
    "refusal": _TEXT_OR_NULL,
}


def judge_line(line: bytes, *, folder: Path) -> dict[str, Any]:
    """Judge one case line and return its result line as a mapping.

    ``folder`` is where relative bundle paths are looked for first, before the working directory.
    Raises :class:`MalformedCase`.
    """
    case = _case(line)
    bundle, release = _bundle(case["bundle"], folder)
    contract = contracts.load(case["contract"])
    context = Context(
        attempt=case["attempt"],
        user_prompt=case["user_prompt"],
        cached_state=case["cached_state"],
        release=release,
        labels={name: frozenset(codes) for name, codes in case["labels"].items()},
        used_response_ids=frozenset(case["used_response_ids"]),
    )
    answer = ModelAnswer(case["raw"] or "", case.get("finish_reason"), case.get("refusal"))
    judgement = gate.judge(contract, answer, context)
    findings: list[Finding] = list(judgement.findings)
    if judgement.passed and judgement.output is not None:
        # Policy needs the bundle's own thresholds: default ones would hold other people's cases.
        if bundle.own_labels and policy.has_thresholds(release.labels):
            findings = policy.holds(contract.id, judgement.output, release.labels)
        verdict = "hold" if findings else "pass"
    else:
        verdict = "needs_review"
    return {
        "id": case["id"],
        "verdict": verdict,
        "findings": [finding.as_dict() for finding in findings],
        "evidence": [evidence.as_dict() for evidence in judgement.evidence],
        "output": judgement.output,
        "state_merge": judgement.state_merge,
    }


def _case(line: bytes) -> dict[str, Any]:
    try:
        case = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedCase(f"not UTF-8 at byte {error.start}") from error
    except (ValueError, RecursionError) as error:
        raise MalformedCase(f"not JSON: {error}") from error
    if not isinstance(case, dict):
        raise MalformedCase("not a JSON object")
    for name, kind in _REQUIRED.items():
        if name not in case:
            raise MalformedCase(f"the field {name} is missing")
        _check(name, case[name], kind)
    for name, kind in _OPTIONAL.items():
        _check(name, case.get(name), kind)
    _check_values(case)
    return case


def _check(name: str, value: object, kind: type | tuple[type, ...]) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise MalformedCase(f"the field {name} has the wrong type")


def _check_values(case: Mapping[str, Any]) -> None:
    if case["contract"] not in STAGES:
        raise MalformedCase(f"the contract is none of {', '.join(STAGES)}")
    if case["attempt"] not in (1, 2):
        raise MalformedCase("attempt is 1 or 2")
    if not all(isinstance(item, str) for item in case["used_response_ids"]):
        raise MalformedCase("used_response_ids is a list of texts")
    for name, codes in case["labels"].items():
        if name not in LABEL_SETS:
            raise MalformedCase(f"labels: {name!r} is none of {', '.join(LABEL_SETS)}")
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            raise MalformedCase(f"labels: {name} is a list of codes")


def _bundle(name: str, folder: Path) -> tuple[Bundle, Release]:
    beside = folder / name
    path = beside if beside.exists() else Path(name)
    try:
        return _read(path.resolve())
    except BundleError as error:
        first = error.errors[0]
        raise MalformedCase(
            f"the bundle {name} cannot be used: {first.file}:{first.line}: {first.message}"
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise MalformedCase(f"the bundle {name!r} cannot be read: {error}") from error


@lru_cache(maxsize=8)
def _read(path: Path) -> tuple[Bundle, Release]:
    # The release too: hashing a large one, and what is kept for each, costs more than a case.
    bundle = read_bundle(path)
    return bundle, bundle.release()
