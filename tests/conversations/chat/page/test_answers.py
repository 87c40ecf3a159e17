"""An answer on the page: its parts, and the cards of one over several agencies."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from conversations import selectors
from conversations.api.exporting import download
from conversations.api.serializers import ReplySerializer
from conversations.chat.reply_presenters import (
    CardView,
    FactView,
    ParagraphView,
    ReplyView,
    SourceView,
)
from conversations.chat.reply_views import USUAL, reply_view
from conversations.models import Reply, Turn
from conversations.record.replay import replay
from conversations.turns import services
from ieim.audit.verify import verify
from ieim.knowledge import selectors as knowledge
from ieim.llm.offline import OfflineModel
from ieim.pipeline.ports import ModelAnswer, ModelRequest, Span
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.stages.base import Inputs
from ieim.studio.evaluation.comparing import reply_parts
from review.models import ReviewItem
from tests.fixtures import VISA, Ask

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
    result = part(text)
    assert result.heading + result.label + result.text == text
    assert not (result.heading and result.label)


def test_only_answers_are_laid_out() -> None:
    changed = replace(ANSWER, kind="guidance", paragraphs=("Note: ask again.",))
    assert changed.parts == (ParagraphView("", "", "Note: ask again."),)


def test_the_live_page_and_the_finished_one_show_the_same() -> None:
    texts = ("Civil Registry: Move house. <b>Say</b> it.", "What you need: a & b", "Plain.")
    changed = replace(ANSWER, paragraphs=texts)
    pages = [
        render_to_string("conversations/reply/_reply.html", {"reply": reply, "partial": True})
        for reply in changed.growing()
    ]
    whole = render_to_string("conversations/reply/_reply.html", {"reply": changed})
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


PASSPORT = "I lost my passport. How do I get a new one?"
BABY = "We had a baby. How do we register the birth and claim child benefit?"
MOORING = "Where can I renew a fishing boat mooring?"
THIRD = f"{BABY} {MOORING}"
COST = FactView("What it costs", ("MRK 5.00",), name="fees")
PAPERS = FactView("What you need", ("A photo",), folded=True, name="requirements")


def view(turn: Turn) -> ReplyView:
    return reply_view(Reply.objects.get(turn=turn), turn)


def page(reply: ReplyView, *, partial: bool = False, chat: bool = False) -> str:
    context = {"reply": reply, "partial": partial, "chat": chat}
    return render_to_string("conversations/reply/_reply.html", context)


def test_the_page_and_rest_tell_the_same_cards(ask: Ask) -> None:
    turn = ask(BABY)
    result = view(turn)
    names = [(source.service, source.agency) for source in result.sources]
    assert sorted((card.title, card.agency) for card in result.cards) == sorted(names)
    assert len(names) == 2
    data = ReplySerializer(result).data
    html = unescape(page(result))
    for card, as_json in zip(result.cards, data["cards"], strict=True):
        assert as_json["title"] == card.title
        assert as_json["url"].startswith("https://")
        assert [fact["name"] for fact in as_json["facts"] if not fact["folded"]] == [
            *("applicability_summary", "requirements", "contact")
        ]
        assert [fact["items"] for fact in as_json["facts"]] == [list(f.items) for f in card.facts]
        assert as_json["lead"] == card.lead
        assert card.title in html
        assert card.lead in html


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No service is about the mooring: words alone do not tell."""

    def rank_beside(inputs: Inputs, part: Span, _about: object) -> Any:
        is_about = inputs.text[part.start : part.end] != MOORING
        return SimpleNamespace(by_meaning=True, probability=lambda _service: float(is_about))

    monkeypatch.setattr(Inputs, "rank_beside", rank_beside)


@pytest.mark.usefixtures("outside")
def test_replay_makes_the_same_cards_again(ask: Ask) -> None:
    turn = ask(THIRD)
    stored = Reply.objects.get(turn=turn).body
    assert len(stored["cards"]) == 2
    assert [THIRD[start:end] for start, end in stored["uncovered"]] == [MOORING]
    assert replay(turn).same


@pytest.mark.usefixtures("outside")
def test_a_part_that_nothing_covers_is_said_everywhere(ask: Ask) -> None:
    turn = ask(THIRD)
    part = MOORING
    result = view(turn)
    assert ReplySerializer(result).data["uncovered"] == [part]
    assert part in unescape(page(result))
    out = io.StringIO()
    call_command("ask", THIRD, stdout=out)
    first = turn.reply.body["cards"][0]["title"]
    saved = download(turn.session, "html").content.decode()
    for text in (out.getvalue(), unescape(saved)):
        assert text.index(f"Not answered here: {part}") < text.index(first)


