"""Notes for colleagues: mentions, the e-mail of one, and that no citizen ever sees a note."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.test import Client

from conversations.models import Turn
from conversations.turns import erasing
from ieim.audit.comparing import second_look
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.people import post
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from review import scope
from review.colleagues import selectors, services
from review.colleagues.models import Mention, Note
from review.colleagues.services import add_note
from review.models import Action, ReviewItem
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer, path_of

pytestmark = pytest.mark.usefixtures("published", "no_rates")
no_rates = integrating.no_rates
SECRET = "a"
WORDS = "She rang us about it @ben, and again on Friday"


@pytest.fixture
def eva(published: None) -> User:
    return person("eva", Role.CASEWORKER, "immigration")


@pytest.fixture
def ben(published: None) -> User:
    return person("ben", Role.CASEWORKER, "immigration")


@pytest.fixture
def item(published: None) -> ReviewItem:
    return desk.the_item(desk.ask(VISA, {"service_select_v1": desk.BAD}, secret=SECRET))


def page(item: ReviewItem, user: User) -> str:
    return desk.words(browser(user).get(f"/review/{item.pk}/").content.decode())


def test_a_mention_reaches_the_colleague_until_they_have_read_it(
    item: ReviewItem, eva: User, ben: User
) -> None:
    sent = browser(eva).post(f"/review/{item.pk}/notes/", {"text": WORDS})
    assert (sent.status_code, sent["Location"]) == (303, f"/review/{item.pk}/#notes")
    assert WORDS in page(item, ben)
    client = browser(ben)
    queue = desk.words(client.get("/review/").content.decode())
    assert "Mentions 1 new" in queue
    assert WORDS in desk.words(client.get("/review/mentions/").content.decode())
    opened = client.post("/review/mentions/", {"open": Mention.objects.get().pk})
    assert opened["Location"] == f"/review/{item.pk}/#notes"
    assert "new" not in desk.words(client.get("/review/").content.decode()).split("Mentions")[1][:9]
    assert selectors.unread(eva) == 0


def test_the_mentions_of_others_are_not_opened(item: ReviewItem, eva: User, ben: User) -> None:
    add_note(item_id=item.pk, actor=eva, text=WORDS)
    theirs = Mention.objects.get().pk
    assert browser(eva).post("/review/mentions/", {"open": theirs}).status_code == 404
    browser(eva).post("/review/mentions/", {"read": "all"})
    assert selectors.unread(ben) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Look, @ola", "Nobody of this name may see the item: @ola."),
        ("Look, @nobody.", "Nobody of this name may see the item: @nobody."),
        (" \n", "There is no text in the note yet."),
        ("x" * 2001, "The note is 2,001 characters long"),
        ("a\x00b", "a character that cannot be stored"),
        ("a\x1bb", "a character that cannot be stored"),
        ("a\u202eb", "a character that cannot be stored"),
    ],
)
def test_what_cannot_be_a_note_is_refused_with_a_sentence(
    item: ReviewItem, eva: User, text: str, why: str
) -> None:
    person("ola", Role.CASEWORKER, "tax")
    client = browser(eva)
    client.post(f"/review/{item.pk}/notes/", {"text": text})
    answer = client.get(f"/review/{item.pk}/").content.decode()
    assert why in desk.words(answer)
    assert text.strip("\x00 \n")[:3] in answer  # what was typed is there again
    refused = Reviewer(eva).post(f"{path_of(item)}notes/", {"text": text})
    assert refused.status_code in (400, 422)
    assert not Note.objects.exists()


def test_an_address_in_a_note_is_no_mention(item: ReviewItem, eva: User, ben: User) -> None:
    add_note(item_id=item.pk, actor=eva, text="Write to ben@ben.example. Thanks, (@Ben).")
    assert [mention.user for mention in Mention.objects.all()] == [ben]


def test_who_may_be_mentioned_is_who_sees_the_item(item: ReviewItem) -> None:
    for number, role in enumerate(Role):
        for agency in ("immigration", "tax", "*"):
            person(f"{agency.strip('*') or 'all'}-{number}", role, agency)
    AgencyScope.objects.filter(user=person("none", Role.CASEWORKER)).delete()
    User.objects.create_superuser("root")
    person("gone", Role.CASEWORKER, "immigration")
    User.objects.filter(username="gone").update(is_active=False)
    for agencies, rank in ((item.agencies, 1440), (item.agencies, 0), (None, 1440)):
        ReviewItem.objects.filter(pk=item.pk).update(agencies=agencies, rank=rank)
        current = ReviewItem.objects.get(pk=item.pk)
        seeing = {
            user
            for user in User.objects.filter(is_active=True)
            if user.has_perm(scope.SEE) and scope.sees(user, current)
        }
        assert seeing
        assert set(scope.viewers(current)) == seeing


def test_others_neither_read_nor_write_notes(item: ReviewItem, eva: User, ben: User) -> None:
    add_note(item_id=item.pk, actor=eva, text=WORDS)
    stranger, auditor = person("ola", Role.CASEWORKER, "tax"), person("ada", Role.AUDITOR)
    address = f"{path_of(item)}notes/"
    assert Reviewer(stranger).get(address).status_code == 404
    assert browser(stranger).post(f"/review/{item.pk}/notes/", {"text": "x"}).status_code == 404
    assert WORDS in page(item, auditor)
    assert Reviewer(auditor).post(address, {"text": "x"}).status_code == 403
    with pytest.raises(PermissionDenied):
        add_note(item_id=item.pk, actor=auditor, text="x")
    # Who is moved to another agency loses the mention with the item.
    AgencyScope.objects.filter(user=ben).update(agency="tax")
    assert selectors.unread(ben) == 0


def test_a_note_of_an_item_that_one_does_not_see_stays_with_those_who_do(
    item: ReviewItem, eva: User
) -> None:
    other = desk.the_item(desk.ask(VISA, {"service_select_v1": desk.BAD}, secret=SECRET))
    ReviewItem.objects.filter(pk=other.pk).update(agencies=scope.agency_set(["tax"]))
    add_note(item_id=other.pk, actor=person("ola", Role.CASEWORKER, "tax"), text="for tax alone")
    assert "for tax alone" not in page(item, eva)
    assert "for tax alone" not in str(Reviewer(eva).get(f"{path_of(item)}notes/").json())
    assert "for tax alone" not in str(Reviewer(eva).get(f"{path_of(item)}timeline/").json())
    assert "for tax alone" in page(item, person("all"))


def test_no_citizen_sees_a_note_whatever_way_they_look() -> None:
    citizen, eva = Integrator(), person("eva")
    turn = Turn.objects.get(pk=citizen.ask(VISA).json()["id"])
    item = desk.the_item(desk.run(turn, desk.Scripted({"service_select_v1": desk.BAD})))
    add_note(item_id=item.pk, actor=eva, text="ZEBRA, for us alone")
    desk.taken_and_decided(item, eva, Action.WRITE, text="Please come.", sources=[])
    page = Client()
    page.post(citizen.link)
    export = f"{citizen.path}export/"
    program = ("", f"/api/v1/turns/{turn.pk}/", export, f"{export}html/")
    own = ("/", f"{citizen.link}conversation.json", f"{citizen.link}conversation.html")
    answers = [*map(citizen.get, program), *map(page.get, own)]
    texts = [answer.content.decode() for answer in answers]
    assert [number for number, text in enumerate(texts) if "Please come." not in text] == []
    assert [number for number, text in enumerate(texts) if "ZEBRA" in text] == []


def test_it_is_erased_with_the_conversation_and_its_words_are_in_no_event(
    item: ReviewItem, eva: User, ben: User
) -> None:
    add_note(item_id=item.pk, actor=eva, text=WORDS)
    session = item.turn.session_id
    assert verify(session).ok
    assert second_look(session) == []
    payloads = AuditEvent.objects.filter(chain=session).values_list("payload", flat=True)
    assert not [payload for payload in payloads if "rang us" in payload]
    assert AuditEvent.objects.filter(chain=session, kind="review.noted").exists()
    erasing.erase_session(session_id=session)
    assert not Note.objects.exists()
    assert not Mention.objects.exists()
    assert verify(session).ok
    assert second_look(session) == []


def test_a_note_that_was_changed_in_the_database_is_found(item: ReviewItem, eva: User) -> None:
    add_note(item_id=item.pk, actor=eva, text="as it was")
    Note.objects.update(text="as it never was")
    assert second_look(item.turn.session_id) != []


def test_who_wants_a_mail_gets_one_without_a_word_of_anybody(
    item: ReviewItem,
    eva: User,
    ben: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, "HOST": "mail.example.org"})
    monkeypatch.setattr(post, "hand_over", sent.append)
    User.objects.filter(pk=ben.pk).update(email="ben@example.org")

    def write() -> None:
        with django_capture_on_commit_callbacks(execute=True):
            add_note(item_id=item.pk, actor=eva, text=WORDS)

    write()
    assert sent == []
    browser(ben).post("/review/mentions/", {"mail": "yes"})
    write()
    (mail,) = sent
    assert mail.to == ["ben@example.org"]
    assert item.turn.session.reference in mail.body
    assert f"/review/{item.pk}/#notes" in mail.body
    assert "rang us" not in mail.body
    assert VISA not in mail.body
    browser(ben).post("/review/mentions/", {"mail": "no"})
    write()
    assert len(sent) == 1


def test_programs_write_and_read_them(item: ReviewItem, eva: User, ben: User) -> None:
    stored = Reviewer(eva).post(f"{path_of(item)}notes/", {"text": WORDS})
    assert stored.status_code == 201
    assert stored.json()["by"] == "eva"
    program = Reviewer(ben)
    (mention,) = program.get("/api/v1/review/mentions/").json()
    assert (mention["note"]["text"], mention["read_at"]) == (WORDS, None)
    assert program.post("/api/v1/review/mentions/").status_code == 204
    assert selectors.unread(ben) == 0
    assert services.MAX_NOTE == 2000
