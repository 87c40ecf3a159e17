"""Which answers used a service: citations, versions, lists, the command."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from conversations.citations import content_of
from conversations.models import Citation, ReplyOrigin, Turn
from conversations.turns import erasing
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.canonical import digest
from ieim.studio.recall import selectors
from review.models import Action
from tests.audit.owner import triggers_lifted
from tests.fixtures import VISA, Ask
from tests.review import desk
from tests.review.desk import BABY, taken_and_decided, the_item
from tests.review.people import person
from tests.studio.recall import recalling
from tests.studio.recall.recalling import IMMIGRATION, key_of, publish_fee

editor = recalling.editor


def cited(turn: Turn) -> list[tuple[str, str]]:
    citations = Citation.objects.filter(reply__turn=turn).order_by("agency", "service")
    return list(citations.values_list("agency", "service"))


def sources(turn: Turn) -> list[tuple[str, str]]:
    return sorted((s["agency_id"], s["service_key"]) for s in turn.reply.body["sources"])


def all_services() -> list[tuple[str, str]]:
    release = knowledge.current_release()
    assert release is not None
    return list(release.services)


def run_command(*arguments: str) -> list[dict[str, str]]:
    output = StringIO()
    call_command("recall", *arguments, stdout=output)
    return list(csv.DictReader(output.getvalue().splitlines()))


def test_it_cites_every_source_of_an_answer(ask: Ask) -> None:
    one, several = ask(), ask(BABY)
    assert cited(one) == sources(one)
    assert cited(several) == sources(several)
    assert len({agency for agency, _ in cited(several)}) > 1


def test_guidance_cites_nothing(ask: Ask) -> None:
    turn = ask("Hello!")
    assert turn.reply.body["kind"] == "guidance"
    assert cited(turn) == []


def test_it_cites_what_a_person_wrote(stopped_turn: Turn, editor: User) -> None:
    carla = person("carla", Role.CASEWORKER)
    key = next(key for agency, key in all_services() if agency == IMMIGRATION)
    payload = {"text": "Come to the office.", "sources": [{"agency": IMMIGRATION, "service": key}]}
    taken_and_decided(the_item(stopped_turn), carla, Action.WRITE, **payload)
    turn = Turn.objects.get(pk=stopped_turn.pk)
    assert turn.reply.origin == ReplyOrigin.STAFF.value
    assert cited(turn) == [(IMMIGRATION, key)]


@pytest.fixture
def stopped_turn(ask: Ask) -> Turn:
    turn = ask(VISA, model=desk.Scripted({"service_select_v1": desk.BAD}))
    assert turn.state == "needs_review"
    return turn


def test_releases_that_say_the_same_of_it_are_one_version(ask: Ask) -> None:
    key = key_of(ask())
    another = next(k for a, k in all_services() if a == IMMIGRATION and k != key)
    assert publish_fee(another, "1 euro") == 2
    ask()
    (version,) = selectors.versions(IMMIGRATION, key)
    assert (version.releases, version.answers, version.sessions) == ((1, 2), 2, 2)
    assert version.in_force
    assert version.first is not None
    assert version.last is not None
    assert version.first < version.last


def test_a_changed_fee_is_a_version_of_its_own(ask: Ask) -> None:
    old = ask()
    key = key_of(old)
    publish_fee(key, "45 euros")
    # Nobody was answered from it yet.
    newest = selectors.versions(IMMIGRATION, key)[0]
    assert (newest.releases, newest.answers, newest.first, newest.in_force) == ((2,), 0, None, True)
    new, again = ask(), ask()
    second, first = selectors.versions(IMMIGRATION, key)
    assert (first.releases, first.sessions, first.in_force) == ((1,), 1, False)
    assert (second.releases, second.sessions, second.in_force) == ((2,), 2, True)
    citations = selectors.listed(IMMIGRATION, key, first.sha256)
    assert [citation.reply.turn for citation in citations] == [old]
    citations = selectors.listed(IMMIGRATION, key)
    assert [citation.reply.turn for citation in citations] == [again, new, old]


def test_lists_read_no_word_of_the_citizens(ask: Ask) -> None:
    key = key_of(ask())
    with CaptureQueriesContext(connection) as queries:
        (row,) = selectors.listed(IMMIGRATION, key)
        line = list(selectors.as_csv(selectors.listed(IMMIGRATION, key)))[1]
    assert len(queries) == 2
    for query in queries:
        assert '"text"' not in query["sql"]
        assert '"body"' not in query["sql"]
    assert line.startswith(f'"{row.reply.turn.session.reference}","1",'), "quoted"


def test_an_erased_conversation_is_not_found(ask: Ask) -> None:
    turn = ask()
    key = key_of(turn)
    erasing.erase_session(session_id=turn.session_id)
    assert not selectors.answers(IMMIGRATION, key).exists()


def test_editors_find_cited_services_of_their_agencies(ask: Ask, editor: User) -> None:
    key = key_of(ask())
    service = selectors.current_service(IMMIGRATION, key)
    assert selectors.search(editor, service.name.upper()) == [service]
    assert selectors.search(editor, "") == [service]
    assert selectors.search(person("vic", Role.EDITOR, "vehicles"), service.name) == []


def test_a_withdrawn_service_is_still_found(ask: Ask, editor: User) -> None:
    ask()
    with triggers_lifted():
        Citation.objects.update(service="abolished-visa")
    (service,) = selectors.search(editor, "ABOLISHED visa")
    assert (service.key, service.in_force) == ("abolished-visa", False)


def test_the_command_lists_what_a_release_has_of_it(ask: Ask) -> None:
    old = ask()
    key = key_of(old)
    publish_fee(key, "45 euros")
    ask()
    assert len(run_command(IMMIGRATION, key)) == 2
    (row,) = run_command(IMMIGRATION, key, "--release", "1")
    expected = (old.session.reference, "1", "index", "1")
    assert (row["reference"], row["question"], row["origin"], row["release"]) == expected
    for number, problem in (("9", "no release 9"), ("1", "has no immigration/none")):
        service = key if number == "9" else "none"
        with pytest.raises(CommandError, match=problem):
            run_command(IMMIGRATION, service, "--release", number)


def test_the_command_says_that_no_release_ever_had_a_service(ask: Ask) -> None:
    unused = next(service for service in all_services() if service not in cited(ask()))
    assert run_command(*unused) == []
    with pytest.raises(CommandError, match="No release has, or had, immigration/none"):
        run_command(IMMIGRATION, "none")


@given(
    st.dictionaries(st.sampled_from(["fees", "contact", "url"]), st.text(max_size=5)),
    st.dictionaries(st.sampled_from(["fees", "contact", "url"]), st.text(max_size=5)),
)
def test_versions_differ_exactly_where_a_filled_column_does(
    one: dict[str, str], other: dict[str, str]
) -> None:
    names = {"agency": "a", "key": "b", "name": "c"}
    digests = {digest(content_of({**names, **entry}, ())) for entry in (one, other)}
    filled = [{name: text for name, text in entry.items() if text} for entry in (one, other)]
    assert (len(digests) == 1) is (filled[0] == filled[1])


def test_a_translation_is_part_of_the_version_of_its_own_service_only() -> None:
    service = {"agency": "a", "key": "b", "name": "Visa"}
    french = {"language": "fr", "agency": "a", "service": "b", "name": "Le visa"}
    plain = content_of(service, ())
    assert content_of(service, [french]) != plain
    assert content_of(service, [{**french, "service": "c"}]) == plain
