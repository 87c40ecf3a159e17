"""Tokens of programs: made and revoked on the page, and what they leave of their maker's rights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.audit.verify import verify
from ieim.people import openid
from ieim.people.access import ACCESS, CHANGES
from ieim.people.models import AgencyScope, Token, User
from ieim.people.roles import PERMISSIONS, Role
from ieim.people.services import changing
from ieim.people.tokens import selectors, services
from ieim.people.tokens.scopes import SCOPES
from ieim.studio.models import Change, Service
from review import deciding
from review.deciding import Action
from review.models import Decision, ReviewItem
from tests.conversations.api.integrating import set_rates
from tests.fixtures import VISA
from tests.people.test_factors import RIGHT, log_in
from tests.review import desk
from tests.review.people import belong, browser, person, vouched
from tests.review.reviewing import ITEMS, path_of, written

PAGE = "/staff/tokens/"
RELEASES = "/api/v1/knowledge/releases/"
SERVICES = "/api/v1/knowledge/services/entry/?agency=immigration&key="
DECIDES = ("review:read", "review:decide")


class Program:
    """A program with a token and nothing else."""

    def __init__(self, text: str) -> None:
        self.http = Client(enforce_csrf_checks=True)
        self.text = text

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        given = {"Authorization": f"Bearer {self.text}", **headers}
        data = "" if body is None else json.dumps(body)
        return self.http.generic(method, path, data, "application/json", headers=given)

    def get(self, path: str = ITEMS) -> Any:
        return self.send("GET", path)


def program(by: User, *scopes: str, agencies: tuple[str, ...] = ("*",)) -> Program:
    _, text = services.make(by=by, name="A program", scopes=scopes, agencies=agencies, days=9)
    return Program(text)


def events(kind: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(kind=kind).order_by("seq"))


@pytest.fixture
def sofia(published: None) -> User:
    return person("sofia", Role.SUPERVISOR)


@pytest.fixture
def item(sofia: User) -> ReviewItem:
    return desk.the_item(desk.ask(VISA, {"category_select_v1": desk.BAD}))


def test_it_is_made_on_the_page_and_shown_once(sofia: User) -> None:
    page = browser(sofia)
    fields = {"name": "Nightly report", "scopes": ["review:read"], "agencies": ["*"], "days": "30"}
    made = page.post(f"{PAGE}make/", fields)
    assert (made.status_code, "no-store" in made["Cache-Control"]) == (201, True)
    (text,) = re.findall(r'id="token">([^<]+)<', made.content.decode())
    token = Token.objects.get()
    assert text.startswith(f"{token.prefix}_")
    assert (token.user, token.scopes) == (sofia, ["review:read"])
    assert token.expires_at - token.created_at == timedelta(days=30)
    later = page.get(PAGE).content.decode()
    assert token.prefix in later
    assert text not in later
    # Neither the database nor the record could tell it.
    stored = json.dumps([*Token.objects.values(), *AuditEvent.objects.values()], default=str)
    assert text.removeprefix(token.prefix) not in stored
    (event,) = events("people.token_made")
    assert (event.actor, json.loads(event.payload)["token"]) == ("staff:sofia", token.prefix)
    assert Program(text).get().status_code == 200


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"name": " "}, "Say which program"),
        ({"scopes": ["knowledge:publish"]}, "not one of the available choices"),
        ({"scopes": []}, "Choose what the program may do"),
        ({"agencies": ["housing"]}, "not one of the available choices"),
        ({"days": "366"}, "less than or equal to 365"),
        ({"days": ""}, "Say after how many days"),
    ],
    ids=str,
)
def test_nobody_makes_one_for_more_than_is_theirs(
    published: None, wrong: dict[str, Any], sentence: str
) -> None:
    sam = person("sam", Role.SUPERVISOR, "immigration")
    fields = {"name": "X", "scopes": ["review:read"], "agencies": ["immigration"], "days": "30"}
    answer = browser(sam).post(f"{PAGE}make/", fields | wrong)
    assert (answer.status_code, Token.objects.count()) == (422, 0)
    assert sentence in answer.content.decode()
    with pytest.raises(services.Refused):
        services.make(by=sam, name="X", scopes=["review:read"], agencies=["housing"], days=9)
    with pytest.raises(services.Refused):
        services.make(by=sam, name="X", scopes=["knowledge:publish"], agencies=["*"], days=9)


def test_it_is_revoked_by_its_maker_or_an_administrator(sofia: User) -> None:
    mine, other = program(sofia, "review:read"), program(sofia, "review:read")
    first, second = Token.objects.order_by("created_at")
    stranger = browser(person("ed", Role.EDITOR))
    assert stranger.post(f"{PAGE}{first.pk}/revoke/").status_code == 404
    assert mine.get().status_code == 200
    assert browser(sofia).post(f"{PAGE}{first.pk}/revoke/").status_code == 303
    administrator = browser(person("ada", Role.ADMINISTRATOR))
    assert second.prefix in administrator.get(PAGE).content.decode()
    assert administrator.post(f"{PAGE}{second.pk}/revoke/").status_code == 303
    for result in (mine, other):
        refused = result.get()
        assert (refused.status_code, "revoked" in refused.json()["detail"]) == (401, True)
    assert [e.actor for e in events("people.token_revoked")] == ["staff:sofia", "staff:ada"]
    assert verify(PEOPLE_CHAIN).problem is None


def _expire(sofia: User) -> None:
    Token.objects.update(expires_at=timezone.now())


def _close(sofia: User) -> None:
    User.objects.update(is_active=False)


def _take_the_role(sofia: User) -> None:
    sofia.groups.set(Group.objects.filter(name=Role.CASEWORKER))


@pytest.mark.parametrize("end", [_expire, _close, _take_the_role])
def test_it_ends(sofia: User, end: Callable[[User], None]) -> None:
    reader = program(sofia, "review:read")
    assert reader.get().status_code == 200
    end(sofia)
    refused = reader.get()
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer, Session")


def test_a_wrong_one_opens_nothing_also_beside_a_login(sofia: User) -> None:
    logged_in = browser(sofia)
    wrong = {"Authorization": "Bearer ieim_aaaaaaaa_x"}
    assert logged_in.get(ITEMS).status_code == 200
    assert logged_in.get(ITEMS, headers=wrong).status_code == 401
    # Nor is it of any use for a citizen's session, or for a page.
    reader = program(sofia, "review:read")
    assert reader.get(f"/api/v1/sessions/{Token.objects.get().pk}/").status_code == 401
    assert reader.get("/review/").status_code == 302


def test_it_is_for_its_scopes_only(item: ReviewItem, sofia: User) -> None:
    reader, decider = program(sofia, "review:read"), program(sofia, *DECIDES)
    assert reader.get(path_of(item)).status_code == 200
    refused = reader.send("POST", f"{path_of(item)}claim/")
    assert (refused.status_code, "token" in refused.json()["detail"]) == (403, True)
    assert reader.get(RELEASES).status_code == 403
    assert decider.send("POST", f"{path_of(item)}claim/").status_code == 200
    # Their maker may; a token that has not the scope does not see what no agency was found for.
    sam = person("sam", Role.SUPERVISOR, "passports")
    belong(item)
    assert program(sam, "review:read", "review:triage").get(path_of(item)).status_code == 200
    assert program(sam, "review:read").get(path_of(item)).status_code == 404


def test_it_is_for_its_agencies_and_never_for_more_than_its_makers(
    item: ReviewItem, sofia: User
) -> None:
    assert (
        program(sofia, "review:read", agencies=("housing",)).get(path_of(item)).status_code == 404
    )
    of_two = program(sofia, "review:read", agencies=("housing", "immigration"))
    assert of_two.get(path_of(item)).status_code == 200
    AgencyScope.objects.filter(user=sofia).update(agency="passports")
    assert of_two.get(path_of(item)).status_code == 404
    root = User.objects.create_superuser("root")
    elsewhere = program(root, "review:read", agencies=("housing",))
    assert elsewhere.get(path_of(item)).status_code == 404


def test_what_it_does_is_recorded_with_it(item: ReviewItem, sofia: User) -> None:
    decider = program(sofia, *DECIDES, agencies=("immigration",))
    actor = f"staff:sofia/{Token.objects.get().prefix}"
    claimed = decider.send("POST", f"{path_of(item)}claim/")
    body, seen = written(), claimed["ETag"]
    done = decider.send("POST", f"{path_of(item)}decide/", body, **{"If-Match": seen})
    assert done.status_code == 200, done.content
    for kind in ("review.claimed", "review.decided", "people.token_used"):
        assert [event.actor for event in events(kind)] == [actor], kind
    decision = Decision.objects.get()
    assert decision.actor == sofia
    assert actor.endswith(decision.artifacts["token"])
    assert Token.objects.get().last_used_at is not None


def test_it_signs_for_its_own_agencies_only(published: None) -> None:
    """Who works for both signs for both; their program only for those of its token."""
    home, other = "civil-registry", "social-support"
    sam = person("sam", Role.SUPERVISOR, home, other)
    turn = desk.ask(desk.BABY, {"service_select_v1": (desk.unsure,) * 2})
    program(sam, *DECIDES, agencies=(home,))
    acting = selectors.acting(User.objects.get(pk=sam.pk), Token.objects.get().prefix)
    desk.taken_and_decided(desk.the_item(turn), acting, Action.APPROVE)
    waits = desk.unsigned_item(turn)
    desk.taken_and_decided(waits, acting, Action.APPROVE)
    assert deciding.missing_signatures(waits) == (other,)


def test_an_editors_program_changes_the_draft(published: None) -> None:
    ed = person("ed", Role.EDITOR)
    row = Service.objects.filter(agency="immigration")[0]
    path, version = f"{SERVICES}{row.key}", {"If-Match": f'"{row.version}"'}
    elsewhere = program(ed, "knowledge:edit", agencies=("housing",))
    assert elsewhere.send("PUT", path, {"name": "X"}, **version).status_code == 403
    assert (
        program(ed, "knowledge:read").send("PUT", path, {"name": "X"}, **version).status_code == 403
    )
    saved = program(ed, "knowledge:edit").send("PUT", path, {"name": "X"}, **version)
    assert saved.status_code == 200, saved.content
    assert Change.objects.latest("pk").by == ed
    assert events("knowledge.changed")[-1].actor.startswith("staff:ed/ieim_")


def test_one_person_is_not_two_by_a_token(published: None) -> None:
    both = person("both", Role.EDITOR)
    both.groups.add(Group.objects.get(name=Role.PUBLISHER))
    both = User.objects.get(pk=both.pk)
    worker = program(both, "knowledge:read", "knowledge:propose", "knowledge:publish")
    Service.objects.filter(agency="immigration").update(name="Anew")
    proposed = worker.send("POST", "/api/v1/knowledge/proposals/", {"note": "Names"})
    assert proposed.status_code == 201, proposed.content
    url = f"/api/v1/knowledge/proposals/{proposed.json()['id']}/publish/"
    assert worker.send("POST", url, {}).status_code in (403, 422)


def test_it_is_limited(sofia: User, monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, tokens="2/minute")
    first, second, wrong = (
        program(sofia, "review:read"),
        program(sofia, "review:read"),
        Program("x"),
    )
    assert [first.get().status_code for _ in range(3)] == [200, 200, 429]
    assert second.get().status_code == 200
    answers = [wrong.get() for _ in range(3)]
    assert [answer.status_code for answer in answers] == [401, 401, 429]
    assert int(answers[2]["Retry-After"]) > 0
    assert settings.IEIM_RATES["tokens"] == (2, 60)


def test_every_staff_address_of_rest_is_in_some_scope_and_no_other_right() -> None:
    given = frozenset[str]().union(*(scope.permissions for scope in SCOPES.values()))
    needed = {
        what
        for table in (ACCESS, CHANGES)
        for name, what in table.items()
        if name.startswith(("review_api:", "knowledge_api:"))
    }
    assert needed <= given
    permissions = frozenset[str]().union(*PERMISSIONS.values())
    assert given <= permissions
    assert not [name for name in given if name.startswith(("people.", "administration.", "audit."))]


def logged_in(user: User) -> Client:
    user.set_password(RIGHT)
    user.save()
    return log_in(vouched(user).username)[0]


def test_tokens_and_sessions_end_with_the_account_for_good(sofia: User, item: ReviewItem) -> None:
    reads, page = program(sofia, "review:read"), logged_in(sofia)
    assert page.get("/review/").status_code == 200
    ada = person("ada", Role.ADMINISTRATOR)
    for is_active in (False, True):
        with changing(sofia.pk, by=ada):
            User.objects.filter(pk=sofia.pk).update(is_active=is_active)
            if is_active:  # who is switched on again is given this anew
                User.objects.get(pk=sofia.pk).groups.add(Group.objects.get(name=Role.EDITOR.value))
    refused = reads.get()
    assert (refused.status_code, "revoked" in refused.content.decode()) == (401, True)
    assert page.get("/review/").status_code == 302
    assert [event.actor for event in events("people.token_revoked")] == ["staff:ada"]
    assert [event.actor for event in events("people.session_ended")] == ["staff:ada"]
    assert verify(PEOPLE_CHAIN).problem is None


def test_the_provider_confirms_a_token_as_often_as_a_session(
    sofia: User, item: ReviewItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = {"roles": frozenset({"supervisor"}), "agencies": frozenset({"*"})}
    provider_settings = {**settings.IEIM_OPENID, "GROUPS": {"heads": heads}}
    monkeypatch.setattr(settings, "IEIM_OPENID", provider_settings)
    SocialAccount.objects.create(user=sofia, provider=openid.PROVIDER, uid="sofia")
    reads, page = program(sofia, "review:read"), logged_in(sofia)
    assert (reads.get().status_code, page.get("/review/").status_code) == (200, 200)
    long_ago = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    SocialAccount.objects.update(last_login=long_ago)
    late = reads.get()
    assert (late.status_code, "log in at /staff/login/" in late.content.decode()) == (401, True)
    assert openid.synchronise_account("sofia", {"groups": ["heads"]}) == sofia
    assert reads.get().status_code == 200
    # The provider takes its group away: that ends them, whatever it says later.
    assert openid.synchronise_account("sofia", {"groups": []}) is None
    openid.synchronise_account("sofia", {"groups": ["heads"]})
    assert (reads.get().status_code, page.get("/review/").status_code) == (401, 302)
    assert "revoked" in reads.get().content.decode()
