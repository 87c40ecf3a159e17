"""What people and models wrote turns nothing around it: signs, isolated marks, escaped text."""

from __future__ import annotations

import re
from html import unescape

from django.template import engines
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from conversations.chat.reply_presenters import FactView, ReplyView, SegmentView
from conversations.templatetags.pages import shown, spelled
from conversations.turns import running
from ieim.pipeline.message.screen import BIDI_CONTROLS
from tests.conversations.chat.page.test_views import TEMPLATES, page, send, visitor

WORDS_OF_OTHERS = {
    "turn.text", "row.text", "row.excerpt", "row.rejected", "item.turn.text", "segment.text",
    "mark.name", "mark.quote", "hint.quote", "hint.words", "each.remark", "note.text",
    "line.text", "part.text", "part.label", "call.given", "call.said", "try.request",
    "try.refusal", "try.answer.before", "try.answer.after", "outcome.lead", "finding.path",
    "finding.message", "mention.note.text", "row.answer", "translation.text", "fault.text",
    "reading.remark", "sample.item.turn.text",
}  # fmt: skip
"""What templates call the words of citizens and models."""
SIGN = re.compile(r'<bdi class="sign" [^>]*>.*?</bdi>')
PRINTED = re.compile(r"(?:{{ |\w=)([^ }]+)")
"""What a tag prints: by itself, or as a part of a sentence that is translated."""
OVERRIDE = "\u202e"


def without_signs(html: str) -> str:
    return unescape(SIGN.sub("", html))


@given(st.text() | st.text("a<&>\"' \u202e\u2066\u2069\u200f\u061c"))
def test_it_shows_all_of_a_text_and_signs_for_what_nobody_sees(text: str) -> None:
    html = shown(text)
    assert not set(BIDI_CONTROLS) & set(html)
    assert len(SIGN.findall(html)) == sum(c in BIDI_CONTROLS for c in text)
    assert "<" not in SIGN.sub("", html)
    assert without_signs(html) == "".join(c for c in text if c not in BIDI_CONTROLS)


def test_a_sign_can_be_seen_and_heard() -> None:
    html = shown(f"pay {OVERRIDE}now")
    assert 'title="Right-to-left override (U+202E)"' in html
    assert '<span aria-hidden="true">RLO</span>' in html
    assert '<span class="govuk-visually-hidden"> [right-to-left override] </span>' in html


def test_every_template_knows_both_filters_and_escapes_still() -> None:
    template = engines["django"].from_string('<p title="{{ text|spelled }}">{{ text|shown }}</p>')
    html = template.render({"text": f'<b>"{OVERRIDE}'})
    assert html.startswith('<p title="&lt;b&gt;&quot;[RLO]">&lt;b&gt;&quot;<bdi class="sign"')
    assert spelled(f"a{OVERRIDE}") == "a[RLO]"


def test_every_template_shows_the_words_of_others_so() -> None:
    printed = [
        (path.name, expression)
        for path in TEMPLATES
        for tag in re.findall(r"{{ .+? }}|{% blocktranslate .+? %}", path.read_text("utf-8"))
        for expression in PRINTED.findall(tag)
        if expression.partition("|")[0] in WORDS_OF_OTHERS
    ]
    assert {expression.partition("|")[0] for _, expression in printed} == WORDS_OF_OTHERS
    shown_so = ("|shown", "|shown_reachable")
    assert [entry for entry in printed if not entry[1].endswith(shown_so)] == []


def rendered(reply: ReplyView) -> str:
    return render_to_string("conversations/reply/_reply.html", {"reply": reply})


def test_it_shows_signs_in_what_a_model_wrote() -> None:
    values = (f"First: {OVERRIDE}pay", "Then")
    html = rendered(
        ReplyView("answer", "", f"Go {OVERRIDE}", values, (), (), "", (), "model", False)
    )
    assert len(SIGN.findall(html)) == 2
    assert OVERRIDE not in html


def test_it_isolates_the_words_that_led_to_the_answer() -> None:
    marked = SegmentView(f"تأشيرة{OVERRIDE}", True)
    segments = (SegmentView("my ", False), marked)
    html = rendered(ReplyView("service", "", "", (), (), (), "", segments, "model", False))
    assert "<mark><bdi>تأشيرة<bdi" in html


def test_it_isolates_facts_out_of_the_message_and_leaves_the_administrations_words() -> None:
    quoted = FactView("From your message", (f"AB{OVERRIDE}12",), quoted=True)
    official = FactView("What you need", ("جواز\u200f (2)",))
    facts = (quoted, official)
    html = rendered(ReplyView("service", "", "", (), facts, (), "", (), "model", False))
    assert "<bdi>AB<bdi" in html
    assert "جواز\u200f (2)" in html


def test_it_shows_signs_in_the_citizens_own_message(published: None) -> None:
    client = visitor()
    turn = send(client, text=f"I want to extend my {OVERRIDE}tourist visa <b>")
    running.run_turn(turn_id=turn.pk)
    html = page(client.get("/"))
    message = html.split('class="message__text" dir="auto">')[1].split("</p>")[0]
    assert without_signs(message) == "I want to extend my tourist visa <b>"
    assert len(SIGN.findall(message)) == 1
    assert OVERRIDE not in html
