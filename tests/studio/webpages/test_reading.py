"""What is read of a web page, and what its headings say without a model."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ieim.pipeline.evidence import locate
from ieim.studio.webpages.drafting import by_data
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


def test_it_reads_microdata() -> None:
    offer = "itemprop=offers itemscope itemtype='https://schema.org/Offer'"
    price = "<b itemprop=price>80</b> <b itemprop=priceCurrency>EUR</b>"
    about = "<main itemscope itemtype='https://schema.org/GovernmentService {}'>"
    name = f"<p itemprop=name>Berth</p><p {offer}>{price}</p><p {offer}>{price}</p>"
    body = (
        page().decode().replace("<main>", about + name).replace(' type="application/ld+json"', "")
    )
    for other in ("", "https://schema.org/Service"):
        lines, _ = by_data(read(body.replace("{}", other).encode(), ADDRESS), "passports")
        assert lines["fees"] == ["80 EUR", "80 EUR"]


def test_it_reads_each_kind_of_value_in_microdata() -> None:
    body = """<main itemscope itemtype="https://schema.org/GovernmentService"><h1>Berths</h1>
<p itemprop="description">For boats.<br>Also for <b itemprop="audience">guests</b>.</p>
<a itemprop="url" href="/book">Book</a> <a itemprop="sameAs" href="http://[">Broken</a>
<time itemprop="validFrom" datetime="2026-05-01">May</time> <meta itemprop="telephone" content="1">
<div itemprop="provider" itemscope><p itemprop="name">The harbour</p></div></main>"""
    (service,) = read(body.encode(), ADDRESS).data
    assert service == {
        "@context": "https://schema.org",
        "@type": "GovernmentService",
        "description": ["For boats.\nAlso for guests."],
        "audience": ["guests"],
        "url": ["https://www.city.example/book"],
        "sameAs": ["http://["],
        "validFrom": ["2026-05-01"],
        "telephone": ["1"],
        "provider": [{"name": ["The harbour"]}],
    }


def test_data_that_is_broken_or_without_end_is_left_out() -> None:
    broken = ["{", "[" * 100_000, '{"name": "read"}']
    scripts = "".join(f'<script type="application/ld+json">{text}</script>' for text in broken)
    nested = '<b itemprop="name">' * 200 + "Berth" + "</b>" * 200
    text = f"<main itemscope><p>Boats stay for ten nights.</p><p>{nested}</p></main>"
    body = f"<html><head>{scripts}</head><body>{text}</body></html>"
    first, second = read(body.encode(), ADDRESS).data
    assert (first["name"], second["name"]) == ("read", ["Berth"] * 3)


def test_it_reads_words_in_a_box_of_their_own() -> None:
    body = """<html lang="en"><body><main><h1>Berths</h1><div>For your <b>own</b> boat.</div>
