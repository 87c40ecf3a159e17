"""The contrast (WCAG 2.2) of a brand colour on the backgrounds of the style sheet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_noop

NEEDED: Final = 4.5
"""Level AA, for text of any size."""

LIGHT: Final[Mapping[str, str]] = {
    gettext_noop("white text on it"): "#ffffff",
    gettext_noop("it on the white page"): "#ffffff",
    gettext_noop("it on the grey foot of the page"): "#eef3f4",
    gettext_noop("it on a quiet box"): "#eef4f5",
    gettext_noop("it beside an answer"): "#f3f6f6",
}
"""The backgrounds in the light scheme (``static/src/scss/base/_theme.scss``), by description."""
DARK: Final[Mapping[str, str]] = {
    gettext_noop("dark text on it"): "#0f171c",
    gettext_noop("it on the dark page"): "#10181d",
    gettext_noop("it on the foot of the dark page"): "#0a1014",
    gettext_noop("it on a dark card"): "#17222a",
    gettext_noop("it on a quiet dark box"): "#18232a",
}
"""The backgrounds in the dark scheme."""

_HEX = re.compile(r"#[0-9a-f]{6}", re.ASCII)
_STEPS = 40


def is_colour(text: str) -> bool:
    """Whether ``text`` is a colour as it is stored: ``#`` and six lower-case hex digits."""
    return _HEX.fullmatch(text) is not None


def ratio(first: str, second: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def weakest(colour: str, grounds: Mapping[str, str]) -> tuple[str, float]:
    """Return where ``colour`` has the least contrast, and that contrast."""
    ratios = {where: ratio(colour, ground) for where, ground in grounds.items()}
    return min(ratios.items(), key=lambda item: item[1])


def readable(colour: str, *, dark: bool) -> str:
    """Return the shade nearest to ``colour``, towards black (or white), with enough contrast."""
    grounds, towards = (DARK, "#ffffff") if dark else (LIGHT, "#000000")
    shades = (mixed(colour, towards, step / _STEPS) for step in range(_STEPS + 1))
    return next(shade for shade in shades if weakest(shade, grounds)[1] >= NEEDED)


def mixed(colour: str, other: str, share: float) -> str:
    """Return ``colour`` mixed with a ``share`` (0 to 1) of ``other``."""
    channels = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in channels)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[start : start + 2], 16) for start in (1, 3, 5))


def _luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2, from 0 to 1."""
    linear = []
    for channel in _channels(colour):
        share = channel / 255
        linear.append(share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
