"""What a large catalogue costs: 10,000 services, edited, published, loaded and searched.

    python benchmarks/bench_knowledge.py [--services N] [--json]
    python -m tests.services .venv/bin/python benchmarks/bench_knowledge.py      # on PostgreSQL

Everything is measured twice in the same run: over the demo knowledge and over N services made from
it. The factor beside a figure is how much more the large one takes; the catalogue is about a
hundred times as large. Pages go through the whole of Django; memory is the resident size of a fresh
process that has loaded a release and its index, above one that has only started.

What a publication costs those who ask meanwhile is measured over N services: for ten seconds turns
come one after another, and the longest wait of one for its release counts; once in a process that
makes the new release ready beside them, as a server does, and once in one that does not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

import django

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
django.setup()

from django.db import connection
from django.test import Client

from ieim.config import demo
from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.knowledge.following import Follower
from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.pipeline.knowledge import Service as ReleaseService
from ieim.pipeline.ports import Query
from ieim.search import Search, index_for
from ieim.studio.checks import services as checks
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts import publishing, services
from ieim.studio.models import Service
from ieim.studio.proposals import services as proposals

DEMO = ROOT / "ieim" / "knowledge" / "demo"
ROUNDS = 9
ASKING = 10.0
"""Seconds after a publication in which turns come."""
PAGES = {
    "admin: services": "/admin/studio/service/",
    "admin: search services": "/admin/studio/service/?q=visa",
    "draft: services": "/knowledge/services/",
    "draft: search services": "/knowledge/services/?q=visa",
    "release: services": "/knowledge/releases/{number}/",
    "release: search services": "/knowledge/releases/{number}/?q=visa",
    "API: services": "/api/v1/knowledge/services/",
    "API: search services": "/api/v1/knowledge/services/?q=visa",
}
AIMS = {"publish": 20.0, "shortlist": 0.005, **dict.fromkeys(PAGES, 0.1)}
"""Seconds."""
MEMORY = """
import os, sys
import django
django.setup()
from django.db import connection
if sys.argv[1]:
    connection.settings_dict["NAME"] = sys.argv[1]
    from ieim.knowledge import selectors
    from ieim.search import index_for
    index_for(selectors.current_release())
else:
    import ieim.search, ieim.knowledge.selectors