<h2>How to apply</h2><ol><li><h3>Choose</h3><p>Use the map.</p></li></ol><h2>Deadlines</h2>
<p>None, as long as there are berths and the office is open.</p></main></body></html>"""
    assert "For your own boat." in read(body.encode(), ADDRESS).text


def test_it_reads_other_encodings() -> None:
    body = page(title="Liegeplätze", language="de").decode().replace("’", "'").replace("€", "EUR ")
    assert read(body.encode("latin-1"), ADDRESS).title == "Liegeplätze"
    # What declares nothing, or ISO 8859-1, is Windows-1252 to every browser.
    for meta in ("", '<meta charset="iso-8859-1">'):
        text = "<main><h1>L’œuvre à déposer</h1><p>Le coût est de 80 euros, naïveté comprise.</p>"
        french = f"<html><head>{meta}<title>Ville</title></head><body>{text}</main></body></html>"
        assert read(french.encode("cp1252"), ADDRESS).title == "L’œuvre à déposer"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"%PDF-1.7 ...", "PDF"),
        (b"", "no web page"),
        (b"<html><body><script>1</script></body></html>", "no text of its own"),
        (b"<html><body><main><p>" + b"word " * (MAX_TEXT // 4) + b"</p></main>", "40,000"),
        (b"<html><body><main>" + b"<div><p>a</p></div>" * 10_000 + b"</main>", "20,000 elements"),
    ],
)
def test_what_cannot_be_read_is_said(body: bytes, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        read(body, ADDRESS)


@pytest.mark.parametrize("part", ["[](&lt;", "[a\\"])
def test_a_page_of_links_that_never_end_is_read_in_time(part: str) -> None:
    body = page().decode().replace("</main>", f"<p>{part * 25_000}</p></main>")
    before = time.perf_counter()
    with pytest.raises(Unreadable, match="40,000"):
        read(body.encode(), ADDRESS)
    assert time.perf_counter() - before < 5, "seconds"


def test_headings_fill_the_fields_that_they_mean() -> None:
    assert fields(page()) == {
        "name": ["Book a berth"],
        "overview": ["You can stay in the harbour with your own boat for up to ten nights."],
        "requirements": ["your boat’s papers", "proof of insurance"],
        "fees": ["Boat · A night\nsmall · €45"],
        "contact": ["Write to the harbour office.\nthe harbour office: help@port.example"],
    }


@pytest.mark.parametrize(
    ("needs", "fees", "contact"),
    [
        ("What you need", "How much does a berth cost?", "Contact us"),
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


SECTIONS = """<html lang="en"><body><main><h1>Berths</h1><div>For your own boat.</div>
<h2>How to apply</h2><ol><li><h3>Choose a berth</h3><p>Use the map.</p></li></ol>
<h3>By post</h3><p>Write to the harbour.</p><h2>Deadlines</h2><p>None.</p>
<h2>What else</h2><h3>Swimming</h3><p>Not here.</p>
<h2>How long it takes</h2><p>Ten days.</p>{end}</main></body></html>"""


def test_a_field_has_all_sections_that_mean_it_with_what_is_under_them() -> None:
    office = "<h3>Harbour</h3><ul><li><a href='#'>1 Quay Street</a></li></ul>"
    read_fields = fields(SECTIONS.format(end=f"<h2>Contact</h2>{office}").encode())
    assert read_fields["how_to_apply"] == [
        "Choose a berth Use the map.",
        "By post",
        "Write to the harbour.",
    ]
    assert read_fields["processing_time"] == ["None.\nTen days."]
    assert read_fields["overview"] == ["For your own boat."]
    assert read_fields["contact"] == ["Harbour\n1 Quay Street"]


def test_a_step_that_is_a_link_has_its_address() -> None:
    links = ["<a href=/online><b>Apply online</b></a>", "<a href=/form>Get the form</a>."]
    links += ["See <a href=/map>the map</a>.", "<a href=/1>Ask</a>", "<a href=/2>Ask</a>"]
    steps = f"<h2>How to apply</h2><ol>{''.join(f'<li>{link}</li>' for link in links)}</ol>"
    steps += "<p><a href=/office>At the office</a></p>"
    contents = "<ul><li><a href=#needs>Needs</a></li></ul>"
    body = page().decode().replace("<h2>Contact", f"{contents}{steps}<h2>Contact")
    read_fields = fields(body.encode())
    assert read_fields["how_to_apply"] == [
        "Apply online: https://www.city.example/online",
        "Get the form: https://www.city.example/form",
        "See the map.",
        "Ask",
        "Ask",
        "At the office: https://www.city.example/office",
    ]
    assert read_fields["fees"] == ["Boat · A night\nsmall · €45"]


def test_without_a_heading_contact_is_how_somebody_is_reached() -> None:
    end = "<h2>More</h2><p>Boats of over 30 metres: call +999 1 555 0100.</p>"
    read_fields = fields(SECTIONS.format(end=end).encode())
    assert read_fields["contact"] == ["Boats of over 30 metres: call +999 1 555 0100."]


def test_a_list_of_services_is_no_service() -> None:
    links = "".join(f"<h2>Apply for {what}</h2><p>Online.</p>" for what in ("a", "b", "c"))
    body = f"<html lang='en'><body><main><h1>All</h1><p>Choose.</p>{links}</main></body></html>"
    assert entry_of(read(body.encode(), ADDRESS))["kind"] == "neither"


def test_every_quote_stands_in_the_page() -> None:
    result = read(page(), ADDRESS)
    quotes = [quote for field in entry_of(result)["fields"] for quote in field["quotes"]]
    assert all(locate(f"{result.title}\n{result.text}", quote) for quote in quotes)


def test_a_page_without_such_headings_is_no_service() -> None:
    body = page(needs="News", fees="More news", contact="Weather")
    assert entry_of(read(body, ADDRESS))["kind"] == "neither"


def test_a_heading_with_nothing_under_it_makes_no_service() -> None:
    sections = b"<p>Choose one.</p><h2>Fees</h2><h2>News</h2><p>None.</p>"
    body = b"<html lang='en'><body><main><h1>All</h1>" + sections + b"</main></body></html>"
    assert entry_of(read(body, ADDRESS))["kind"] == "neither"


def test_the_headings_may_be_the_administrations_own(settings: Any, tmp_path: Any) -> None:
    table = tmp_path / "headings.yaml"
    table.write_text("fees:\n  en: [more news]\n", encoding="utf-8")
    settings.IEIM_PAGE_HEADINGS = str(table)
    body = page(needs="News", fees="More news", contact="Weather")
    assert "fees" in fields(body)


def test_words_outside_of_any_paragraph_are_kept_in_their_place() -> None:
    box = (
        'You have <b>30 days</b>, <a href="/when">from when you move</a>.<ul><li>or less</li></ul>'
    )
    body = page().replace(b"<h2>What you need</h2>", f"<div>{box} Ask us.</div>".encode())
    text = read(body, ADDRESS).text
    assert "You have 30 days, from when you move.\n\n- or less\n\nAsk us." in text
