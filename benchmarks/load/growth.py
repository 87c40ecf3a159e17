"""What a longer history costs: the same requests over ever more turns, on PostgreSQL."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import log
from typing import Any

from django.db import connection, transaction
from django.test import Client

from benchmarks.load import filling
from conversations import sweeper
from conversations.mail import sending
from conversations.models import Session
from conversations.turns import running, services
from ieim.audit.services import record
from ieim.people.models import User
from review.models import ReviewItem
from review.queue.selectors import encode

ROUNDS = 7
NOISE = 1.2
"""How much more than the logarithm the pages may grow before their plans are shown, and times twice
that: others use the machine too."""
FEW = 50
"""Pages that nobody notices."""
Work = Callable[[], object]


@dataclass
class Cost:
    """What one thing costs: milliseconds (the least of some rounds), queries, and the database's
    pages of 8 KiB that its reading queries look at, which no other load on the machine changes.

    ``plans`` are those of its three dearest queries.
    """

    ms: float
    queries: int
    pages: int
    plans: list[str] = field(default_factory=list)


def measure(sizes: Sequence[int]) -> dict[int, dict[str, Cost]]:
    """Return what each thing costs at each size, in turns."""
    filling.prepare()
    result, before = {}, filling.PATTERN
    for size in sizes:
        started = time.perf_counter()
        filling.grow(before, size)
        before = size
        print(f"  {size:,} turns in {time.perf_counter() - started:.0f} s", flush=True)
        result[size] = {what: _cost(work) for what, work in _works().items()}
    return result


def _works() -> dict[str, Work]:
    supervisor, admin = _browser("supervisor"), _browser("admin")

    def page(address: str, client: Client = supervisor) -> Work:
        def load() -> None:
            assert client.get(address).status_code in (200, 204), address

        return load

    open_items = ReviewItem.objects.filter(state="open")
    middle = open_items.order_by("rank", "due_at", "pk")[open_items.count() // 2]
    after = encode((middle.rank, middle.due_at, middle.pk))
    news = re.search(r'hx-get="([^"]*changes[^"]+)"', supervisor.get("/review/").content.decode())
    assert news is not None
    session = Session.objects.order_by("pk")[0].pk
    reference = middle.turn.session.reference
    secret = services.new_secret()
    services.receive(session=secret, text="I want to extend my tourist visa", enqueue=False)
    citizen = Client()
    citizen.get(f"/c/{secret}/")

    def append() -> None:
        with transaction.atomic():
            record(chain=session, kind="bench.event", payload={"n": 1}, actor="system")

    def receive() -> Any:
        text, own = "How do I register a birth?", services.new_secret()
        return services.receive(session=own, text=text, enqueue=False)[0].pk

    return {
        "queue": page("/review/"),
        "queue, a page in the middle": page(f"/review/?after={after}"),
        "queue, news of an open page": page(news[1].replace("&amp;", "&")),
        "queue, done": page("/review/?tab=done"),
        "queue, one agency": page("/review/?agency=immigration"),
        "item": page(f"/review/{middle.pk}/"),
        "search, a common word": page("/review/?q=passport"),
        "search, a rare word": page("/review/?q=copy7"),
        "search, a word in one of fifty": page("/review/?q=some7"),
        "search, the same among those done": page("/review/?tab=done&q=some7"),
        "search, no such word": page("/review/?q=zzz"),
        "search, a reference": page(f"/review/?q={reference}"),
        "metrics of a week": page("/review/metrics/?days=7"),
        "feedback": page("/review/feedback/"),
        "audit, the last events": page("/audit/", admin),
        "audit, who read items": page("/audit/?kind=review.read", admin),
        "audit, one conversation": page(f"/audit/{middle.turn.session_id}/", admin),
        "audit, append": append,
        "recall, one service": page("/knowledge/recall/", admin),
        "chat page": page("/", citizen),
        "sweeper": sweeper.sweep,
        "sweeper of mail": sending.sweep,
        "a message is taken": receive,
        "a turn is run": lambda: running.run_turn(turn_id=receive()),
    }


def _browser(username: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=username))
    return client


@contextmanager
def watching() -> Iterator[list[tuple[str, Any, float]]]:
    """Gather statements, their parameters and seconds; of this thread, whatever connection it
    has."""
    seen: list[tuple[str, Any, float]] = []

    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            seen.append((sql, params, time.perf_counter() - started))

    with connection.execute_wrapper(wrapper):
        yield seen


def _cost(work: Work) -> Cost:
    work()  # warm
    with watching() as seen:
        work()
    plans = sorted((_plan(sql, params) for sql, params, _ in seen), key=lambda each: -each[0])
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    texts = [text for _, text in plans[:3] if text]
    return Cost(round(min(times), 1), len(seen), sum(pages for pages, _ in plans), texts)


def _plan(sql: str, params: Any) -> tuple[int, str]:
    """Return the pages that a reading statement looks at and its plan; nothing for any other."""
    if not sql.startswith("SELECT") or "FOR UPDATE" in sql or "FOR NO KEY" in sql:
        return 0, ""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {sql}", params)
        lines = [line for (line,) in cursor.fetchall()]
    counted = next((line for line in lines if "Buffers: shared" in line), "")
    pages = sum(map(int, re.findall(r"(?:hit|read)=(\d+)", counted)))
    return pages, "\n".join([sql[:300], *lines])


def growth_of(found: Mapping[int, Mapping[str, Cost]], what: str) -> float:
    """Return how many times as many pages something reads at the largest size as at the smallest;
    the first fifty count as noise."""
    small, large = (found[size][what] for size in (min(found), max(found)))
    return max(large.pages, FEW) / max(small.pages, FEW)


def grown(found: Mapping[int, Mapping[str, Cost]]) -> Iterator[str]:
    """Yield what grows faster than the logarithm of the number of turns, in pages or in time."""
    small, large = min(found), max(found)
    most = log(large) / log(small) * NOISE
    for what, cost in found[large].items():
        if growth_of(found, what) > most or cost.ms > (found[small][what].ms + 5) * most * 2:
            yield what
