"""Logos: a picture and nothing but a picture, and served so that it is nothing else."""

from __future__ import annotations

import struct
import time
from contextlib import suppress

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from ieim.administration import logos, selectors
from ieim.administration.logos import NoLogo, checked
from ieim.administration.models import Logo
from tests.administration.setting import SVG, chunk, png, put, refusal, save

SCRIPT = b"<script>alert(1)</script>"


def svg(inside: bytes = b"", attributes: bytes = b"", before: bytes = b"") -> bytes:
    space = b'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return before + b"<svg " + space + b" " + attributes + b">" + inside + b"</svg>"


ATTACKS = {
    "script": svg(SCRIPT),
    "script in a group": svg(b"<g>" + SCRIPT + b"</g>"),
    "handler": svg(attributes=b'onload="alert(1)"'),
    "handler in capitals": svg(attributes=b'ONLOAD="alert(1)"'),
    "foreign object": svg(b"<foreignObject><p/></foreignObject>"),
    "picture from elsewhere": svg(b'<image href="https://x.example/a.png"/>'),
    "style sheet": svg(b"<style>@import url(https://x.example)</style>"),
    "link": svg(b'<a href="javascript:alert(1)"><path d=""/></a>'),
    "nested drawing": svg(b"<g><svg/></g>"),
    "what draws itself again and again": svg(b'<g id="a"/><use href="#a"/>'),
    "animation": svg(b'<set attributeName="href" to="javascript:alert(1)"/>'),
    "reference to elsewhere": svg(b'<linearGradient xlink:href="https://x.example/#a"/>'),
    "fill from elsewhere": svg(b'<path fill="url(https://x.example/#a)"/>'),
    "fill from elsewhere, quoted": svg(b"<path fill=\"url( 'https://x.example/#a')\"/>"),
    "style from elsewhere": svg(b'<path style="fill:u\\72l(//x)"/>'),
    "style with an image set": svg(b"<path style=\"fill:image-set('//x' 1x)\"/>"),
    "style with data": svg(b'<path style="fill:url(data:image/svg+xml,x)"/>'),
    "entities": svg(b"&a;", before=b'<!DOCTYPE svg [<!ENTITY a "aaaa">]>'),
    "entity of a file": svg(
        b"&a;", before=b'<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    ),
    "style sheet of the document": svg(before=b'<?xml-stylesheet href="x.xsl"?>'),
    "page that calls itself a drawing": b"<html><body>" + SCRIPT + b"</body></html>",
    "other space": b'<svg xmlns="http://www.w3.org/1999/xhtml"/>',
    "no space": b"<svg/>",
    "unfinished": svg()[:-3],
    "two documents": svg() + svg(),
    "drawing with a tail": svg() + SCRIPT,
    "utf-7": b'<?xml version="1.0" encoding="utf-7"?>' + svg(),
    "mask": svg(b'<mask id="a"/><g mask="url(#a)"/>'),
    "mask by style": svg(b'<g style="fill:red; Mask : url(#a)"/>'),
    "filter by style": svg(b'<g style="filter:blur(9px)"/>'),
    "dashes": svg(b'<path stroke-dasharray=".001" d="M0 0H9"/>'),
    "dashes by style": svg(b'<path style="Stroke-Dasharray:.001" d="M0 0H9"/>'),
    "clip within a clip": svg(b'<clipPath id="a"><g clip-path="url(#a)"/></clipPath>'),
    "clip of a clip": svg(b'<clipPath id="a" style="CLIP-PATH:url(#a)"/>'),
    "many clips": svg(b'<g clip-path="url(#a)"/>' * 21),
    "many elements": svg(b"<g/>" * 500),
    "deep": svg(b"<g>" * 16 + b"</g>" * 16),
    "long path": svg(b'<path d="M0 0' + b"h1" * 10_000 + b'"/>'),
    "long path of spaces and letters": svg(b'<path d="' + b"a" * 90_000 + b'"/>'),
    "gif": b"GIF89a" + SCRIPT,
    "jpeg": b"\xff\xd8\xff\xe0",
    "page": b"<!doctype html>" + SCRIPT,
    "words": b"logo",
    "nothing": b"",
    "png by name only": b"\x89PNG\r\n\x1a\n" + SCRIPT,
    "png without a picture": b"\x89PNG\r\n\x1a\n" + png()[8:33] + chunk(b"IEND"),
    "png with a wrong sum": png()[:-20] + b"\0" + png()[-19:],
    "png cut short": png()[:-4],
    "wide png": png(2001, 1),
    "png of nothing": png(0, 2),
    "huge": png(2, 2, chunk(b"tEXt", b"x" * 100 * 1024)),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_it_refuses(name: str) -> None:
    with pytest.raises(NoLogo, match=r"\. .*|\.$"):
        checked(ATTACKS[name])


def test_it_takes_a_drawing_as_it_is() -> None:
    drawing = svg(
        b'<title>Logo</title><defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/>'
        b'</linearGradient></defs><path style="fill:url(#a)" d="M0 0"/>',
        attributes=b'viewBox="0 0 9 9" role="img"',
        before=b'<?xml version="1.0" encoding="UTF-8"?>\n<!-- by hand -->',
    )
    assert checked(drawing) == (logos.SVG, drawing)


def test_it_takes_what_drawing_programs_write() -> None:
    drawing = svg(
        b'<g clip-path="url(#b)"><path d="M0 0h9v9z" style="fill:#fff;stroke-dasharray:none;'
        b"fill-rule:evenodd;font-size:12px;-inkscape-stroke:none;paint-order:stroke;"
        b'stroke-linejoin:round"/></g><defs><clipPath id="b"><rect width="9" height="9"/>'
        b"</clipPath></defs>"
    )
    assert checked(drawing) == (logos.SVG, drawing)


@pytest.mark.parametrize("run", [b"a", b" ", b"url(", b": ", b"a:", b"url( ", b";", b"a;"])
def test_a_long_value_is_checked_in_linear_time(run: bytes) -> None:
    def seconds(length: int) -> float:
        value = (run * length)[:length].decode()
        times = []
        for _ in range(3):
            start = time.thread_time()
            with suppress(NoLogo):
                logos._check_attribute("style", value)
            times.append(time.thread_time() - start)
        return min(times)

    whole = seconds(90_000)
    assert whole < 0.1 or whole < 8 * seconds(22_500)


def test_it_keeps_of_a_png_what_draws_and_nothing_else() -> None:
    clean = png()
    full = png(2, 2, chunk(b"tEXt", b"Author\0Wilhelmina"), chunk(b"eXIf", SCRIPT)) + SCRIPT
    assert checked(full) == (logos.PNG, clean)


@given(data=st.binary(max_size=300), place=st.integers(0, 60))
def test_it_never_fails_otherwise(data: bytes, place: int) -> None:
    for whole in (data, png()[:place] + data, SVG[:place] + data + SVG[place:]):
        try:
            media_type, result = checked(whole)
        except NoLogo:
            continue
        assert media_type in (logos.PNG, logos.SVG)
        assert len(result) <= len(whole)


def test_it_says_how_large_it_is() -> None:
    with pytest.raises(NoLogo, match="101 KB"):
        checked(png(2, 2, chunk(b"tEXt", b"x" * 101 * 1024)))
    with pytest.raises(NoLogo, match="9,000 by 1"):
        checked(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">II5x", 9000, 1)) + png()[33:])


