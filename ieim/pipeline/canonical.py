"""Canonical JSON: one way to write a value, one digest of it, and scores that keep their digits.

Scores are Decimal, because two decimals are judged by value. Python's C encoder cannot emit them as
numbers, so :class:`DecimalEncoder` has its own writer; it is also the encoder of the JSON fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal, Inexact, InvalidOperation
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

import rfc8785

_SCORE_FIELDS = frozenset({"score", "confidence"})
_HUNDREDTH = Decimal("0.01")
# Wide enough for any number that strict JSON lets through; a rounding raises instead.
_EXACT = Context(prec=1000, traps=[Inexact, InvalidOperation])
_SAFE_INTEGER = 2**53 - 1


class DecimalEncoder(json.JSONEncoder):
    """Writes Decimals verbatim as JSON numbers: ``Decimal("0.90")`` is ``0.90``.

    For ``json.dumps(value, cls=DecimalEncoder)`` and Django's ``JSONField(encoder=...)``. Honours
    ``ensure_ascii``, ``sort_keys``, ``separators`` and ``default``; ``indent`` is ignored. Keys
    must be strings. Raises TypeError for what JSON cannot hold, ValueError for NaN and infinities.
    """

    def encode(self, o: Any) -> str:
        """Return ``o`` as JSON text."""
        if isinstance(o, str):
            return encode_basestring_ascii(o) if self.ensure_ascii else encode_basestring(o)
        if o is None or o is True or o is False:
            return {None: "null", True: "true", False: "false"}[o]
        if isinstance(o, int):
            return int.__repr__(o)
        if isinstance(o, (float, Decimal)):
            return _number(o)
        if isinstance(o, Mapping):
            keys = sorted(o) if self.sort_keys else o
            items = [f"{self._key(key)}{self.key_separator}{self.encode(o[key])}" for key in keys]
            return f"{{{self.item_separator.join(items)}}}"
        if isinstance(o, (list, tuple)):
            return f"[{self.item_separator.join([self.encode(item) for item in o])}]"
        return self.encode(self.default(o))

    def iterencode(self, o: Any, _one_shot: bool = False) -> Iterator[str]:
        """Yield ``o`` as JSON text, in one piece."""
        yield self.encode(o)

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            raise TypeError(f"keys must be strings, not {type(key).__name__}")
        return self.encode(key)


class DecimalDecoder(json.JSONDecoder):
    """Reads numbers with a fraction or an exponent as Decimal.

    For ``json.loads(text, cls=DecimalDecoder)`` and Django's ``JSONField(decoder=...)``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"parse_float": Decimal, **options})


_CANONICAL = DecimalEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def dumps(value: Any) -> str:
    """Return ``value`` as compact JSON with sorted keys, Decimals verbatim, text unescaped.

    Raises TypeError or ValueError as :class:`DecimalEncoder` does.
    """
    return _CANONICAL.encode(value)


def digest(value: Any) -> str:
    """Return the lower-case hex SHA-256 over the RFC 8785 bytes of ``value``.

    RFC 8785 knows doubles only: 0.90 and 0.9 have the same digest. Raises ValueError for NaN,
    infinities, lone surrogates, numbers that no double holds, and what JSON cannot hold.
    """
    try:
        return hashlib.sha256(rfc8785.dumps(_plain(value))).hexdigest()
    except OverflowError:
        raise ValueError("a number is outside the range of a 64-bit float") from None


def two_decimals(value: Decimal) -> Decimal:
    """Return ``value`` with exactly two decimals (5e-1 is 0.50).

    Raises ValueError when that would change it (0.876) or it is not finite.
    """
    try:
        if value.is_finite():
            return value.quantize(_HUNDREDTH, context=_EXACT)
    except (Inexact, InvalidOperation):
        pass
    raise ValueError("the number does not fit into two decimals")


def shown_score(value: Any) -> str:
    """Return a score or a confidence as people are shown it, whatever its precision: ``0.90``."""
    return f"{Decimal(str(value)):.2f}"


def with_shown_scores(value: Any) -> Any:
    """Return JSON values with each ``score`` and ``confidence`` as people are shown it."""
    return map_scores(value, lambda score: Decimal(shown_score(score)))


def map_scores(value: Any, change: Callable[[Any], Decimal]) -> Any:
    """Return JSON values with what ``change`` makes of each ``score`` and ``confidence``."""
    if isinstance(value, Mapping):
        return {
            name: change(item)
            if name in _SCORE_FIELDS and type(item) in (int, float, Decimal)
            else map_scores(item, change)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [map_scores(item, change) for item in value]
    return value


def _number(value: float | Decimal) -> str:
    text = str(value) if isinstance(value, Decimal) else float.__repr__(value)
    if not text.lstrip("-")[0].isdigit():
        raise ValueError("NaN and infinities are not JSON numbers")
    return text


def _plain(value: Any) -> Any:
    """Return ``value`` with every number as RFC 8785 can write it."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) <= _SAFE_INTEGER else number
    if isinstance(value, int) and abs(value) > _SAFE_INTEGER:
        return float(value)
    return value
