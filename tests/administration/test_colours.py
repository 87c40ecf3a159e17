"""Colours: refused where they cannot be read, by a formula of the tests' own."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.test import Client
from hypothesis import example, given
from hypothesis import strategies as st

from ieim.administration import checks, contrast
from ieim.administration.organisation import Colours
from tests.administration.setting import put, refusal

COLOURS = st.integers(0, 0xFFFFFF).map("#{:06x}".format)
THEME = Path(settings.BASE_DIR) / "static" / "src" / "scss" / "base" / "_theme.scss"
GROUNDS = ("body-background", "template-background", "surface-background", "inverse-text")


def grounds(scheme: str) -> set[str]:
    """What the style sheet itself says that a brand colour stands on, or under."""
    source = THEME.read_text(encoding="utf-8")
    table = source.partition(f"${scheme}: (")[2].partition(");")[0]
    by_key = dict(re.findall(r'"([\w-]+)": (#[0-9a-f]{6})', table))
    colours = (
        re.findall(rf"--ieim-{name}: (#[0-9a-f]{{6}})", source)[scheme == "dark"]
        for name in ("card", "ground")
    )
    return {*(by_key[name] for name in GROUNDS), *colours}


def brightness(colour: str) -> float:
    """WCAG's relative luminance, over exact shares and by its older threshold, which no colour of
    eight bits tells from the newer one."""
    weights = (Fraction(2126, 10_000), Fraction(7152, 10_000), Fraction(722, 10_000))
    total = 0.0
    for weight, channel in zip(weights, bytes.fromhex(colour[1:]), strict=True):
        share = Fraction(channel, 255)
        low = share <= Fraction(3928, 100_000)
        total += float(weight) * (
            float(share / Fraction(1292, 100)) if low else ((float(share) + 0.055) / 1.055) ** 2.4
        )
    return total


def worst(colour: str, scheme: str) -> float:
    mine = brightness(colour) + 0.05
    others = (brightness(ground) + 0.05 for ground in grounds(scheme))
    return min(max(mine / other, other / mine) for other in others)


def test_it_checks_against_the_grounds_of_the_style_sheet() -> None:
    assert set(contrast.LIGHT.values()) == grounds("light")
    assert set(contrast.DARK.values()) == grounds("dark")


@pytest.mark.parametrize(
    ("scheme", "check"), [("light", checks.brand), ("dark", checks.brand_dark)]
)
@given(colour=COLOURS)
@example(colour="#767676")
@example(colour="#0d5a6c")
@example(colour="#777777")
def test_it_refuses_what_cannot_be_read_and_nothing_else(
    scheme: str, check: checks.Check, colour: str
) -> None:
    measured = worst(colour, scheme)
    if abs(measured - 4.5) < 1e-9:
        return
    try:
        assert check(colour) == colour
        assert measured > 4.5
    except ValidationError as error:
        assert measured < 4.5
        match = re.search(r"is ([0-9.]+):1", str(error.message))
        assert match
        assert float(match[1]) <= measured < float(match[1]) + 0.011
        better = re.search(r"(#[0-9a-f]{6}) is close to it", str(error.message))
        assert better
        assert worst(better[1], scheme) >= 4.5


@given(colour=COLOURS)
def test_what_it_makes_itself_can_be_read(colour: str) -> None:
    brand = contrast.readable(colour, dark=False)
    made = Colours(brand, contrast.readable(brand, dark=True))
    assert min(worst(made.brand, "light"), worst(made.hover, "light")) >= 4.5
    assert min(worst(made.brand_dark, "dark"), worst(made.hover_dark, "dark")) >= 4.5


@pytest.mark.parametrize("typed", ["red", "#12345", "#1f4e8c; }", "#1f4e8g", "url(x)", "#１f4e8c"])
def test_it_takes_colours_only(db: None, typed: str) -> None:
    assert set(refusal("colours", {"brand": typed})) == {"brand"}


def test_it_serves_them_as_a_style_sheet_that_may_be_kept(db: None) -> None:
    client = Client()
    assert "own/colours.css" not in client.get("/help/").content.decode()
    put("colours", brand=" 1F4E8C ")
    html = client.get("/help/").content.decode()
    assert '<meta name="theme-color" content="#1f4e8c"' in html
    link = re.search(r'href="(/own/colours\.css\?v=\w+)"', html)
    assert link
    sheet = client.get(link[1])
    css = sheet.content.decode()
    assert sheet["Content-Type"].startswith("text/css")
    assert "immutable" in sheet["Cache-Control"]
    light, _, dark = css.partition("prefers-color-scheme: dark")
    assert "--govuk-brand-colour: #1f4e8c;" in light
    match = re.search(r"--govuk-link-colour: (#[0-9a-f]{6});", dark)
    assert match
    assert worst(match[1], "dark") >= 4.5
    put("colours", brand="#7a1f1f")
    assert link[1] not in client.get("/help/").content.decode()
    assert "immutable" not in client.get(link[1])["Cache-Control"]