@pytest.mark.parametrize(
    ("data", "kind"), [(png(), "image/png"), (SVG, "image/svg+xml")], ids=["png", "svg"]
)
def test_it_serves_a_logo_so_that_it_runs_nothing(db: None, data: bytes, kind: str) -> None:
    put("name", name="City of Northport", logo=data)
    sha256 = selectors.current().logo
    html = Client().get("/help/").content.decode()
    assert f'<img class="app-header__logo" src="/own/logo/{sha256}/" alt="">' in html
    served = Client().get(f"/own/logo/{sha256}/")
    assert (served.content, served["Content-Type"]) == (data, kind)
    policy = served["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script" not in policy
    assert served["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in served["Cache-Control"]


@pytest.mark.parametrize("name", ["x", "0" * 64, "0" * 63, "..", "é"])
def test_it_serves_no_logo_that_there_is_not(db: None, name: str) -> None:
    assert Client().get(f"/own/logo/{name}/").status_code == 404


def test_a_bad_logo_stores_nothing_and_is_told_beside_other_mistakes(db: None) -> None:
    problems = refusal("name", {"name": "x" * 81}, logo=ATTACKS["script"])
    assert set(problems) == {"name", "logo"}
    assert not Logo.objects.exists()
    assert set(refusal("name", {"name": "City"}, logo=ATTACKS["script"])) == {"logo"}


def test_it_points_to_no_logo_that_was_never_checked(db: None) -> None:
    put("name", name="City", logo=png())
    logo = selectors.current().logo
    errors = refusal("name", {"name": "City", "logo": "0" * 64})
    assert "not there any more" in errors["logo"]
    put("name", name="City")
    assert selectors.current().logo == ""
    save("name", {"name": "City", "logo": logo})
    assert selectors.current().logo == logo
    assert Logo.objects.count() == 1