print(int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
"""


def catalogue(size: int) -> Release:
    """The demo's services and shuffled copies of them, ``size`` in all, the same every time."""
    demo = read_bundle(DEMO)
    chance = random.Random(size)  # noqa: S311 - no secret
    vocabulary = [word for service in demo.services for word in service.overview.split()]
    services = list(demo.services)
    while len(services) < size:
        original = demo.services[len(services) % len(demo.services)]
        key = f"copy-{len(services)}"
        services.append(_copy(original, key, vocabulary, chance))
    whole = Bundle(demo.agencies, demo.dictionary, tuple(services), demo.labels, own_labels=True)
    return whole.release()


def _copy(
    service: ReleaseService, key: str, vocabulary: list[str], chance: random.Random
) -> ReleaseService:
    def shuffled(text: str) -> str:
        words = [w if chance.random() < 0.5 else chance.choice(vocabulary) for w in text.split()]
        chance.shuffle(words)
        return " ".join(words)

    return replace(
        service,
        key=key,
        name=shuffled(service.name),
        overview=shuffled(service.overview),
        applicability_summary=shuffled(service.applicability_summary),
        requirements=tuple(map(shuffled, service.requirements)),
        how_to_apply=tuple(map(shuffled, service.how_to_apply)),
    )


def questions() -> list[str]:
    """The demo's golden questions."""
    lines = (DEMO / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def memory(database: str) -> float:
    """MiB of a fresh process; with ``database`` it has loaded the current release and its index."""
    command = [sys.executable, "-c", MEMORY, database]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout) / 2**20


def measure(bundle: Bundle, people: tuple[User, User]) -> dict[str, float]:
    """Take a bundle through import, proposal and publication, and ask every page."""
    fields = {"import": seconds(lambda: services.import_bundle(bundle=bundle, by=None))}
    made: list[Any] = []
    fields["checks: first look"] = seconds(lambda: checks.checked_draft(drafts.draft()))
    fields["checks: all of them"] = fields["checks: first look"] + seconds(_check)
    fields["propose"] = seconds(
        lambda: made.append(proposals.propose(note="Benchmark", by=people[0]))
    )
    fields["publish"] = seconds(
        lambda: proposals.publish_proposal(proposal_id=made[0].pk, by=people[1])
    )
    fields["load a release"] = seconds(selectors.current_release)
    release = selectors.current_release()
    assert release is not None
    indexes: list[Search] = []
    fields["build its index"] = seconds(lambda: indexes.append(Search(release)))
    result = questions()
    fields["shortlist"] = median(seconds(partial(indexes[0].rank, Query(text))) for text in result)
    client = Client(headers={"Host": "127.0.0.1"})
    client.force_login(people[0])
    for name, address in PAGES.items():
        path = address.format(number=release.number)
        times = [seconds(partial(_read, client, path)) for _ in range(ROUNDS)]
        fields[name] = median(times)
    return fields


def _check() -> None:
    """Do every check of the draft, also those that a worker does of a large one."""
    run = checks.checked_draft(drafts.draft()).run
    if run is not None:
        checks.run_checks(run_id=run.pk)


def longest_wait(*, following: bool) -> tuple[float, float]:
    """Publish, and let turns come; return how long the slowest of them waited for its release, and
    how long after the publication the first one had the new one, in seconds."""
    follower = Follower()
    if following:
        follower.step()
        follower.start(trains=True)
    Service.objects.filter(pk=Service.objects.earliest("pk").pk).update(fees=str(uuid.uuid4()))
    published = publishing.publish(note="Benchmark", by=None).number
    started = time.monotonic()
    longest, swapped = 0.0, 0.0
    while not swapped or time.monotonic() - started < ASKING:
        result = time.perf_counter()
        number = follower.number()
        assert number is not None
        index_for(selectors.release(number))
        longest = max(longest, time.perf_counter() - result)
        if number == published and not swapped:
            swapped = time.monotonic() - started
        time.sleep(0.01)
    follower.stop()
    return longest, swapped


def _read(client: Client, path: str) -> None:
    response = client.get(path)
    if response.status_code != 200:
        raise SystemExit(f"{path} answered {response.status_code}")


def main() -> None:
    """Measure both catalogues and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--services", type=int, default=10_000, metavar="N")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if connection.vendor == "sqlite":
            connection.settings_dict["TEST"]["NAME"] = str(Path(folder) / "bench.sqlite3")
        old = connection.creation.create_test_db(verbosity=0)
        try:
            demo.create_accounts()
            people = User.objects.get(username="editor"), User.objects.get(username="publisher")
            small = measure(read_bundle(DEMO), people)
            bare = memory("")
            small["memory of a process"] = memory(str(connection.settings_dict["NAME"])) - bare
            large_bundle = Bundle.from_content(_content(options.services))
            large = measure(large_bundle, people)
            large["memory of a process"] = memory(str(connection.settings_dict["NAME"])) - bare
            index_for(cast(Release, selectors.current_release()))
            unfollowed, _ = longest_wait(following=False)
            wait, swapped = longest_wait(following=True)
        finally:
            connection.creation.destroy_test_db(old, verbosity=0)
    if options.json:
        fields = {"demo": small, "large": large, "bare_mib": bare}
        print(json.dumps({**fields, "wait": wait, "unfollowed": unfollowed, "swap": swapped}))
        return
    print(f"{'':28}{'demo':>12}{f'{options.services:,}':>12}{'factor':>9}   aim")
    for name, value in large.items():
        unit, scale = ("MiB", 1.0) if name.startswith("memory") else ("ms", 1e3)
        aim = f"{AIMS[name] * 1e3:g} ms" if name in AIMS else ""
        print(
            f"{name:28}{small[name] * scale:9.1f} {unit:2}{value * scale:9.1f} {unit:2}"
            f"{value / small[name]:8.0f}x   {aim}"
        )
    print(f"A process that has only started: {bare:.0f} MiB.")
    print(
        f"After a publication a turn waits for its release {wait * 1e3:.0f} ms at most, and gets "
        f"the new one from {swapped:.1f} s on. Read when the first turn needs it, as a baseline: "
        f"{unfollowed * 1e3:.0f} ms, {unfollowed / wait:.0f} times as long."
    )


def _content(size: int) -> dict[str, list[dict[str, Any]]]:
    release = catalogue(size)
    whole = read_bundle(DEMO)
    large = Bundle(
        whole.agencies, whole.dictionary, tuple(release.services.values()), whole.labels, True
    )
    return large.content


if __name__ == "__main__":
    main()
