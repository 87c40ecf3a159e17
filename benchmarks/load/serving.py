"""What the running site takes and answers: a server, workers, PostgreSQL and Redis, from outside.

Beside the rates stands the processor time of the server or of the workers, in milliseconds a
message: whoever else uses the machine changes it less.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx2
import redis
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from benchmarks.citizens import Citizen, Database
from tests.live import Site, process, site
from tests.services import free_port, wait_for_port

AT_ONCE = 8
TEXT = "How do I register a birth?"
TURNS = "turns"
"""The queue, which in Redis is a list of this name."""
READY_SECONDS = 60.0

Send = Callable[[], Awaitable[None]]
Way = Callable[[str, int], AbstractAsyncContextManager[Sequence[Send]]]
"""Prepares so many citizens at an address, each with a message to send."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Messages a second, and the processor's milliseconds for each."""

    a_second: float
    ms: float


def cpu(pids: Sequence[int]) -> float:
    """Return the processor seconds that processes have used, with all of their threads."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(field[11]) + int(field[12]) for field in fields) / os.sysconf("SC_CLK_TCK")


def taking(folder: Path, messages: int, rounds: int) -> dict[str, Rate]:
    """Return how fast messages are taken by each way, the best of some rounds that take turns."""
    fields: dict[str, list[Rate]] = {}
    with site(folder) as running, bare(running, folder) as (base, pid):
        running.kill_worker()  # what is queued stays so
        ways = {
            "bare consumer": (_bare, base, pid),
            "socket": (_socket, running.base_url, running.server_pid),
            "form": (_form, running.base_url, running.server_pid),
            "REST": (_rest, running.base_url, running.server_pid),
        }
        for _ in range(rounds + 1):
            for name, (way, url, server) in ways.items():
                rate = asyncio.run(_taken(way, url, server, messages))
                fields.setdefault(name, []).append(rate)
    # The first round warms up.
    return {name: _best(rates[1:]) for name, rates in fields.items()}


def _best(rates: Sequence[Rate]) -> Rate:
    return Rate(max(rate.a_second for rate in rates), min(rate.ms for rate in rates))


async def _taken(way: Way, url: str, server: int, messages: int) -> Rate:
    async with way(url, messages) as sends:
        waiting = iter(sends)

        async def citizen() -> None:
            for send in waiting:
                await send()

        used, started = cpu([server]), time.perf_counter()
        await asyncio.gather(*(citizen() for _ in range(AT_ONCE)))
        seconds, used = time.perf_counter() - started, cpu([server]) - used
    return Rate(messages / seconds, used * 1000 / messages)


@contextmanager
def bare(running: Site, folder: Path) -> Iterator[tuple[str, int]]:
    """Serve the bare consumer on the site's database; yields its address and process."""
    environment = {**running.environment}
    make = "import benchmarks.load.bare as bare; bare.create()"
    subprocess.run([sys.executable, "-c", make], env=environment, check=True)
    port = free_port()
    command = f"uvicorn benchmarks.load.bare:application --port {port} --loop uvloop"
    command += " --http httptools --ws websockets-sansio --ws-per-message-deflate false"
    command += " --no-access-log --lifespan off"
    with process(command.split(), environment, folder / "bare.log") as server:
        wait_for_port(port, server)
        yield f"http://127.0.0.1:{port}", server.pid


@asynccontextmanager
async def _sockets(
    url: str, paths: Sequence[tuple[str, dict[str, str]]]
) -> AsyncIterator[list[ClientConnection]]:
    address = url.replace("http", "ws", 1)
    opened: list[ClientConnection] = []
    try:
        for path, headers in paths:
            opened.append(
                await connect(
                    f"{address}{path}",
                    additional_headers=headers,
                    origin=Origin(url),
                    compression=None,
                )
            )
        yield opened
    finally:
        await asyncio.gather(*(socket.close() for socket in opened))


@asynccontextmanager
async def _bare(url: str, messages: int) -> AsyncIterator[Sequence[Send]]:
    async with _sockets(url, [("/", {})] * messages) as opened:

        def send(socket: ClientConnection) -> Send:
            async def sending() -> None:
                await socket.send(json.dumps({"text": TEXT}))
                await socket.recv()

            return sending

        yield [send(socket) for socket in opened]


