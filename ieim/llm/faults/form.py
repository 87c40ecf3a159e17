"""Faults of form: what is said may be right, but it is not one strict JSON text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ieim.llm.faults.exchange import MADE_UP, Said

HUGE = 10 * 1024 * 1024
DEPTH = 5_000

_HERE = "@here@"

Spoil = Callable[[str], Said]


def _truncated(text: str) -> Said:
    return Said(text[: len(text) // 2], finish_reason="length")


def _fenced(text: str) -> Said:
    return Said(f"```json\n{text}\n```")


def _prose(text: str) -> Said:
    return Said(f"Here is my {MADE_UP} answer:\n\n{text}\n\nCan I help with anything else?")


def _refusal(_text: str) -> Said:
    return Said("", refusal=f"I cannot help with that, for a {MADE_UP} reason.")


def _content_filter(_text: str) -> Said:
    return Said("", finish_reason="content_filter")


def _duplicate_keys(text: str) -> Said:
    name, value = next(iter(json.loads(text).items()))
    return Said(f"{text.rstrip()[:-1]}, {json.dumps({name: value})[1:]}")


def _huge(text: str) -> Said:
    return Said(text + " " * HUGE)


def _literal(kind: type | tuple[type, ...], literal: str) -> Spoil:
    """Return the fault that puts ``literal`` in the place of the answer's first ``kind`` of value.

    An answer without one gets a field of that value: the form is judged before the fields are.
    """

    def spoil(text: str) -> Said:
        answer = json.loads(text)
        for holder, key in _values(answer):
            if isinstance(holder[key], kind) and not isinstance(holder[key], bool):
                holder[key] = _HERE
                break
        else:
            answer[MADE_UP] = _HERE
        return Said(json.dumps(answer).replace(f'"{_HERE}"', literal, 1))

    return spoil


def _values(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the place of every value that is neither object nor list, in order."""
    places = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(places):
        if isinstance(value, dict | list):
            yield from _values(value)
        else:
            yield node, key


FORM: Mapping[str, Spoil] = {
    "truncated": _truncated,
    "fenced": _fenced,
    "prose": _prose,
    "refusal": _refusal,
    "content-filter": _content_filter,
    "duplicate-keys": _duplicate_keys,
    "nan": _literal((int, float), "NaN"),
    "overflow": _literal((int, float), "1e400"),
    "huge": _huge,
    # A lone surrogate in the text goes out as the byte that it stands for.
    "invalid-utf8": _literal(str, f'"{MADE_UP} \udcff"'),
    "deep": _literal(str, "[" * DEPTH + "]" * DEPTH),
    "nul": _literal(str, f'"{MADE_UP} \\u0000"'),
    "lone-surrogate": _literal(str, f'"{MADE_UP} \\ud800"'),
}
