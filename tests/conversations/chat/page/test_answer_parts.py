"""How the paragraphs of an answer are laid out: its words stay as they are."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from conversations.chat.presenters import ParagraphView, ReplyView, SourceView

SOURCES = (SourceView("Civil Registry", "Move house", ""),)
ANSWER = ReplyView("answer", "", "", (), (), SOURCES, "", (), "model", True)


def part(text: str) -> ParagraphView:
    (only,) = replace(ANSWER, paragraphs=(text,)).parts
    return only


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("What it costs: Free: always.", ("", "What it costs:", " Free: always.")),
        ("Civil Registry: Move house. Say it.", ("Civil Registry: Move house.", "", " Say it.")),
        ("Civil Registry: Move house", ("Civil Registry: Move house", "", "")),
        ("Civil Registry: Move houses. It", ("", "Civil Registry:", " Move houses. It")),
        ("See https://a.example/ soon", ("", "", "See https://a.example/ soon")),
        (f"{'a' * 40}: b", ("", f"{'a' * 40}:", " b")),
        (f"{'a' * 41}: b", ("", "", f"{'a' * 41}: b")),
        (": b", ("", "", ": b")),
        ("One\ntwo: b", ("", "", "One\ntwo: b")),
    ],
)
def test_it_sets_apart_what_a_paragraph_begins_with(text: str, parts: tuple[str, str, str]) -> None:
    assert part(text) == ParagraphView(*parts)


@given(st.text() | st.text(alphabet="ab: .\n").map("Civil Registry: Move house".__add__))
def test_it_changes_no_word(text: str) -> None:
    shown = part(text)
    assert shown.heading + shown.label + shown.text == text
    assert not (shown.heading and shown.label)


def test_only_answers_are_laid_out() -> None:
    said = replace(ANSWER, kind="guidance", paragraphs=("Note: ask again.",))
    assert said.parts == (ParagraphView("", "", "Note: ask again."),)


def test_the_live_page_and_the_finished_one_show_the_same() -> None:
    texts = ("Civil Registry: Move house. <b>Say</b> it.", "What you need: a & b", "Plain.")
    said = replace(ANSWER, paragraphs=texts)
    pages = [
        render_to_string("conversations/reply/_reply.html", {"reply": reply, "partial": True})
        for reply in said.growing()
    ]
    whole = render_to_string("conversations/reply/_reply.html", {"reply": said})
    assert "<b>" not in whole
    assert '<strong class="answer__label">What you need:</strong> a &amp; b</p>' in whole
    assert [len(_laid_out(page)) for page in pages] == [0, 2, 3, 4]
    assert all(_laid_out(page) == _laid_out(whole)[: len(_laid_out(page))] for page in pages)
    assert unescape(re.sub("<[^>]*>", "", "".join(_laid_out(whole)))) == "".join(texts)


def test_the_sources_come_with_the_finished_page() -> None:
    pages = [
        render_to_string("conversations/reply/_reply.html", {"reply": reply, "partial": partial})
        for reply, partial in ((next(ANSWER.growing()), True), (ANSWER, False))
    ]
    assert ['class="answer__sources"' in page for page in pages] == [False, True]


def _laid_out(page: str) -> list[str]:
    return re.findall(
        r'<(?:h4 class="answer__part|p class="govuk-body answer__text).*?</(?:h4|p)>', page
    )
