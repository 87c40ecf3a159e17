"""From a gap to its repair: what is closed by itself, what comes next, and what is suggested."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from conversations.citations import version
from conversations.models import Feedback, Reason, Turn
from ieim.knowledge import selectors as knowledge
from ieim.people.roles import Role
from ieim.pipeline.message.risk import Risk
from ieim.studio.editor.addresses import edit_url
from ieim.studio.gaps import collecting, selectors
from ieim.studio.models import (
    ExampleQuestion,
    Gap,
    GapAction,
    GapGroup,
    Proposal,
    RiskExample,
)
from review.models import Action, Decision, ReviewItem
from review.states import ReviewState
from tests.fixtures import VISA
from tests.review.people import browser, person
from tests.studio.gaps.gapping import (
    AGENCY,
    AWAY,
    OUTSIDE,
    SERVICE,
    collected,
    group,
    rated,
    turn,
)
from tests.studio.gaps.test_pages import EXTEND, HOME, page, press
from tests.studio.trying.trying import proposed

EARLIER = 0
"""A release before the one that is current."""
FAILING = "Visa marimba?"

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def editor() -> Client:
    return browser(person("edith", Role.EDITOR))


def in_group_of(first: Turn, second: Turn) -> GapGroup:
    """Return the group of two questions, the second of which the search does not answer."""
    collected(first, second)
    group = Gap.objects.get(turn=first).group
    Gap.objects.filter(turn=second).update(group=group)
    return group


def states(pk: int) -> list[str]:
    return [name for name, (_, is_in) in selectors.STATES.items() if _is_in(pk, is_in)]


def _is_in(pk: int, condition: Any) -> bool:
    return GapGroup.objects.filter(condition, pk=pk).exists()


def test_what_the_release_repairs_closes_itself_until_it_fails_again(editor: Client) -> None:
    collected(turn(state="needs_review", release_number=EARLIER))
    stored = GapGroup.objects.get()
    assert states(stored.pk) == ["repaired"]
    assert VISA not in page(editor)
    assert "closed by itself" in page(editor, "?state=repaired")
    collected(turn(AWAY, state="needs_review"))
    assert states(stored.pk) == [""]
    assert VISA in page(editor)


def test_the_same_answer_again_repairs_nothing() -> None:
    release = knowledge.current_release()
    assert release is not None
    same = version(release, AGENCY, SERVICE)
    useless = rated(release_number=EARLIER, sha256=same)
    changed = rated(release_number=EARLIER)
    collected(useless, changed)
    repaired = dict(Gap.objects.values_list("turn", "is_repaired"))
    assert repaired == {useless.pk: False, changed.pk: True}


def test_it_leads_on_after_an_action(editor: Client) -> None:
    stored = group()
    collected(turn(OUTSIDE, state="needs_review"))
    other = GapGroup.objects.exclude(pk=stored.pk).get()
    assert "What comes next" not in page(editor, f"{stored.pk}/")
    press(editor, stored.pk, "example")
    html = page(editor, f"{stored.pk}/")
    working = Proposal.objects.get()
    assert "Citizens do not have it before it is published." in html
    assert f'href="{HOME}{other.pk}/">Next gap' in html
    assert f'href="/knowledge/try/?gap={stored.pk}&amp;set={working.pk}"' in html
    note = "Questions that ended badly are answered."
    assert f'name="text" value="{note}"' in html
    assert f'action="/knowledge/proposals/{working.pk}/propose/"' in html


def test_what_was_of_no_use_is_named_and_never_preselected(editor: Client) -> None:
    useless = rated(
        title="Extend it", lead="Bring the form.", paragraphs=[], sections=[], sources=[]
    )
    Feedback.objects.create(
        reply=useless.reply, reason=Reason.WRONG, text="The fee is old.", at=timezone.now()
    )
    collected(useless)
    html = page(editor, f"{GapGroup.objects.get().pk}/")
    assert f'value="{EXTEND}"' in html
    assert "checked" not in html
    assert "This answer was of no use" in html
    assert f'href="{edit_url("services", [AGENCY, SERVICE])}"' in html
    for text in ("The answer that was given: It is not right", "The fee is old.", "Bring the"):
        assert text in html


def test_nothing_is_preselected_unless_the_ranking_is_sure(editor: Client) -> None:
    collected(turn(FAILING, state="needs_review"))
    html = page(editor, f"{GapGroup.objects.get().pk}/")
    assert 'name="service"' in html
    assert "checked" not in html


def test_services_have_their_names_in_both_languages_and_are_found_by_both(
    editor: Client,
) -> None:
    collected(turn(state="needs_review", language="fr"))
    stored = GapGroup.objects.get()
    french = "Prolonger un visa de touriste"
    html = page(editor, f"{stored.pk}/")
    assert "Extend a tourist visa" in html
    assert f"({french})" in html
    for words in ("prolonger+touriste", "extend+tourist"):
        html = page(editor, f"{stored.pk}/?q={words}")
        assert f'value="{EXTEND}"' in html
        assert "checked" not in html


def test_the_wording_that_fails_is_in_the_box(editor: Client) -> None:
    stored = in_group_of(turn(state="needs_review"), turn(FAILING, state="needs_review"))
    assert f">\n{FAILING}</textarea>" in page(editor, f"{stored.pk}/")


def test_a_group_stays_while_a_wording_would_still_fail(editor: Client) -> None:
    stored = in_group_of(turn(state="needs_review"), turn(FAILING, state="needs_review"))
    press(editor, stored.pk, "example")
    assert states(stored.pk) == [""]
    assert "would still not be answered" in page(editor, f"{stored.pk}/")
    press(editor, stored.pk, "example", text=FAILING)
    assert states(stored.pk) == ["handled"]


def test_a_correction_carries_the_question(editor: Client) -> None:
    stored = group()
    address = press(editor, stored.pk, "correction")
    response = editor.get(address)
    form = response.context["form"]
    assert f"en: {VISA}" in response.content.decode()
    data = {
        bound.html_name: bound.field.prepare_value(bound.value()) or ""
        for bound in form
        if bound.name != "questions"
    }
    before = "\n".join(form["questions"].value())
    data |= {"initial-questions": before, "questions": f"{before}\nen: May I stay on?"}
    assert editor.post(address, data).status_code == 303
    assert ExampleQuestion.objects.filter(service=SERVICE, text="May I stay on?").exists()
    other = browser(person("otto", Role.PUBLISHER))
    assert f"en: {VISA}" not in other.get(address).content.decode()


def test_a_bad_ending_is_looked_at_within_seconds(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    queued: list[tuple[str, Any]] = []
    monkeypatch.setattr(
        collecting, "queue_after_commit", lambda task, **how: queued.append((task, how))
    )
    with django_capture_on_commit_callbacks(execute=True):
        rated(useful=True)
    assert queued == []
    with django_capture_on_commit_callbacks(execute=True):
        rated()
        rated()
    assert queued == [(collecting.COLLECT, {"countdown": collecting.SOON})]
    cache.clear()
    with django_capture_on_commit_callbacks(execute=True):
        ReviewItem.objects.create(turn=turn(), stage="reply", due_at=timezone.now())
    assert len(queued) == 2


def test_the_list_says_when_it_was_last_looked_at(editor: Client) -> None:
    assert "Last looked for" not in page(editor)
    collected()
    assert "Last looked for" in page(editor)


def flagged(state: ReviewState) -> Turn:
    """Insert a question with a sign of danger, with its item."""
    stored = turn(state="needs_review", risks=[Risk("self_harm", 0, 1, "hint").as_dict()])
    item = ReviewItem.objects.create(
        turn=stored, stage="reply", state=state.value, due_at=timezone.now()
    )
    Decision.objects.create(
        item=item, actor=person("carla", Role.CASEWORKER), action=Action.WRITE, reason="No danger"
    )
    return stored


def test_a_sign_of_danger_is_read_once_a_person_has_decided() -> None:
    decided = flagged(ReviewState.DECIDED)
    assert collected(decided) == ["held"]
    ReviewItem.objects.create(turn=decided, stage="person", due_at=timezone.now())
    assert collected(decided) == [""]


def test_it_becomes_a_near_miss_in_one_press(editor: Client) -> None:
    collected(flagged(ReviewState.DECIDED))
    stored = GapGroup.objects.get()
    assert "add as a near miss" in page(editor, f"{stored.pk}/")
    press(editor, stored.pk, "near_miss", text="May I stay for three weeks more?")
    example = RiskExample.objects.get(text="May I stay for three weeks more?")
    assert (example.flag, example.kind, example.language) == ("self_harm", "near_miss", "en")
    one_agency = browser(person("otto", Role.EDITOR, AGENCY))
    html = press(one_agency, stored.pk, "near_miss", 422, text="Another one, please.")
    assert "You do not work for that agency." in html
    unflagged = GapGroup.objects.create(agency=AGENCY)
    Gap.objects.update(group=unflagged)
    Turn.objects.update(risks=[])
    assert "no sign of danger" in press(editor, unflagged.pk, "near_miss", 422)


def test_what_is_not_ours_is_closed_and_counted(editor: Client) -> None:
    stored = group()
    press(editor, stored.pk, "not_ours", service="")
    assert states(stored.pk) == ["not_ours"]
    assert GapAction.objects.get().kind == "not_ours"
    assert "1 question that ended badly is not ours." in page(editor, "services/")


def test_the_playground_has_the_question(editor: Client) -> None:
    stored = group()
    assert (
        f">\n{VISA}</textarea>" in editor.get(f"/knowledge/try/?gap={stored.pk}").content.decode()
    )
    press(editor, stored.pk, "example")
    working = Proposal.objects.get()
    html = editor.get(f"/knowledge/try/?set={working.pk}").content.decode()
    assert ">\nMay I stay three more weeks?</textarea>" in html
    publisher = browser(person("paul", Role.PUBLISHER))
    assert VISA not in publisher.get(f"/knowledge/try/?gap={stored.pk}").content.decode()


def test_a_publisher_tries_a_set_and_reads_names_not_codes() -> None:
    ExampleQuestion.objects.create(
        agency_id=AGENCY, service=SERVICE, language="tl", text="Puwede pa ba?"
    )
    proposal = proposed(person("edith", Role.EDITOR))
    publisher = browser(person("paul", Role.PUBLISHER))
    html = publisher.get(f"/knowledge/proposals/{proposal.pk}/").content.decode()
    assert f'href="/knowledge/try/?set={proposal.pk}"' in html
    assert "Extend a tourist visa</span> · Filipino" in html
    assert f"{SERVICE} tl" not in html
