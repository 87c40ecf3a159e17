"""What is read of a web page, and what its headings say without a model."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.pipeline.evidence import locate
from ieim.studio.webpages.headings import entry_of
from ieim.studio.webpages.reading import MAX_TEXT, Unreadable, read

ADDRESS = "https://www.city.example/berths"
HTML = """<html lang="{language}"><head><title>Berths | City of Tarrow</title>
<script type="application/ld+json">{{"@type": "GovernmentService", "name": "Berth"}}</script></head>
<body><nav><a href="/">Home</a></nav><div class="cookie-banner">We use cookies.</div>
<main><h1>{title}</h1><p>You can stay in the harbour with your own boat for up to ten nights.</p>
<h2>{needs}</h2><ul><li>your boat’s papers</li><li>proof of <a href="/insurance">insurance</a></li>
</ul><h2>{fees}</h2><table><tr><th>Boat</th><th>A night</th></tr><tr><td>small</td><td>€45</td></tr>
</table><h2>{contact}</h2><p>Write to <a href="mailto:help@port.example">the harbour office</a>.</p>
</main><script>alert("no text")</script></body></html>"""
ENGLISH = {
    "language": "en",
    "title": "Book a berth",
    "needs": "What you need",
    "fees": "How much it costs",
    "contact": "Contact",
}


def page(**changes: str) -> bytes:
    return HTML.format(**{**ENGLISH, **changes}).encode()


def fields(body: bytes) -> dict[str, Any]:
    return {field["field"]: field["lines"] for field in entry_of(read(body, ADDRESS))["fields"]}


def test_it_reads_the_main_text_its_links_and_its_data() -> None:
    result = read(page(), ADDRESS)
    assert (result.title, result.language) == ("Book a berth", "en")
    assert "- proof of insurance\n" in result.text
    assert "- insurance: https://www.city.example/insurance" in result.text
    assert "- the harbour office: help@port.example" in result.text
    assert not {"cookies", "Home", "alert"} & set(result.text.replace(".", " ").split())
    assert result.data[0]["name"] == "Berth"


def test_it_reads_other_encodings() -> None:
    body = page(title="Liegeplätze", language="de").decode().replace("’", "'").replace("€", "EUR ")
    assert read(body.encode("latin-1"), ADDRESS).title == "Liegeplätze"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"%PDF-1.7 ...", "PDF"),
        (b"", "no web page"),
        (b"<html><body><script>1</script></body></html>", "no text of its own"),
        (b"<html><body><main><p>" + b"word " * (MAX_TEXT // 4) + b"</p></main>", "40,000"),
    ],
)
def test_what_cannot_be_read_is_said(body: bytes, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        read(body, ADDRESS)


def test_headings_fill_the_fields_that_they_mean() -> None:
    assert fields(page()) == {
        "name": ["Book a berth"],
        "overview": ["You can stay in the harbour with your own boat for up to ten nights."],
        "requirements": ["your boat’s papers", "proof of insurance"],
        "fees": ["Boat · A night\nsmall · €45"],
        "contact": ["Write to the harbour office."],
    }


@pytest.mark.parametrize(
    ("needs", "fees", "contact"),
    [
        ("Erforderliche Unterlagen", "Gebühren", "Zuständige Stelle"),
        ("Pièces à fournir", "Coût", "Où s’adresser ?"),
        ("Documentación", "Tasas", "Contacto"),
        ("所需材料", "收费标准", "联系我们"),
        ("المستندات المطلوبة", "الرسوم", "اتصل بنا"),
        ("Mga kailangan", "Magkano ang bayad", "Makipag-ugnayan"),
    ],
)
def test_headings_are_known_in_seven_languages(needs: str, fees: str, contact: str) -> None:
    body = page(needs=needs, fees=fees, contact=contact)
    assert {"requirements", "fees", "contact"} <= fields(body).keys()


def test_every_quote_stands_in_the_page() -> None:
    result = read(page(), ADDRESS)
    quotes = [quote for field in entry_of(result)["fields"] for quote in field["quotes"]]
    assert all(locate(f"{result.title}\n{result.text}", quote) for quote in quotes)


def test_a_page_without_such_headings_is_no_service() -> None:
    body = page(needs="News", fees="More news", contact="Weather")
    assert entry_of(read(body, ADDRESS))["kind"] == "neither"


def test_the_headings_may_be_the_administrations_own(settings: Any, tmp_path: Any) -> None:
    table = tmp_path / "headings.yaml"
    table.write_text("fees:\n  en: [more news]\n", encoding="utf-8")
    settings.IEIM_PAGE_HEADINGS = str(table)
    body = page(needs="News", fees="More news", contact="Weather")
    assert "fees" in fields(body)