def test_what_comes_next_is_asked_with_one_tap_in_the_citizens_language(ask: Ask) -> None:
    turn = ask("Comment déclarer la naissance de mon bébé ?")
    stored = replies.Reply.from_dict(Reply.objects.get(turn=turn).body)
    assert (stored.language, stored.title) == ("fr", stored.sources[0].service_name)
    result = view(turn)
    names = [service.service for service in result.next_services]
    assert names == [entry["service"] for entry in ReplySerializer(result).data["next_services"]]
    assert len(names) == 2
    html = page(result, chat=True)
    for name in names:
        assert f'form="personal-send" name="text" value="{name}"' in unescape(html)
    assert "Vous aurez peut-être aussi besoin de ceci" in html
    assert replay(turn).same


@pytest.mark.parametrize("text", ["How much does it cost to extend a tourist visa?", BABY])
def test_a_reply_that_passages_lead_is_the_same_when_it_is_replayed(ask: Ask, text: str) -> None:
    turn = ask(text)
    assert replay(turn).same
    stored = Reply.objects.get(turn=turn)
    for section in stored.body.get("cards", [stored.body])[0]["sections"]:
        section["items"] = [*section["items"], "It is free."]
    turn.reply.body = stored.body
    assert not replay(turn).same


def test_what_the_model_is_reminded_of_has_the_cards(ask: Ask) -> None:
    secret = services.new_secret()
    first, later = ask(BABY, secret=secret), ask("thank you", secret=secret)
    (item,) = [result for result in selectors.history(later) if result["role"] != "user"]
    assert (
        item["service"] == Reply.objects.get(turn=first).body["cards"][0]["source"]["service_key"]
    )
    assert Reply.objects.get(turn=first).body["cards"][0]["title"] in item["text"]


def test_an_editor_sees_what_changes_in_a_card(ask: Ask) -> None:
    result = replies.Reply.from_dict(Reply.objects.get(turn=ask(BABY)).body)
    headings = [heading for heading, text in reply_parts(result).items() if text]
    assert len(headings) == len(set(headings))
    assert f"{result.cards[1].title}: What it costs" in headings


def test_an_answer_that_was_stored_before_there_were_cards_is_shown_as_it_was(ask: Ask) -> None:
    turn = ask(BABY)
    stored = Reply.objects.get(turn=turn)
    stored.body = {name: value for name, value in stored.body.items() if name != "cards"}
    result = reply_view(stored, turn)
    assert result.cards == ()
    html = page(result)
    assert "answer__sources" in html
    assert "answer__card" not in html


def test_the_fact_that_was_asked_for_stands_first_and_the_others_are_folded() -> None:
    reply = ReplyView("service", "Visa", "", (), (COST, PAPERS), (), "", (), "model", True)
    assert (reply.requested_fact, reply.open, reply.folded) == (COST, (), (PAPERS,))
    html = page(reply, partial=True)
    assert html.index("MRK 5.00") < html.index("<details") < html.index("A photo")
    usual = replace(reply, lead="Fill in.")
    assert (usual.requested_fact, usual.open) == (None, (COST,))


def test_a_citizens_words_and_a_cards_are_only_ever_text() -> None:
    source = SourceView("<b>Office</b>", "<i>Service</i>", "")
    card = CardView("<i>Service</i>", "<u>Go</u>", (COST,), source)
    reply = ReplyView(
        "answer", "", "", (), (), (source,), "", (), "model", True, cards=(card,),
        uncovered=("<script>alert(1)</script>",),
    )  # fmt: skip
    html = page(reply)
    assert not any(tag in html for tag in ("<b>", "<i>", "<u>", "<script>"))


def test_what_is_not_answered_is_named_before_the_answer(ask: Ask) -> None:
    turn = ask(VISA)
    turn.reply.body = {**turn.reply.body, "uncovered": [[0, 6]], "unanswered": ["Harbour"]}
    reply = reply_view(turn.reply, turn)
    for part in (reply, next(iter(reply.growing()))):
        html = page(part)
        title = html.index(f">{reply.title}</h3>")
        assert html.index("Not answered here") < html.index("“Harbour” has nothing") < title
        assert f">{turn.text[:6]}</blockquote>" in html


