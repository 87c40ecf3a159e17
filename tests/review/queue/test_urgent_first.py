"""What is urgent comes first, and a crisis before everything: in the queue, next, and by REST."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from conversations.models import Session, Stage, Turn
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from review import claims, scope
from review.item.selectors import next_item
from review.models import CRISIS, NORMAL_RANK, Action, ReviewItem, SignOff
from review.queue import selectors
from review.queue.filters import ItemFilter
from review.services import open_item
from tests.audit.owner import triggers_lifted
from tests.fixtures import VISA
from tests.review import desk
from tests.review.conftest import make_turn
from tests.review.desk import BAD, the_item
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer, path_of

pytestmark = pytest.mark.usefixtures("published")

QUEUE = reverse("review:queue")
DANGER = f"{VISA}, if not I will kill myself"


@pytest.fixture
def eva(published: None) -> User:
    return person("eva", Role.CASEWORKER, name="Eva Maro")


def crisis(text: str = DANGER) -> ReviewItem:
    return the_item(desk.ask(text, {}), "reply")


def urgent(urgency: str) -> ReviewItem:
    """An item of a message that triage found to be so urgent."""
    turn = make_turn()
    result = {"urgency": {"label": urgency}}
    Stage.objects.create(turn=turn, contract="classify", order=9, status="passed", result=result)
    return open_item(turn_id=turn.pk, stage="reply", codes=["schema"])


def many(number: int) -> None:
    """Store open items of ordinary urgency that are overdue; by rows: the services take minutes."""
    long_ago = timezone.now() - timedelta(days=3)
    sessions, turns, items = [], [], []
    for n in range(number):
        key = uuid4().hex
        session = Session(reference=key[:12], secret_sha256=key * 2)
        turn = Turn(session=session, number=1, text="?", release_number=1, queued_at=long_ago)
        late = long_ago + timedelta(minutes=n)
        items.append(ReviewItem(turn=turn, stage="reply", reasons=["schema"], due_at=late))
        sessions.append(session)
        turns.append(turn)
    Session.objects.bulk_create(sessions)
    Turn.objects.bulk_create(turns)
    ReviewItem.objects.bulk_create(items)


def test_among_2000_items_emergencies_stand_first(eva: User) -> None:
    many(2000)
    first = [crisis(), urgent("emergency"), urgent("emergency"), urgent("high")]
    first.sort(key=lambda each: (each.rank, each.due_at, each.pk))
    assert first[0].rank == CRISIS
    results = [item.pk for item in first]

    matches = re.findall(r'id="row-([0-9a-f-]+)"', browser(eva).get(QUEUE).content.decode())
    assert matches[:4] == [str(pk) for pk in results]
    listed = Reviewer(eva).get().json()["items"]
    assert [item["id"] for item in listed[:4]] == [str(pk) for pk in results]
    assert [item["crisis"] for item in listed[:2]] == [True, False]
    after = ReviewItem.objects.filter(rank=NORMAL_RANK).earliest("due_at")
    for item in first:
        assert next_item(eva, but=[after.pk], filters=ItemFilter()) == item
        ReviewItem.objects.filter(pk=item.pk).delete()


def test_every_page_goes_on_where_the_last_one_ended(eva: User) -> None:
    many(60)
    first, last = [urgent("emergency"), urgent("high")], {urgent("low"), urgent("low")}
    listed = selectors.listing(eva, ItemFilter(), timezone.now())
    seen: list[ReviewItem] = []
    after = ""
    while True:
        page = selectors.page(listed, after=after, size=7)
        seen += page.items
        if not page.next:
            break
        after = page.next
    assert seen == list(ReviewItem.objects.order_by("rank", "due_at", "id"))
    assert (seen[:2], set(seen[-2:])) == (first, last)
    back = selectors.page(listed, before=page.previous, size=7)
    assert list(back.items) == seen[-len(page.items) - 7 : -len(page.items)]


def test_what_nobody_knows_the_urgency_of_counts_as_normal(published: None) -> None:
    unknown = open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])
    ranks = [urgent(entry).rank for entry in ("emergency", "high", "normal", "low")]
    assert ranks == sorted(set(ranks))
    assert ranks[0] > crisis().rank == CRISIS
    assert unknown.rank == ranks[2]


def test_next_keeps_the_filter_and_the_list(eva: User) -> None:
    urgent("emergency")
    visas = [the_item(desk.ask(VISA, {"category_select_v1": BAD})) for _ in range(3)]
    visas.sort(key=lambda each: (each.due_at, each.pk))
    item = claims.claim(item_id=visas[0].pk, actor=eva)
    client = browser(eva)
    query = "agency=immigration&stage=category_select_v1"
    page = client.get(QUEUE, dict(part.split("=") for part in query.split("&"))).content.decode()
    link = re.search(rf'href="({reverse("review:item", args=[item.pk])}[^"]*)"', page)
    assert link is not None
    html = client.get(link[1]).content.decode()
    match = re.search(r'name="list" value="([^"]*)"', html)
    assert match is not None
    form = {
        "version": item.version,
        "action": "dismiss",
        "reason": "Sent twice.",
        "next": "yes",
        "list": match[1].replace("&amp;", "&"),
    }
    answer = client.post(reverse("review:decide", args=[item.pk]), form)
    assert answer.status_code == 303
    assert answer["Location"].startswith(reverse("review:item", args=[visas[1].pk]))
    assert "immigration" in answer["Location"]
    # Where nothing is left of the list, the list says so.
    with triggers_lifted():
        ReviewItem.objects.exclude(pk=visas[1].pk).filter(agency="immigration").delete()
    last = claims.claim(item_id=visas[1].pk, actor=eva)
    form["version"] = last.version
    answer = client.post(reverse("review:decide", args=[last.pk]), form)
    assert answer["Location"] == f"{QUEUE}?{query}"


def test_of_ones_own_list_the_next_is_ones_own(eva: User) -> None:
    mine = [claims.claim(item_id=urgent("low").pk, actor=eva) for _ in range(2)]
    urgent("emergency")
    assert next_item(eva, but=[mine[0].pk], filters=ItemFilter({"tab": "mine"})) == mine[1]


def test_a_decided_crisis_is_for_its_agencies_and_whoever_decided_it_alone(
    published: None,
) -> None:
    item = crisis()
    eva, ben = (desk.person(name, *desk.ALL, agencies=["housing"]) for name in ("eva", "ben"))
    max_ = person("max", Role.CASEWORKER, "revenue")
    assert {*scope.viewers(item)} == {eva, ben, max_}
    text = "Please call 112 now."
    desk.taken_and_decided(item, eva, Action.WRITE, text=text, sources=[])
    desk.taken_and_decided(item, ben, Action.AGREE)
    item.refresh_from_db()
    assert item.state == "decided"
    theirs = person("ida", Role.CASEWORKER, *item.agency_ids)
    for user, may_see in ((eva, True), (ben, True), (theirs, True), (max_, False)):
        assert scope.sees(user, item) is may_see
        assert Reviewer(user).get(path_of(item)).status_code == (200 if may_see else 404)
    assert {*scope.viewers(item)} == {eva, ben, theirs}


def test_whoever_signed_a_crisis_still_sees_it(published: None) -> None:
    item = crisis()
    ann, ben = (desk.person(name, agencies=["housing"]) for name in ("ann", "ben"))
    ReviewItem.objects.filter(pk=item.pk).update(state="decided")
    item.refresh_from_db()
    SignOff.objects.create(item=item, agency="housing", by=ann, reason="Right.")
    assert (scope.sees(ann, item), scope.sees(ben, item)) == (True, False)
    assert [*scope.viewers(item)] == [ann]


def test_every_agency_sees_a_crisis(published: None) -> None:
    theirs, ordinary = crisis(), the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    assert theirs.agency == ordinary.agency == "immigration"
    ben = person("ben", Role.CASEWORKER, "housing")
    client = browser(ben)
    text = client.get(QUEUE).content.decode()
    assert f'id="row-{theirs.pk}"' in text
    assert f'id="row-{ordinary.pk}"' not in text
    assert client.get(reverse("review:item", args=[theirs.pk])).status_code == 200
    assert client.get(reverse("review:item", args=[ordinary.pk])).status_code == 404
    assert scope.sees(ben, theirs)
    assert not scope.sees(ben, ordinary)
    nobody = person("nobody", Role.CASEWORKER, "housing")
    AgencyScope.objects.filter(user=nobody).delete()
    assert not scope.sees(nobody, theirs)
    claimed = claims.claim(item_id=theirs.pk, actor=ben)
    assert desk.decide(claimed, ben, Action.WRITE, text="Please call us.").action == "write"


def test_a_band_the_title_and_the_counter_say_so(eva: User) -> None:
    client = browser(eva)
    calm = urgent("emergency")
    text = client.get(QUEUE).content.decode()
    assert "<title>Open" in text
    assert "crisis" not in text.partition("<main")[2]
    items = [crisis(), crisis()]
    text = client.get(QUEUE).content.decode()
    assert "<title>(2 in crisis) Open" in text
    assert '<span class="queue-tabs__crisis">2 in crisis</span>' in text
    band = text.partition("In crisis: a life may be at stake")[2].partition("All other items")[0]
    assert all(f'id="row-{item.pk}"' in band for item in items)
    assert "Self-harm or suicide" in band
    assert f'id="row-{calm.pk}"' not in band
    # Whatever is filtered away, a crisis is told of.
    text = client.get(QUEUE, {"agency": "housing"}).content.decode()
    assert "<title>(2 in crisis) Open" in text
    assert "2 items in crisis are not on this page." in text
    assert Reviewer(eva).get(agency="housing").json()["in_crisis"] == 2


def test_what_is_not_on_the_page_is_where_the_link_leads(
    eva: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors.page, "__kwdefaults__", {"after": "", "before": "", "size": 2})
    items = sorted((crisis() for _ in range(3)), key=lambda each: (each.due_at, each.pk))
    client = browser(eva)

    def rows_of(address: str) -> tuple[list[str], str]:
        html = client.get(address).content.decode()
        link = re.search(r'not on this page. <a[^>]* href="([^"]+)"', html)
        rows = re.findall(r'id="row-([0-9a-f-]+)"', html)
        return rows, link[1].replace("&amp;", "&") if link else ""

    ids = [str(item.pk) for item in items]
    rows, link = rows_of(QUEUE)
    assert rows == ids[:2]
    assert rows_of(link) == (ids[2:], QUEUE)
    # From a list that has none of them, the link leads to the first of all.
    assert rows_of(f"{QUEUE}?agency=housing") == ([], QUEUE)


def test_an_open_page_is_told_of_a_crisis(eva: User) -> None:
    client = browser(eva)
    urgent("low")
    match = re.search(r'hx-get="([^"]*changes[^"]+)"', client.get(QUEUE).content.decode())
    assert match is not None
    address = match[1].replace("&amp;", "&")
    assert client.get(address).status_code == 204
    crisis()
    news = client.get(address).content.decode()
    assert "<title>(1 in crisis) Open – IEIM</title>" in news
    assert "1 item in crisis is not on this page." in news
