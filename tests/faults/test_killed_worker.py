"""A worker is killed in the middle of a turn: nothing is lost, nothing asked or said twice."""

from __future__ import annotations

import re
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from ieim.pipeline.topology import ANSWERING
from tests.fixtures import VISA
from tests.live import site
from tests.model_server import scripted_model
from tests.selection import sample

PATIENCE = 60.0


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll until ``condition`` holds; the interval only keeps the processor free for the others."""
    deadline = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        pause.wait(0.1)


class Citizen:
    """A browser without JavaScript."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar()), urllib.request.ProxyHandler({})
        )

    def page(self) -> str:
        with self.opener.open(f"{self.base_url}/") as response:
            return str(response.read().decode())

    def ask(self, text: str) -> None:
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', self.page())
        assert token
        form = {"text": text, "csrfmiddlewaretoken": token[1]}
        body = urllib.parse.urlencode(form).encode()
        self.opener.open(f"{self.base_url}/ask/", body).close()


@pytest.mark.processes
@pytest.mark.parametrize(
    ("ahead", "stage"), sample([("true", "service_select_v1"), ("false", "category_select_v1")])
)
def test_it_finishes_the_turn_of_a_killed_worker(tmp_path: Path, ahead: str, stage: str) -> None:
    never = threading.Event()
    with scripted_model({stage: [never]}) as (_, model):
        environment = {
            "IEIM_MODEL_BASE_URL": model.base_url,
            "IEIM_MODEL_NAME": "scripted",
            "IEIM_MODEL_AHEAD": ahead,
        }
        with site(tmp_path, **environment) as running:
            citizen = Citizen(running.base_url)
            citizen.ask(VISA)
            wait_until(lambda: (stage, 1) in model.asked)
            running.kill_worker()
            never.set()
            running.start_again()
            wait_until(lambda: "What to do first" in citizen.page())
    contracts = [contract for contract, _ in model.asked if contract in ANSWERING]
    once = ["judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"]
    assert sorted(contracts) == sorted([*once, stage])
