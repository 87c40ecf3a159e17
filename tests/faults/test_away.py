"""Redis or the database is away: what was sent is kept, people are told, logs stay short."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg_pool import PoolTimeout

from ieim.config import outage
from tests import services
from tests.fixtures import VISA
from tests.live import Site, site
from tests.model_server import scripted_model

PATIENCE = 60.0

pytestmark = [pytest.mark.postgres, pytest.mark.processes]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


class World:
    """A site with a database and a Redis of its own, which can be taken away."""

    def __init__(self, stack: ExitStack, monkeypatch: pytest.MonkeyPatch, **extra: str) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ieim-")))
        folder.chmod(0o755)  # PostgreSQL's user has to get to its own folder in it
        self._folder = folder
        self.database, self.redis = ExitStack(), ExitStack()
        stack.enter_context(self.database)
        stack.enter_context(self.redis)
        url = self.database.enter_context(services.postgres(folder))
        self._database_port = int(url.rpartition(":")[2].partition("/")[0])
        self._redis_url = self.redis.enter_context(services.redis(folder))
        monkeypatch.setenv("DATABASE_URL", url)
        monkeypatch.setenv("REDIS_URL", self._redis_url)
        self.site: Site = stack.enter_context(site(folder, **extra))
        self.client = httpx2.Client(base_url=self.site.base_url, timeout=30)
        made = self.client.post("/api/v1/sessions/", json={}).json()
        self.session = f"/api/v1/sessions/{made['id']}/"
        self.client.headers["Authorization"] = f"Bearer {made['token']}"
        self._stack = stack

    def ask(self, text: str) -> httpx2.Response:
        return self.client.post(f"{self.session}turns/", json={"text": text})

    def state(self) -> str:
        return str(self.client.get(self.session).json()["turns"][-1]["state"])

    def ready(self) -> dict[str, str]:
        """What is not ready, by name; the probe needs no host that the site knows."""
        response = self.client.get("/readyz", headers={"Host": "10.0.0.7"})
        checks: dict[str, str] = response.json()["checks"]
        wrong = {name: result for name, result in checks.items() if result != "ok"}
        assert response.status_code == (503 if wrong else 200)
        return wrong

    def start_database_again(self) -> None:
        self._stack.enter_context(services.postgres(self._folder, self._database_port))

    def start_redis_again(self) -> None:
        port = self._redis_url.rpartition(":")[2].partition("/")[0]
        command = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--databases", "5000"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self._folder)]
        again = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self._stack.callback(again.kill)
        services.wait_for_port(int(port), again)

    def log(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        return [
            line
            for name in ("server.log", "worker.log")
            for line in (self._folder / name).read_text(encoding="utf-8").splitlines()
        ]


@pytest.fixture
def world(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(stack, monkeypatch)


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll until ``condition`` holds; the interval only keeps the processor free for the others."""
    deadline, pause = time.monotonic() + PATIENCE, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        pause.wait(0.2)


def test_a_message_is_taken_while_redis_is_away_and_answered_when_it_is_back(world: World) -> None:
    wait_until(lambda: not world.ready())
    world.redis.close()
    wait_until(lambda: world.ready().keys() >= {"redis", "worker", "beat"})
    sent = world.ask(VISA)
    assert (sent.status_code, sent.json()["state"]) == (202, "queued")
    assert world.client.get("/").status_code == 200
    world.start_redis_again()
    wait_until(lambda: world.state() == "answered")
    assert "Traceback" not in world.log(), world.log()


def test_a_worker_outlives_a_redis_that_goes_while_it_works(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = threading.Event()
    _, server = stack.enter_context(scripted_model({"service_select_v1": [answer] * 2}))
    stack.callback(answer.set)
    model = {"IEIM_MODEL_BASE_URL": server.base_url, "IEIM_MODEL_NAME": "scripted"}
    world = World(stack, monkeypatch, **model)
    worker = world.site.worker_pid
    wait_until(lambda: not world.ready())
    world.ask(VISA)
    wait_until(lambda: world.state() == "running")
    world.redis.close()
    # Where Redis is back before the worker has seen it go, there is nothing to outlive.
    wait_until(lambda: "The consumer failed and is started again" in world.log())
    world.start_redis_again()
    answer.set()
    wait_until(lambda: world.state() == "answered")
    world.ask(VISA)
    wait_until(lambda: world.state() == "answered")
    assert Path(f"/proc/{worker}/stat").read_text().split()[2] != "Z"
    assert "Traceback" not in world.log(), world.log()


def test_a_database_that_is_away_is_told_at_once_and_in_a_line_a_minute(world: World) -> None:
    wait_until(lambda: world.ask(VISA).status_code == 202)
    before = len(world.lines())
    world.database.close()
    for place, kind in (("/", "text/html"), (world.session, "application/problem+json")) * 10:
        began = time.monotonic()
        response = world.client.get(place)
        # Half a second would do; the machine may be busy with other tests.
        assert time.monotonic() - began < 5
        assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
        assert response.headers["Content-Type"].startswith(kind)
    assert world.client.get("/livez").status_code == 200
    wait_until(lambda: world.ready().keys() >= {"database"})
    result = world.lines()[before:]
    assert not [line for line in result if line.startswith("Traceback")]
    assert len(result) < 15
    german = world.client.get("/", headers={"Accept-Language": "de"}).text
    assert '<html class="govuk-template" lang="de"' in german
    assert "Noch einmal versuchen" in german
    world.start_database_again()
    wait_until(lambda: world.client.get("/").status_code == 200 and not world.ready())
    assert world.ask(VISA).status_code == 202


def test_a_database_that_is_only_busy_is_waited_for(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ieim-")))
    folder.chmod(0o755)
    options = {"pool": {"min_size": 1, "max_size": 1, "timeout": 10}}
    database = ExitStack()
    stack.enter_context(database)
    url = urlsplit(database.enter_context(services.postgres(folder)))
    wrapper = DatabaseWrapper(
        {**connection.settings_dict, "NAME": "ieim", "USER": "postgres", "HOST": url.hostname}
        | {"PORT": url.port, "OPTIONS": options},
        alias="busy",
    )
    stack.callback(wrapper.close_pool)
    monkeypatch.setattr(outage, "connection", wrapper)
    wrapper.pool.open()
    monkeypatch.setattr(outage, "SLOW", 0.1)
    monkeypatch.setattr(outage, "PING_VALID", 0.0)
    outage.limit_waits_for_database()
    result = wrapper.pool.getconn()
    threading.Timer(0.3, wrapper.pool.putconn, [result]).start()
    assert wrapper.pool.getconn() is result
    database.close()
    with pytest.raises(PoolTimeout):
        wrapper.pool.getconn()