def test_a_live_page_grows_card_by_card() -> None:
    source = SourceView("Office", "Service", "")
    cards = tuple(CardView(name, "", (), source) for name in ("One", "Two"))
    reply = ReplyView("answer", "", "", ("Text",), (), (), "", (), "model", True, cards=cards)
    assert [len(part.cards) for part in reply.growing()] == [0, 0, 1, 2]


def test_a_service_of_which_nothing_was_asked_opens_with_what_one_needs(ask: Ask) -> None:
    turn = ask(VISA)
    # As a model that names no field to open with leaves it.
    sections = [{**entry, "folded": False} for entry in turn.reply.body["sections"]]
    turn.reply.body = {**turn.reply.body, "lead": "Go.", "sections": sections}
    reply = reply_view(turn.reply, turn)
    assert [fact.name for fact in reply.open] == [
        section["field"] for section in sections if section["field"] in USUAL
    ]
    assert {"overview", "how_to_apply"} <= {fact.name for fact in reply.folded}
    assert f"Everything about this: <bdi>{reply.title}</bdi>" in page(reply)
    # Programs fold what the page does.
    facts = ReplySerializer(reply).data["facts"]
    assert {entry["name"] for entry in facts if not entry["folded"]} == {
        fact.name for fact in reply.open
    }


def test_where_no_service_fits_a_person_comes_first_and_agencies_are_folded_links(ask: Ask) -> None:
    turn = ask(VISA)
    turn.reply.body = replies.outside(knowledge.release(turn.release_number)).as_dict()
    reply = reply_view(turn.reply, turn)
    html = page(reply)
    assert len(" ".join(reply.paragraphs).split()) < 20
    person, agencies = html.index("Talk to a person"), html.index("<details")
    assert html.index(reply.title) < person < agencies
    assert '<a class="govuk-link" href="https://immigration.example' in html[agencies:]
    assert "Immigration" not in html[:agencies]
    (fact,) = ReplySerializer(reply).data["facts"]
    assert fact["folded"]


def test_a_card_that_stands_above_is_not_shown_again(ask: Ask) -> None:
    first, again, other = (ask(text, secret="s") for text in (VISA, VISA, PASSPORT))
    by_key = {turn.id: turn.reply for turn in selectors.chat_view(secret="s").turns}
    repeats = [bool(view and view.repeated) for view in by_key.values()]
    assert repeats == [False, True, False]
    assert [by_key[turn.pk] for turn in (first, again, other)] == [
        selectors.turn_view(turn.pk).reply for turn in (first, again, other)
    ]
    html = page(by_key[again.pk])  # type: ignore[arg-type]  # it has a reply
    assert "What to do first" not in html
    # Everything is there for who opens it, and where it is from.
    for fact in by_key[again.pk].facts:  # type: ignore[union-attr]  # likewise
        assert all(item in unescape(html) for item in fact.items if "+999" not in item)
    assert "Source" in html


def test_cards_of_several_agencies_are_not_shown_again_either(ask: Ask) -> None:
    ask(BABY, secret="s")
    ask(BABY, secret="s")
    first, second = (turn.reply for turn in selectors.chat_view(secret="s").turns)
    assert first
    assert second
    assert [len(card.open) for card in first.cards] == [3, 3]
    assert [len(card.open) for card in second.cards] == [1, 1]
    for card in second.cards:
        assert set(card.open) | set(card.folded) == set(card.facts)


def test_a_text_of_the_models_is_shown_to_nobody_and_one_that_says_nothing_is_a_fallback(
    ask: Ask,
) -> None:
    class Talkative(OfflineModel):
        name = "talkative"

        def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
            answer = super().complete(request, deadline=deadline)
            if request.contract != "multi_agency_service_answer_v1":
                return answer
            html = json.loads(answer.raw) | {"assistantReply": "Congratulations, you two!"}
            return replace(answer, raw=json.dumps(html))

    turn = ask(BABY, secret="s", model=Talkative())
    assert turn.state == "answered"
    reply = selectors.turn_view(turn.pk).reply
    assert reply
    assert len(reply.cards) == 2
    assert (reply.paragraphs, turn.reply.origin) == ((), "index")
    assert turn.stages.get(contract="multi_agency_service_answer_v1").status == "fallback"
    assert not ReviewItem.objects.filter(turn=turn).exists()
    html = page(reply)
    assert "Congratulations" not in html
    assert "Every word comes from the service list" in html
    assert replay(turn).same
    assert verify(turn.session_id).ok
