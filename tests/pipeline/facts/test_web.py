"""URLs and e-mail addresses are found in any disguise, and compare as browsers would."""

from __future__ import annotations

import pytest

from ieim.pipeline.facts import facts, matches, url_value


def values(text: str) -> list[tuple[str, str]]:
    return [(fact.kind, fact.value) for fact in facts(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("see https://www.Example.gov/Visa/Extend/ now", "example.gov/Visa/Extend"),
        ("see http://example.gov.", "example.gov"),
        ("see www.example.gov, please", "example.gov"),
        ("(example.gov.xx/path)", "example.gov.xx/path"),
        ("EXAMPLE.GOV", "example.gov"),
        ("**https://a.gov/b**", "a.gov/b"),
        ("<https://a.gov/b>", "a.gov/b"),
        ("_www.a.gov_", "a.gov"),
        ("the form (https://a.gov/b_(c)).", "a.gov/b_(c)"),
        ("https://a.gov/b?c=1#d", "a.gov/b?c=1#d"),
        ("[apply](https://a.gov/b).Then wait", "a.gov/b"),
        ("[apply](/visas/extend/)", "/visas/extend"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("java\u200bscript: alert(1)", "javascript: alert(1)"),
        ("data:text/html,hello", "data:text/html,hello"),
        ("ftp://a.gov/b", "ftp://a.gov/b"),
        ("https://a.gov@evil.org/", "a.gov@evil.org"),
        ("ｗｗｗ．ｅｘａｍｐｌｅ．ｇｏｖ", "example.gov"),
        ("exam\u00adple\u200b.gov", "example.gov"),
        ("example。gov", "example.gov"),
        ("wait...example.gov", "example.gov"),
        ("ask e.g.example.gov", "example.gov"),
        ("go to example.gov.Then wait", "example.gov"),
        ("gov—example.gov", "example.gov"),
        ("ID.me", "id.me"),
        ("scam.shop", "scam.shop"),
    ],
)
def test_it_finds_urls(text: str, value: str) -> None:
    assert values(text) == [("url", value)]


@pytest.mark.parametrize(
    "text",
    [
        "Pay the fee.It is due.",
        "e.g. a form, i.e. this one, e.g.passport",
        "at 9 a.m. in the U.S. today",
        "upload photo.jpg or form.pdf",
        "note: this and/or that",
        "section 3.2.1.4",
        "Node no. 5",
        "see [the note]",
    ],
)
def test_it_finds_no_url_in_prose(text: str) -> None:
    assert values(text) == []


def test_it_tells_lookalike_hosts_apart() -> None:
    (cyrillic,) = facts("exаmple.gov")
    (accented,) = facts("example.gov/é")
    assert not matches(cyrillic, facts("https://example.gov"))
    assert not matches(accented, facts("https://example.gov/e"))
    assert matches(accented, facts("https://example.gov/e\u0301"))


def test_it_finds_every_link_of_a_markdown_link_whose_words_are_one() -> None:
    assert values("[https://a.gov/b](https://evil.org/b)") == [
        ("url", "a.gov/b"),
        ("url", "evil.org/b"),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://www.a.gov/b/", "a.gov/b"),
        ("HTTP://A.GOV", "//a.gov/"),
        ("a.gov", "a.gov."),
    ],
)
def test_it_gives_two_spellings_of_a_url_one_value(one: str, other: str) -> None:
    assert url_value(one) == url_value(other)


def test_it_keeps_the_case_of_a_path_and_other_schemes() -> None:
    assert url_value("a.gov/B") != url_value("a.gov/b")
    assert url_value("FTP://a.gov") == "ftp://a.gov"


@pytest.mark.parametrize(
    "text",
    ["Write to Visit@Example.gov.", "mailto:visit@example.gov", "[us](mailto:visit@example.gov)"],
)
def test_it_finds_email_addresses(text: str) -> None:
    assert values(text) == [("email", "visit@example.gov")]
