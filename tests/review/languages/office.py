"""A supervisor and a colleague at work: what they look at, in every state that an item has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from django.urls import reverse

from conversations.models import Turn
from conversations.rating import rate
from ieim.people.roles import Role
from review.models import Action, Decision, ReviewItem
from review.queue import services
from tests.conversations.languages import pseudo
from tests.conversations.person.asking import NUMBER, item_of, taken_over, wants
from tests.fixtures import Ask
from tests.review import desk
from tests.review.desk import BABY, BAD, REASON, the_item
from tests.review.people import browser, person

TEXT = "I want to extend my tourist visa before 3 March. My case number is AB-123456."
RISKY = "I want to kill myself because my tourist visa runs out. How do I extend my visa?"
GAP, CALL = "https://example.org/{gap}", "Please call us now."
QUEUE = "/review/"


@dataclass
class Office:
    """A supervisor who looks at pages, and a colleague; ``seen`` are the pages."""

    ask: Ask
    seen: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chief = person("chief", Role.SUPERVISOR, name="Chief Cho")
        self.eva = person("eva", Role.CASEWORKER, name="Eva Eder")
        self.client = browser(self.chief)

    def look(self, path: str, **form: str) -> None:
        """Open a page in the language of marks, or send a form and look at where it leads."""
        with pseudo.spoken():
            send = self.client.post if form else self.client.get
            page = send(path, form, follow=True)
        self.seen[f"{len(self.seen)} {path} {page.status_code}"] = page.content.decode()

    def of(self, item: ReviewItem, name: str = "item", **form: str) -> None:
        """The same of an item."""
        if form:
            version = ReviewItem.objects.get(pk=item.pk).version
            form = {"version": str(version), "reason": REASON, **form}
        self.look(reverse(f"review:{name}", args=[item.pk]), **form)

    def stopped(self, contract: str, text: str = TEXT) -> ReviewItem:
        """An item that stopped at a step."""
        return the_item(desk.ask(text, {contract: BAD}), contract)


def at_the_queue(office: Office) -> None:
    office.look(QUEUE)
    for tab in ("mine", "second", "done"):
        office.look(f"{QUEUE}?tab={tab}")
    first, second, third = (office.stopped("category_select_v1") for _ in range(3))
    desk.ask(RISKY, {})
    desk.take(second, office.eva)
    desk.take(third, office.chief)
    services.save_view(owner=office.chief, name="AB", query="overdue=1")
    office.look(f"{QUEUE}?held=1")
    office.look(f"{QUEUE}?tab=mine&overdue=1&q=nothing")
    office.look(f"{QUEUE}?q={first.turn.session.reference}")
    office.look(f"{QUEUE}?overdue=1")
    for wrong in ("tab=x", "age=x", "overdue=x", "after=x", f"q={'x' * 101}", f"stage={'x' * 201}"):
        office.look(f"{QUEUE}?{wrong}")
    office.look(f"{QUEUE}changes/?shown={first.pk},{second.pk}")
    for name in ("AB", "", "x" * 61):
        office.look(f"{QUEUE}views/", name=name, query="tab=mine")
    office.look(f"{QUEUE}views/", name="AB", delete="1")
    office.look(f"{QUEUE}views/", name="AB", delete="1")


def at_several_items(office: Office) -> None:
    first, second = (office.stopped("category_select_v1") for _ in range(2))
    taken, crisis = office.stopped("category_select_v1"), the_item(desk.ask(RISKY, {}), "reply")
    desk.take(taken, office.eva)
    bulk = reverse("review:bulk")
    office.look(bulk, do="claim")
    office.look(bulk, do="x", item=str(first.pk))
    office.look(bulk, do="claim", item=str(first.pk))
    office.look(bulk, do="claim", item=str(taken.pk))
    office.look(bulk, do="assign", item=str(second.pk))
    office.look(bulk, do="assign", item=str(second.pk), to="eva")
    office.look(bulk, do="dismiss", item=str(first.pk))
    office.look(bulk, do="dismiss", item=str(first.pk), reason=REASON)
    office.look(bulk, do="dismiss", item=str(crisis.pk), reason=REASON)
    office.look(f"{QUEUE}?tab=done")


def at_an_item(office: Office) -> None:
    item = office.stopped("service_select_v1")
    desk.ask(TEXT, {"judgement_v1": BAD}, secret="a")
    office.of(item)
    desk.take(item, office.eva)
    office.of(item)
    office.of(item, "take_over", x="x")
    office.of(item, "preview", action="")
    office.of(item, "preview", action="approve", reason="")
    office.of(item, "preview", action="override", stage="service_select_v1")
    office.of(item, "preview", action="ask", **{"ask-text": "Which visa?"})
    office.of(item, "preview", action="write", **{"write-text": CALL})
    office.of(item, "preview", action="write", **{"write-text": GAP})
    office.of(item, "preview", action="hand_over", **{"hand-agency": "housing"})
    office.of(item, "preview", action="dismiss", **{"dismiss-text": ""})
    office.of(item, "check", action="write", **{"write-text": CALL})
    office.of(item, "services", action="write", **{"write-words": "xyzzy"})
    office.of(item, "decide", action="write", version="0", **{"write-text": REASON})
    office.of(item, "decide", action="dismiss")
    office.of(item, "golden", x="x")
    record = Decision.objects.get()
    office.look(reverse("review:undo", args=[item.pk, record.pk]), **{"undo-reason": ""})
    office.look(reverse("review:undo", args=[item.pk, record.pk]), **{"undo-reason": REASON})


def at_each_step(office: Office) -> None:
    for contract in ("judgement_v1", "agency_detect_v1", "category_select_v1"):
        office.of(desk.take(office.stopped(contract), office.chief))
    for contract in ("classify", "extract", "identity_assist"):
        item = desk.take(office.stopped(contract), office.chief)
        office.of(item, "preview", action="override", stage=contract)
    for contract in ("semantic_analysis_v1", "multi_agency_service_answer_v1"):
        item = desk.take(office.stopped(contract, BABY), office.chief)
        office.of(item)
        office.of(item, "preview", action="override", stage=contract)


def in_a_crisis(office: Office) -> None:
    item = desk.take(the_item(desk.ask(RISKY, {}), "reply"), office.chief)
    office.of(item)
    approve = {"action": "approve", "stage": "service_select_v1"}
    office.of(item, "preview", **approve)
    office.of(item, "preview", **approve, **{"once-more": "yes"})
    office.of(item, "decide", **approve, **{"approve-confirmed": "yes"})
    office.look(f"{QUEUE}?tab=second")
    office.client = browser(office.eva)
    office.of(item)
    desk.take(item, office.eva)
    office.of(item)
    office.of(item, "preview", action="agree")
    office.of(item, "preview", action="disagree")
    office.of(item, "decide", action="agree")


def for_signatures(office: Office) -> None:
    home = person("hana", Role.CASEWORKER, "civil-registry", name="Hana Horn")
    other = person("otto", Role.CASEWORKER, "social-support", name="Otto Ott")
    item = desk.take(office.stopped("service_select_v1", BABY), home)
    office.client = browser(home)
    office.of(item, "preview", action="write", **{"write-text": REASON})
    office.of(item, "decide", action="write", **{"write-text": REASON})
    office.client = browser(other)
    office.of(item)
    office.of(item, "sign", agency="housing", **{"sign-reason": REASON})
    office.of(item, "sign", agency="social-support", **{"sign-reason": REASON})


def for_a_person(office: Office) -> None:
    called, written = wants("a", way="call", contact=NUMBER), wants("b", text=TEXT)
    office.of(item_of(called))
    office.of(item_of(written))
    office.of(item_of(called), "talk")
    office.of(item_of(called), "talk_begin", x="x")
    office.of(item_of(called), "talk_say", text="")
    office.of(item_of(called), "talk_end", x="x")
    taken_over(written, office.eva)
    office.of(item_of(written), "talk")
    office.of(item_of(written), "talk_begin", x="x")
    office.of(item_of(called), "preview", action="done")
    office.of(item_of(called), "decide", action="done")


def what_citizens_say(office: Office) -> None:
    office.look(reverse("review:feedback"))
    for reason, text in (("wrong", ""), ("", RISKY)):
        turn = office.ask(TEXT)
        rate(session_id=turn.session_id, turn_id=turn.pk, useful=False, reason=reason, text=text)
    office.look(reverse("review:feedback"))
    office.look(f"{reverse('review:feedback')}?show=all")
    office.look(reverse("review:feedback_item"), turn="x")
    office.look(reverse("review:feedback_item"), turn=str(Turn.objects.earliest("queued_at").pk))


def the_figures(office: Office) -> None:
    office.look(reverse("review:metrics"))
    turn = office.ask(TEXT)
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=True)
    desk.taken_and_decided(office.stopped("category_select_v1"), office.eva, Action.DISMISS)
    item = office.stopped("category_select_v1")
    for _ in range(20):
        Decision.objects.create(item=item, actor=office.eva, action="approve", reason=REASON)
    office.look(reverse("review:metrics"))
    for wrong in ("days=1", "from=x&to=x", "from=2026-01-01", "agency=x", "to=1999-01-01"):
        office.look(f"{reverse('review:metrics')}?{wrong}")
    periods = ("from=2999-01-01&to=2999-01-01", "from=2020-01-02&to=2020-01-01")
    for wrong in (*periods, "from=1999-01-01&to=1999-01-01", "from=2020-01-01&to=2022-01-01"):
        office.look(f"{reverse('review:metrics')}?{wrong}")


SCENES: tuple[Callable[[Office], None], ...] = (
    *(at_the_queue, at_several_items, at_an_item, at_each_step, in_a_crisis, for_signatures),
    *(for_a_person, what_citizens_say, the_figures),
)
