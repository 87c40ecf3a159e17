"""The real processes, asked as a browser without JavaScript asks.

On SQLite that is one process; on PostgreSQL and Redis it is a server, a worker and beat.
"""

from __future__ import annotations

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.visitor import Visitor

pytestmark = pytest.mark.both_databases


def test_it_answers_a_question(live_site: str) -> None:
    turn = Visitor(live_site).ask("I want to extend my tourist visa")
    assert "Extend a tourist visa" in turn
    assert "https://immigration.example/visit/extend" in turn


@pytest.mark.parametrize("origin", ["https://evil.example.org", "https://[", "null", None])
def test_it_refuses_sockets_from_other_pages(live_site: str, origin: str | None) -> None:
    address = live_site.replace("http", "ws") + "/ws/chat/"
    with pytest.raises(InvalidStatus) as refused:
        connect(address, origin=Origin(origin) if origin else None)
    assert refused.value.response.status_code == 403


def test_it_takes_no_frame_that_is_larger_than_any_message(live_site: str) -> None:
    address = live_site.replace("http", "ws") + "/ws/chat/"
    with connect(address, origin=Origin(live_site)) as socket:
        socket.send("x" * 16_385)
        with pytest.raises(ConnectionClosed) as closed:
            list(socket)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
