"""The work of a run: each page is fetched, read and drafted, and saved before the next."""

from __future__ import annotations

import difflib
import hashlib
import heapq
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext

from conversations.turns.executor import release_connection
from conversations.turns.store import start_of_day
from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.people import post
from ieim.people.models import User
from ieim.pipeline.evidence import locate
from ieim.pipeline.findings import Code
from ieim.pipeline.ports import Model, ModelUnavailable
from ieim.studio import runs
from ieim.studio.drafting.services import NOT_PASSED
from ieim.studio.models import ContentReview, PageRun, WebPage
from ieim.studio.webpages import drafting, reading, services, sitemaps
from ieim.studio.webpages.fetching import Answer, Busy, Fetcher, Gone, parse
from ieim.studio.webpages.reading import Page, Unreadable
from ieim.studio.webpages.uploads import MAX_PAGES

logger = logging.getLogger(__name__)

State = WebPage.State
_SETTLED = (State.DRAFTED, State.TAKEN, State.LEFT, State.CHANGED, State.GONE)
"""The states of a page that has a draft, or an entry."""
_OUTAGE = "The model could not be reached: {}. Go on with the run when it can."
_AGAIN = "Fill it in by hand, or let the page be read again."
_SPENT = "The day’s budget of the model is used up. Go on with the run tomorrow."


def run_pages(
    *,
    run_id: int,
    model: Model | None = None,
    after: Callable[[WebPage], object] = lambda page: None,
) -> None:
    """Read the pages of a run that are due, calling ``after`` each; see
    :func:`ieim.studio.runs.execute`."""
    runs.execute(PageRun, run_id, lambda claim: _run(claim, model, after), _fail)


def _fail(claim: runs.Claim, sentence: str) -> None:
    claim.fail(sentence)
    _tell_owners(PageRun.objects.get(pk=claim.run_id))


def _run(claim: runs.Claim, model: Model | None, after: Callable[[WebPage], object]) -> None:
    run, fetcher = PageRun.objects.get(pk=claim.run_id), Fetcher()
    if run.sitemap:
        _read_sitemap(run, fetcher)
    due, outcomes = run.pages.filter(is_due=True), Counter[str]()
    for pk in list(due.values_list("pk", flat=True)):
        claim.write(done=run.pages.filter(is_due=False).count(), total=run.pages.count())
        release_connection()
        # Another run may have it by now.
        page = due.filter(pk=pk, run__is_paused=False).first()
        if page is not None:
            is_new = _handle(page, fetcher, model)
            if not page.is_due:
                outcome = "failed" if page.problem else page.state if is_new else "unchanged"
                outcomes[outcome] += 1
            after(page)
    done, note = run.pages.filter(is_due=False).count(), run.note
    if outcomes["unchanged"]:  # the list of pages says it of the others
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
        note = f"{note} Pages read: {counts}.".strip()
    claim.write(state=PageRun.State.DONE, done=done, total=run.pages.count(), note=note)
    _tell_owners(run)


def _read_sitemap(run: PageRun, fetcher: Fetcher) -> None:
    """Let a run read the first pages of its sitemap that were not read before, or else all."""
    try:
        listed = sitemaps.addresses(fetcher, run.sitemap)
    except (Unreadable, Busy) as error:
        raise runs.RunFailed(f"{run.sitemap}: {error}") from error
    pages: dict[str, bytes] = {}
    for address in listed:
        with suppress(Unreadable):
            pages[str(parse(address))] = b""
    note = ""
    if elsewhere := len(listed) - len(pages):
        note = f"{elsewhere:,} addresses of the sitemap are of other hosts, or there twice. "
    if len(pages) > MAX_PAGES:
        stored = WebPage.objects.filter(agency=run.agency).values_list("address", flat=True)
        read = {address for address in stored if address in pages}
        later = len(pages) - MAX_PAGES
        note += f"{later:,} are for another run: give the sitemap again, and it goes on."
        pages = dict.fromkeys(sorted(pages, key=read.__contains__)[:MAX_PAGES], b"")
    run.note = note.strip()
    with transaction.atomic():
        services.add(run, pages)
        PageRun.objects.filter(pk=run.pk).update(sitemap="", note=run.note)


