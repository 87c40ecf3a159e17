"""The embedders: the embedded model, a server's, and what is done when one fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from ieim.pipeline.ports import Embedder, EmbedderUnavailable, Matrix
from ieim.search import embedders
from ieim.search.breaker import OPEN_SECONDS
from ieim.search.embedders import (
    BATCH,
    CheckedEmbedder,
    EmbeddedEmbedder,
    OpenAIEmbedder,
    build_embedder,
)
from tests.embedders import Ideas
from tests.llm.raw_server import Misbehaviour, http, raw_server, saying

SERVED: Mapping[str, Any] = {
    "KIND": "openai",
    "BASE_URL": "http://127.0.0.1:9/v1",
    "API_KEY": "",
    "MODEL": "small",
    "DEADLINE": 2.0,
    "QUERY_PREFIX": "",
    "DOCUMENT_PREFIX": "",
    "HAS_PROXY": False,
}


@pytest.fixture(scope="session")
def model() -> EmbeddedEmbedder:
    """The real model, loaded once a run."""
    return EmbeddedEmbedder()


def test_the_embedded_model_reads_several_languages(model: EmbeddedEmbedder) -> None:
    documents = model.documents(["Replace a lost passport", "File a tax return"])
    result = model.queries(
        ["J'ai perdu mon passeport", "Ich habe meinen Pass verloren", "护照丢了"]
    )
    nearest = (result @ documents.T).argmax(axis=1)
    assert nearest.tolist() == [0, 0, 0]


def test_the_embedded_model_gives_unit_rows_and_always_the_same(model: EmbeddedEmbedder) -> None:
    texts = ["a", "", "  ", "\ud800 \x00 🙂", "word " * 400, "lost passport"]
    rows = model.queries(texts)
    assert rows.shape == (6, 512)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert np.allclose(model.documents(["lost passport"])[0], rows[-1], atol=1e-5)
    assert model.queries([]).shape == (0, 512)


def test_the_embedded_model_needs_its_own_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    assert embedders.fault() is None
    monkeypatch.setattr(embedders, "DIGESTS", {"weights.npz": "0" * 64})
    with pytest.raises(EmbedderUnavailable, match=r"weights\.npz is not the one that is pinned"):
        EmbeddedEmbedder().queries(["hello"])


def test_the_embedded_model_says_that_its_package_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderUnavailable, match="is not installed"):
        EmbeddedEmbedder().queries(["hello"])


@pytest.mark.parametrize(("kind", "name"), [("embedded", "use-multilingual"), ("openai", "openai")])
def test_the_configured_one_is_built_without_loading_or_asking(kind: str, name: str) -> None:
    result = build_embedder({**SERVED, "KIND": kind})
    assert result is not None
    assert result.id.startswith(name)


def test_there_may_be_none() -> None:
    assert build_embedder({**SERVED, "KIND": "none"}) is None


def test_a_wrong_address_or_key_is_said_at_once() -> None:
    for wrong, result in ({"BASE_URL": "models"}, "http"), ({"API_KEY": "ä"}, "API_KEY"):
        with pytest.raises(ValueError, match=result):
            build_embedder({**SERVED, **wrong})


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_that_failed_is_left_alone_and_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    ideas, clock = Ideas(), Clock()
    checked: Embedder = CheckedEmbedder(ideas, clock=clock)
    ideas.down = True
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable):
            checked.queries(["hello"])
    assert len(ideas.asked) == 1
    assert caplog.text.count("words alone rank") == 1
    ideas.down, clock.now = False, OPEN_SECONDS
    assert checked.queries(["hello"]).shape == (1, 8)
    assert "answers again" in caplog.text


@pytest.mark.parametrize(
    "rows",
    [np.ones((2, 3)), np.ones(3), np.array([[np.nan, 1.0]]), np.zeros((1, 3)), [["a"]]],
    ids=["too many", "flat", "not a number", "no direction", "no numbers"],
)
def test_vectors_that_cannot_be_used_are_none(rows: Any) -> None:
    class Odd(Ideas):
        def queries(self, texts: Sequence[str]) -> Matrix:
            return rows  # type: ignore[no-any-return]

    with pytest.raises(EmbedderUnavailable):
        CheckedEmbedder(Odd(), clock=Clock()).queries(["hello"])


def test_vectors_become_unit_vectors() -> None:
    class Long(Ideas):
        def queries(self, texts: Sequence[str]) -> Matrix:
            return np.full((len(texts), 4), 3.0, dtype=np.float32)

    rows = CheckedEmbedder(Long(), clock=Clock()).queries(["hello"])
    assert rows.tolist() == [[0.5, 0.5, 0.5, 0.5]]


def vectors(*rows: Sequence[float], places: Sequence[int] | None = None) -> bytes:
    """The body of a server's answer."""
    result = zip(places or range(len(rows)), rows, strict=True)
    data = [{"object": "embedding", "index": at, "embedding": list(row)} for at, row in result]
    return json.dumps({"object": "list", "data": data, "model": "small"}).encode()


