"""Notices: who may write what, when they apply, and what the pipeline is told of them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from ieim.audit.models import AuditEvent
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.models import Directive
from ieim.knowledge.notices import selectors, services
from ieim.knowledge.notices.services import BadText, Refused, add, end, plain_text
from ieim.people.roles import Role
from ieim.pipeline.reply.cards import Source
from ieim.pipeline.reply.reply import Notice
from tests.review.people import browser, person

CLOSED = "The office is closed this week."
HOUR = timedelta(hours=1)


def write(agency: str = "immigration", text: str = CLOSED, **fields: Any) -> Directive:
    by = fields.pop("by", None) or person("writer", Role.EDITOR)
    now = timezone.now()
    return add(
        agency=agency, text=text, **{"starts_at": None, "ends_at": now + HOUR, **fields}, by=by
    )


def source(agency: str) -> Source:
    return Source(agency, agency.title(), "key", "Service", "")


def refusal(**values: Any) -> dict[str, str]:
    with pytest.raises(Refused) as refused:
        write(**values)
    assert not Directive.objects.exists()
    assert not AuditEvent.objects.filter(kind="directive.added").exists()
    return refused.value.problems


def test_it_applies_from_its_start_until_its_end_and_is_audited(published: None) -> None:
    notice = write(text="  The office \n is closed. ")
    event = AuditEvent.objects.get(kind="directive.added")
    assert notice.text == "The office is closed."
    assert notice.text in event.payload
    assert event.actor == "staff:writer"
    for moment, applies in (
        (notice.starts_at - timedelta(microseconds=1), False),
        (notice.starts_at, True),
        (notice.ends_at - timedelta(microseconds=1), True),
        (notice.ends_at, False),
    ):
        assert (selectors.active(moment) == [notice]) is applies


def test_it_ends_early_once(published: None) -> None:
    notice = write()
    by = notice.created_by
    ended = end(directive_id=notice.pk, by=by)
    assert selectors.active(timezone.now()) == []
    assert ended.version == 2
    assert AuditEvent.objects.filter(kind="directive.ended").count() == 1
    with pytest.raises(Refused, match="over already"):
        end(directive_id=notice.pk, by=by)


def test_a_publisher_ends_one_and_reads_whose_time_it_is(published: None, settings: Any) -> None:
    settings.TIME_ZONE = "Europe/Prague"
    notice, client = write(), browser(person("paul", Role.PUBLISHER))
    page = client.get("/knowledge/notices/").content.decode()
    assert "Europe/" not in page
    assert re.search(r"Times are those of Prague, where it is \d\d:\d\d now\.", page)
    assert f'action="/knowledge/notices/{notice.pk}/end/"' in page
    assert client.get("/knowledge/notices/add/").status_code == 403
    client.post(f"/knowledge/notices/{notice.pk}/end/")
    assert selectors.active(timezone.now()) == []


def test_one_that_has_not_begun_never_begins(published: None) -> None:
    now = timezone.now()
    notice = write(starts_at=now + HOUR, ends_at=now + 3 * HOUR)
    end(directive_id=notice.pk, by=notice.created_by)
    assert selectors.active(now + 2 * HOUR) == []


@pytest.mark.parametrize("text", ["", " \n", "…", "bad\x00text", "rtl\u202etext", "a" * 501])
def test_it_takes_plain_text_that_can_be_shown(published: None, text: str) -> None:
    assert set(refusal(text=text)) == {"text"}


def test_it_ends_after_it_starts_and_not_in_the_past(published: None) -> None:
    now = timezone.now()
    by = person("eve", Role.EDITOR)
    start = now + HOUR
    assert refusal(starts_at=start, ends_at=start, by=by) == {"ends_at": services.END_BEFORE_START}
    past = {"starts_at": now - 2 * HOUR, "ends_at": now - HOUR}
    assert refusal(**past, by=by) == {"ends_at": services.END_IS_PAST}


def test_editors_write_for_their_agencies_only(published: None) -> None:
    ivy = person("ivy", Role.EDITOR, "immigration")
    assert refusal(agency="vehicles", by=ivy) == {"agency": services.NO_AGENCY}
    assert refusal(agency="", by=ivy) == {"agency": services.NO_AGENCY}
    assert write(by=ivy).agency == "immigration"


def test_nobody_ends_what_is_not_theirs(published: None) -> None:
    notice = write("")
    with pytest.raises(Directive.DoesNotExist):
        end(directive_id=notice.pk, by=person("ivy", Role.EDITOR, "immigration"))


def test_the_pipeline_is_told_of_all_that_apply_with_their_agencies(published: None) -> None:
    release, now = knowledge.current_release(), timezone.now()
    assert release is not None
    assert selectors.runtime_directive(release, now) is None
    by = person("eve", Role.EDITOR)
    write(by=by, starts_at=now - HOUR)
    write("", "Strike today.", by=by, starts_at=now)
    name = release.agencies["immigration"].name
    result = selectors.runtime_directive(release, timezone.now())
    assert result == f"Every agency: Strike today.\n{name}: {CLOSED}"


def test_the_pipeline_is_told_whole_notices_only_and_the_last_ones(published: None) -> None:
    release, now = knowledge.current_release(), timezone.now()
    assert release is not None
    by = person("eve", Role.EDITOR)
    for number in range(6):
        write("", f"{number}" * 500, by=by, starts_at=now - number * HOUR)
    result = selectors.runtime_directive(release, timezone.now()) or ""
    assert len(result) <= selectors.DIRECTIVE_CHARS
    assert [line[-500:] for line in result.split("\n")] == [f"{n}" * 500 for n in range(3)]


def test_a_reply_has_the_notices_of_its_sources(published: None) -> None:
    by, now = person("eve", Role.EDITOR), timezone.now()
    write(by=by, starts_at=now - HOUR)
    write("vehicles", by=by, starts_at=now - HOUR)
    write("", "Strike today.", by=by, starts_at=now)
    at = timezone.now()
    both = (Notice("", "Strike today."), Notice("Immigration", CLOSED))
    assert selectors.of_reply((source("immigration"), source("immigration")), at) == both
    assert selectors.of_reply((source("tax"),), at) == both[:1]
    assert selectors.of_reply((), at) == ()


@given(st.text(st.characters(codec="utf-8"), max_size=80), st.booleans())
def test_a_plain_text_stays_as_it_is_once_it_is_clean(typed: str, lines: bool) -> None:
    try:
        text = plain_text(typed, limit=60, lines=lines)
    except BadText:
        return
    assert plain_text(text, limit=60, lines=lines) == text
    assert len(text) <= 60
    assert lines or "\n" not in text


def test_citizens_are_not_shown_what_the_model_alone_is_told(published: None) -> None:
    release, by = knowledge.current_release(), person("eve", Role.EDITOR)
    assert release is not None
    write(by=by)
    write("", "Prefer what can be done online.", by=by, model_only=True)
    now = timezone.now()
    assert "Prefer what can be done online." in (selectors.runtime_directive(release, now) or "")
    result = selectors.of_reply([source("immigration")], now)
    assert [notice.text for notice in result] == [CLOSED]
    event = AuditEvent.objects.filter(kind="directive.added").latest("seq")
    assert '"model_only":true' in event.payload