def _handle(page: WebPage, fetcher: Fetcher, model: Model | None) -> bool:
    """Read a page; return whether it was drafted from anew."""
    try:
        answer = _fetch(page, fetcher)
        read = None if answer.body is None else reading.read(answer.body, page.address)
        data = drafting.by_data(read, page.agency)[0] if read else {}
    except Busy as busy:
        _save(page, problem=str(busy))
    except Unreadable as error:
        _refuse(page, error)
    except Exception:  # Whatever the page has in it: it must not stop the others.
        logger.exception("page %s cannot be read", page.pk)
        _refuse(page, Unreadable(runs.INTERNAL_ERROR))
    else:
        if read is None:
            _note_unchanged(page)
        elif _store(page, read, answer, [line for lines in data.values() for line in lines]):
            _draft(page, read, model)
            return True
    return False


def _fetch(page: WebPage, fetcher: Fetcher) -> Answer:
    if page.body:
        return Answer(bytes(page.body))
    if "://" not in page.address:
        raise Unreadable("The file is empty: save the page again.")
    if page.state not in _SETTLED:
        return fetcher.page(page.address)
    return fetcher.page(page.address, etag=page.etag, last_modified=page.last_modified)


def _locked(page: WebPage) -> bool:
    """Lock a page and read it anew; return whether no newer run is to read it."""
    lock_head(SYSTEM_CHAIN)  # before the page, as the sweep does
    run_id = page.run_id
    page.refresh_from_db(from_queryset=WebPage.objects.select_for_update())
    return page.run_id == run_id


@transaction.atomic
def _note_unchanged(page: WebPage) -> None:
    """Note that a page has not changed."""
    if _locked(page):
        _save(page, is_due=False, problem="", **_read_now(page))


@transaction.atomic
def _refuse(page: WebPage, error: Unreadable) -> None:
    """Note why a page cannot be read; what was read of it before stays."""
    if not _locked(page):
        return
    values: dict[str, Any] = {"is_due": False, "problem": str(error), "body": b""}
    if isinstance(error, Gone) and page.entry:
        values |= {"state": State.GONE, "changes": [], "etag": "", "last_modified": ""}
        values |= _read_now(page)
        if page.state != State.GONE:
            _record("webpages.changed", page, state="gone")
    elif page.state not in _SETTLED:
        values["state"] = State.FAILED
    _save(page, **values)


@transaction.atomic
def _store(page: WebPage, read: Page, answer: Answer, stated: Sequence[str]) -> bool:
    """Save what a page says, in its text and ``stated`` by its data; return whether it is to be
    drafted from anew."""
    # Somebody may have taken it while the site answered, or saved another one of its name.
    if not _locked(page):
        return False
    sha256 = hashlib.sha256("\n".join([read.text, *stated]).encode()).hexdigest()
    is_same = page.state in _SETTLED and sha256 == page.sha256
    changes, state = [], State(page.state) if is_same else State.READ
    if page.entry:
        changes = _changes(page.rests_on, [read.title, *read.text.splitlines(), *stated])
        state = State.CHANGED if changes else State.TAKEN
    is_due = not is_same and (bool(changes) or not page.entry)
    _save(
        page,
        title=read.title,
        language=read.language,
        text=read.text,
        sha256=sha256,
        etag=answer.etag,
        last_modified=answer.last_modified,
        state=state,
        changes=changes,
        is_due=is_due,
        body=page.body if is_due else b"",
        problem="",
        **_read_now(page),
    )
    if not is_same:
        _record("webpages.read", page, sha256=sha256)
        if changes:
            _record("webpages.changed", page, fields=sorted({field for field, *_ in changes}))
    return is_due


def _read_now(page: WebPage) -> dict[str, Any]:
    """Return what is stored of a page that is read: the tokens are those of its day."""
    is_of_today = page.read_at is not None and page.read_at >= start_of_day()
    return {"read_at": timezone.now(), "tokens": page.tokens if is_of_today else 0}