def served(base_url: str, **options: Any) -> OpenAIEmbedder:
    options = {"deadline": 5.0, **options}
    return OpenAIEmbedder(base_url, "secret-key", "small", **options)


def test_a_server_gives_the_rows_in_the_order_of_the_texts() -> None:
    with raw_server(saying(http(vectors([0, 1], [1, 0], places=[1, 0])))) as server:
        rows = served(server.base_url, query_prefix="query: ").queries(["one", "two"])
    assert rows.tolist() == [[1, 0], [0, 1]]
    head, body = server.requests[0]
    assert head.startswith("POST /v1/embeddings ")
    assert json.loads(body) == {
        "model": "small",
        "input": ["query: one", "query: two"],
        "encoding_format": "float",
    }


def test_a_server_is_given_documents_in_small_batches() -> None:
    with raw_server(saying(http(vectors(*[[1.0, 0.0]] * BATCH)))) as server:
        rows = served(server.base_url).documents(["text"] * BATCH * 2)
    assert (len(rows), len(server.requests)) == (BATCH * 2, 2)


def silent(connection: Any, server: Any) -> None:
    server.over.wait(30)


def dripping(connection: Any, server: Any) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while not server.over.wait(0.05):
        connection.sendall(b" ")


@pytest.mark.parametrize(
    ("misbehave", "said"),
    [
        (silent, "deadline"),
        (dripping, "deadline"),
        (saying(http(b"{}", status="503 Unavailable")), "503"),
        (saying(http(b"{}", status="401 No")), "IEIM_EMBEDDINGS_API_KEY"),
        (saying(b""), "connection"),
        (saying(http(b"not json")), "one vector for each text"),
        (saying(http(b"{}")), "one vector for each text"),
        (saying(http(b'{"data": [{"index": 0, "embedding": "AAAA"}]}')), "one vector"),
        (saying(http(vectors([1, 0], [1, 0]))), "one vector for each text"),
        (saying(http(b" " * (2**20 + 1))), "one vector for each text"),
    ],
)
def test_a_server_that_fails_is_unavailable_in_plain_words(
    misbehave: Misbehaviour, said: str
) -> None:
    with raw_server(misbehave) as server, pytest.raises(EmbedderUnavailable, match=said) as raised:
        served(server.base_url, deadline=0.3).queries(["a citizen's words"])
    assert "secret-key" not in str(raised.value)
    assert "citizen" not in str(raised.value)
    assert len(server.requests) == 1


def test_a_text_that_a_server_does_not_take_keeps_no_other_from_it() -> None:
    answers = iter([http(b"{}", status="400 Too long"), http(vectors([1, 0]))])
    with raw_server(lambda connection, _: connection.sendall(next(answers))) as server:
        embedder = CheckedEmbedder(served(server.base_url), clock=Clock())
        with pytest.raises(EmbedderUnavailable, match="does not take this text"):
            embedder.queries(["a very long text"])
        assert not embedder.is_unavailable
        assert embedder.queries(["a short one"]).shape == (1, 2)


def test_every_adapter_is_an_embedder() -> None:
    makers: Sequence[Callable[[], Embedder]] = (
        EmbeddedEmbedder,
        Ideas,
        lambda: served("http://127.0.0.1:9/v1"),
    )
    for make in makers:
        name = make().id
        assert 0 < len(name) <= 100
        assert not any(map(str.isspace, name))