@asynccontextmanager
async def _socket(url: str, messages: int) -> AsyncIterator[Sequence[Send]]:
    cookies = []
    async with httpx2.AsyncClient(base_url=url) as client:
        for _ in range(messages):
            cookies.append(_cookies(await client.get("/")))
            client.cookies.clear()
    paths = [("/ws/chat/", {"Cookie": cookie}) for cookie in cookies]
    async with _sockets(url, paths) as opened:

        def send(socket: ClientConnection) -> Send:
            async def sending() -> None:
                await socket.send(json.dumps({"text": TEXT}))
                while 'id="turn-' not in str(await socket.recv()):
                    pass

            return sending

        yield [send(socket) for socket in opened]


def _cookies(response: httpx2.Response) -> str:
    return "; ".join(f"{name}={value}" for name, value in response.cookies.items())


@asynccontextmanager
async def _form(url: str, messages: int) -> AsyncIterator[Sequence[Send]]:
    pages = []
    async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
        for _ in range(messages):
            page = await client.get("/")
            token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', page.text)
            assert token is not None
            pages.append((_cookies(page), token[1]))
            client.cookies.clear()

        def send(cookie: str, token: str) -> Send:
            async def sending() -> None:
                form = {"text": TEXT, "csrfmiddlewaretoken": token}
                answer = await client.post("/ask/", data=form, headers={"Cookie": cookie})
                client.cookies.clear()
                assert answer.status_code == 303, answer.status_code

            return sending

        yield [send(cookie, token) for cookie, token in pages]


@asynccontextmanager
async def _rest(url: str, messages: int) -> AsyncIterator[Sequence[Send]]:
    async with httpx2.AsyncClient(base_url=f"{url}/api/v1", timeout=60) as client:
        made = [(await client.post("/sessions/", json={})).json() for _ in range(messages)]

        def send(session: dict[str, str]) -> Send:
            async def sending() -> None:
                path = f"/sessions/{session['id']}/turns/"
                headers = {"Authorization": f"Bearer {session['token']}"}
                answer = await client.post(path, json={"text": TEXT}, headers=headers)
                assert answer.status_code == 202, answer.status_code

            return sending

        yield [send(session) for session in made]


def answering(folder: Path, turns: int, rounds: int) -> dict[int, Rate]:
    """Return how fast one worker and two answer turns that are queued already, the best of some
    rounds that take turns."""
    fields: dict[int, list[Rate]] = {1: [], 2: []}
    with site(folder) as running:
        running.kill_worker()
        for _ in range(rounds):
            for workers, rates in fields.items():
                rates.append(_answered(running, folder, turns, workers))
    return {workers: _best(rates) for workers, rates in fields.items()}


def _answered(running: Site, folder: Path, turns: int, workers: int) -> Rate:
    broker = redis.Redis.from_url(running.environment["REDIS_URL"])
    broker.delete(TURNS)
    for _ in range(turns):
        Citizen(running.base_url).ask(TEXT)
    broker.rename(TURNS, "kept back")
    command = "celery -A ieim.config worker --pool threads --loglevel INFO -n"
    with ExitStack() as stack:
        pids = []
        for number in range(workers):
            log = folder / f"worker{number}.log"
            arguments = [*command.split(), f"w{number}@bench"]
            pids.append(stack.enter_context(process(arguments, running.environment, log)).pid)
            _wait(partial(_is_ready, log))
        used, started = cpu(pids), time.time()
        broker.rename("kept back", TURNS)
        database = Database(running)
        _wait(lambda: not {"queued", "running"} & database.states().keys())
        used = cpu(pids) - used
    last = "SELECT extract(epoch FROM max(updated_at)) FROM conversations_turn"
    ((ended,),) = database.rows(last)
    return Rate(turns / (float(ended) - started), used * 1000 / turns)


def _is_ready(log: Path) -> bool:
    return " ready." in log.read_text(encoding="utf-8")


def _wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_SECONDS * 3
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError("The workers have not done it in three minutes.")
        time.sleep(0.1)