def _changes(rests_on: Mapping[str, Sequence[str]], lines: Sequence[str]) -> list[list[str]]:
    """Return ``[field, quote, nearest line]`` of each quote that a page does not have any more;
    the line is "" where none is like it."""
    source, pairs = "\n".join(lines), {line: _pairs(line) for line in lines if line.strip()}
    return [
        [field, quote, _nearest(quote, pairs)]
        for field, quotes in rests_on.items()
        for quote in quotes
        if locate(source, quote) is None
    ]


def _nearest(quote: str, lines: Mapping[str, set[str]]) -> str:
    wanted = _pairs(quote)

    def likeness(line: str) -> float:
        return len(wanted & lines[line]) / (len(wanted) + len(lines[line]) + 1)

    # To compare it with all of them would take too long under the lock.
    likely = heapq.nlargest(5, lines, key=likeness)
    return next(iter(difflib.get_close_matches(quote, likely, n=1, cutoff=0.4)), "")


def _pairs(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1)}


def _draft(page: WebPage, read: Page, model: Model | None) -> None:
    try:
        entry, details = drafting.draft(read, agency=page.agency, model=model)
    except ModelUnavailable as error:
        raise runs.RunFailed(_OUTAGE.format(str(error).rstrip("."))) from error
    if entry is None and Code.BUDGET_DAY.value in details["findings"]:
        raise runs.RunFailed(_SPENT)
    values: dict[str, Any] = {"is_due": False, "body": b""}
    tokens = details.pop("tokens", 0)
    if entry is None:
        values["problem"] = " ".join([NOT_PASSED, *details.pop("messages"), _AGAIN])
    else:
        values["draft"] = entry
    with transaction.atomic():
        is_newest = _locked(page)
        _save(page, tokens=page.tokens + tokens)
        if not is_newest:
            return
        if page.state == State.READ:  # somebody may have taken it meanwhile
            values["state"] = State.FAILED if entry is None else State.DRAFTED
        _save(page, **values)
        by = entry["by"] if entry else "model"
        kind = "webpages.failed" if entry is None else "webpages.drafted"
        _record(kind, page, by=by, **details)


def _save(page: WebPage, **values: Any) -> None:
    for name, value in values.items():
        setattr(page, name, value)
    page.save(update_fields=[*values])


def _record(kind: str, page: WebPage, **details: Any) -> None:
    payload = {"page": page.pk, "run": page.run_id, "address": page.address, **details}
    record_system(kind=kind, payload=payload, actor="system")


def _tell_owners(run: PageRun) -> None:
    """Write to the owners of entries whose pages have changed, or are gone."""
    pages = run.pages.filter(state__in=(State.CHANGED, State.GONE))
    reviews = ContentReview.objects.filter(entry__in=pages.values("entry"), owner__is_active=True)
    owners = {(r.table, r.entry): r.owner for r in reviews.exclude(owner__email="")}
    by_owner: dict[User, list[WebPage]] = defaultdict(list)
    for page in pages.only("table", "entry", "address", "state"):
        if owner := owners.get((page.table, page.entry)):
            by_owner[owner].append(page)
    with translation.override(settings.LANGUAGE_CODE):
        for owner, changed in by_owner.items():
            sentence = ngettext(
                "{number} web page no longer says what an entry of yours rests on:",
                "{number} web pages no longer say what entries of yours rest on:",
                len(changed),
            )
            lines = [
                f"{page.entry}: {page.address} ({page.get_state_display()})" for page in changed
            ]
            advice = gettext("Read each page, and put the entry right if need be.")
            address = f"{settings.IEIM_PUBLIC_URL}{reverse('webpages:pages')}?agency={run.agency}"
            parts = (sentence.format(number=len(changed)), "\n".join(lines), advice, address)
            with suppress(post.NotSent):  # until then the list says it
                post.send(subject=gettext("Web pages changed"), paragraphs=parts, to=[owner.email])
