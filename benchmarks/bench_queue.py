"""What a page of the review queue costs in server time, with many open items.

    python benchmarks/bench_queue.py [--items N] [--json]
    python -m tests.services .venv/bin/python benchmarks/bench_queue.py      # on PostgreSQL

Every address is asked through the whole of Django (middleware, views, templates): the median and
the slowest of the rounds, and the number of queries. Uses a fresh test database of the configured
kind (``DATABASE_URL``), removed afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from statistics import median
from uuid import uuid4

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
django.setup()

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.models import Session, Stage, Turn
from ieim.config import demo
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import read_bundle
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from ieim.pipeline.findings import Code
from ieim.studio.drafts import publishing
from ieim.studio.drafts import services as knowledge_services
from ieim.studio.labels import STAGES
from review import due, scope
from review.models import AgencySet, ItemFlag, ReviewItem, SearchText
from review.queue import fulltext
from review.queue.selectors import encode

ROUNDS = 15
BATCH = 2_000
SEED = 7
COMMON, RARE = "licence", "xylophone"
RARE_FLAG = "minor_at_risk"
RARE_AGENCY = "business"
CRISES = 0.0002
TEXT = (
    "my passport was stolen and I do not know which office gives me a new one before I travel "
    "how much does it cost to register a birth can I pay the fine in parts where is the form for "
    "housing support tomorrow visa extension tax return school place garden waste dog"
)
WORDS = TEXT.split()


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000, help="open items (default 100,000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    settings.ALLOWED_HOSTS = ["testserver"]

    with tempfile.TemporaryDirectory() as folder:
        name = connection.settings_dict["NAME"]
        if connection.vendor == "sqlite":
            connection.settings_dict["TEST"]["NAME"] = str(Path(folder) / "bench.sqlite3")
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
        try:
            fill(options.items)
            result = dict(measure(options.items))
        finally:
            connection.creation.destroy_test_db(str(name), verbosity=0)
    if options.json:
        print(json.dumps({"database": connection.vendor, "items": options.items, **result}))
        return
    print(f"{connection.vendor}, {options.items:,} open items; milliseconds of {ROUNDS} rounds")
    for what, figures in result.items():
        print(
            f"  {what:34} median {figures['median']:6.1f}  slowest {figures['slowest']:6.1f}"
            f"  {figures['queries']:2.0f} queries"
        )


def fill(items: int) -> None:
    """Store ``items`` open items, a tenth as many claimed and decided ones, and the staff."""
    knowledge_services.import_bundle(
        bundle=read_bundle(Path(settings.BASE_DIR) / "ieim" / "knowledge" / "demo"), by=None
    )
    publishing.publish(note="demo", by=None)
    demo.create_accounts()
    chance = random.Random(SEED)  # noqa: S311 - figures, no secrets
    states = [("open", items), ("claimed", items // 10), ("second_opinion", items // 100)]
    for state, number in [*states, ("decided", items // 5)]:
        for start in range(0, number, BATCH):
            with transaction.atomic():
                _store(state, min(BATCH, number - start), chance)
    with connection.cursor() as cursor:
        # What PostgreSQL's autovacuum does by itself after a while.
        cursor.execute("ANALYZE" if connection.vendor == "postgresql" else "PRAGMA optimize")


def _store(state: str, number: int, chance: random.Random) -> None:
    now, release = timezone.now(), knowledge.current_release()
    assert release is not None
    agencies = [agency for agency in release.agencies if agency != RARE_AGENCY]
    urgencies = [*release.labels["urgencies"]]
    holder = User.objects.get(username="caseworker") if state == "claimed" else None
    sessions, turns, stages, items, flags = [], [], [], [], []
    for _ in range(number):
        key = uuid4()
        session = Session(id=key, reference=key.hex[:12], secret_sha256=key.hex * 2)
        text = " ".join(chance.choices(WORDS, k=40))
        text += f" {COMMON}" if chance.random() < 0.5 else ""
        text += f" {RARE}" if chance.random() < 0.0002 else ""
        turn = Turn(session=session, number=1, text=text, release_number=1, queued_at=now)
        result = chance.sample(agencies, k=chance.choices([0, 1, 2], weights=[30, 60, 10])[0])
        # One office has hardly anything to do, and its staff look at the same queue.
        result += [RARE_AGENCY] if chance.random() < 0.0002 else []
        merge = {"agency_detect_v1": {"agencyDetected": result}}
        stages.append(
            Stage(turn=turn, contract="agency_detect_v1", order=2, status="passed",
                  output={}, state_merge=merge)
        )  # fmt: skip
        reason = chance.choice([code.value for code in Code])
        urgency = chance.choice(urgencies)
        crisis = chance.random() < CRISES
        item = ReviewItem(
            turn=turn,
            stage=chance.choice([*STAGES]),
            state=state,
            reasons=[reason],
            reason=reason,
            agency=result[0] if len(result) == 1 else "",
            agencies=_set_of(tuple(sorted(result))),
            urgency=urgency,
            rank=due.rank(
                urgency=urgency,
                crisis=crisis,
                sign=False,
                urgencies=release.labels["urgencies"],
            ),
            language=chance.choices(["en", "de", "is"], weights=[90, 10, 0.01])[0],
            claimed_by=holder,
            claimed_until=now + timedelta(hours=1) if holder else None,
            due_at=now + timedelta(seconds=chance.randint(-50_000, 500_000)),
            decided_at=now - timedelta(seconds=chance.randint(0, 10**6))
            if state == "decided"
            else None,
        )
        if chance.random() < 0.1:
            flags.append(ItemFlag(item=item, code="fraud"))
        if chance.random() < 0.0002:
            flags.append(ItemFlag(item=item, code=RARE_FLAG))
        sessions.append(session)
        turns.append(turn)
        items.append(item)
    Session.objects.bulk_create(sessions)
    Turn.objects.bulk_create(turns)
    Stage.objects.bulk_create(stages)
    ReviewItem.objects.bulk_create(items)
    SearchText.objects.bulk_create(
        SearchText(item=item, words=fulltext.searched(item.turn.text)) for item in items
    )
    ItemFlag.objects.bulk_create(flags)


@cache
def _set_of(ids: tuple[str, ...]) -> AgencySet | None:
    return scope.agency_set(ids)


def measure(items: int) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield milliseconds and queries by what is asked for."""
    supervisor, colleague = _browser("supervisor"), _browser("colleague")
    middle = ReviewItem.objects.filter(state="open")[items // 2]
    deep = encode((middle.rank, middle.due_at, middle.pk))
    reference = "K7M-4QX9"
    Session.objects.filter(pk=middle.turn.session_id).update(reference=reference)
    fields = {
        "first page": "",
        "a page in the middle": f"after={deep}",
        "the page before that": f"before={deep}",
        "one agency": "agency=immigration",
        "one stage and reason": "stage=reply&reason=schema",
        "a common flag": "flag=fraud",
        "a rare flag": f"flag={RARE_FLAG}",
        "a rare language": "language=is",
        "overdue, urgent, one agency": "overdue=1&urgency=high&agency=passports",
        "waiting for over a week": "age=week",
        "nothing fits": "agency=none&stage=classify",
        "search: a word in half of all": f"q={COMMON}",
        "search: a rare word": f"q={RARE}",
        "search: two words": f"q={COMMON}+passport",
        "search: no such word": "q=zzz",
        "search and filters": f"q={COMMON}&agency=housing&urgency=high",
        "open, with what colleagues have": "held=1",
        "a reference": f"q={reference}",
        "mine": "tab=mine",
        "second opinion": "tab=second",
        "done": "tab=done",
        "done, one agency": "tab=done&agency=housing",
    }
    for what, query in fields.items():
        yield what, _time(supervisor, f"/review/?{query}")
    yield "first page, one agency's staff", _time(colleague, "/review/")
    for what, role, agency in (
        ("first page, an idle agency's staff", Role.CASEWORKER, RARE_AGENCY),
        ("first page, its supervisor", Role.SUPERVISOR, RARE_AGENCY),
        ("first page, staff of no agency", Role.CASEWORKER, ""),
    ):
        yield what, _time(_staff(role, agency), "/review/")
    page = supervisor.get("/review/").content.decode()
    news = re.search(r'hx-get="([^"]*changes[^"]+)"', page)
    assert news is not None
    yield "news of an open page", _time(supervisor, news[1].replace("&amp;", "&"))


def _staff(role: Role, agency: str) -> Client:
    user = User.objects.create_user(f"{role}-{agency}", is_staff=True)
    user.groups.add(Group.objects.get(name=role.value))
    if agency:
        AgencyScope.objects.create(user=user, agency=agency)
    return _browser(user.username)


def _browser(username: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=username))
    return client


def _time(client: Client, address: str) -> Mapping[str, float]:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code in (200, 204)
        queries = len(captured)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        client.get(address)
        times.append((time.perf_counter() - start) * 1000)
    return {
        "median": round(median(times), 1),
        "slowest": round(max(times), 1),
        "queries": queries,
    }


if __name__ == "__main__":
    main()
