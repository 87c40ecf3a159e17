"""The ports of the pipeline: what the core needs from the world, as small Protocols.

Adapters live elsewhere: models in ``ieim.llm``, search in ``ieim.search``, storage in
``conversations``. Tests pass plain objects.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ieim.pipeline.knowledge import Agency, Category, Service, Situation

Matrix: TypeAlias = NDArray[np.float32]
"""Vectors of length 1, one a row."""

Key: TypeAlias = tuple[str, str]
"""A service's agency and key."""

T = TypeVar("T", Agency, Category, Service, Situation, covariant=True)


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message as it is sent."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model.

    ``messages`` are always three: the base persona (byte-identical in every call), the contract's
    directive, and the per-call JSON, the only place where a citizen's or the index's text appears.
    ``response_format`` is a JSON Schema for servers that take one; the gate never relies on it.
    ``retrieval`` says what ranked the candidates: :data:`WORDS`, or words and the embedder of that
    id; it is empty where there are none. ``turn`` is the id of the turn that it is for: by it a
    message that a server does not take is told from a server that takes none.
    """

    contract: str
    attempt: int
    messages: tuple[Message, Message, Message]
    temperature: float
    max_output_tokens: int
    response_format: Mapping[str, Any] | None = None
    retrieval: str = ""
    turn: str = ""

    @property
    def size(self) -> int:
        """Bytes (UTF-8) of the message contents: what "shortened" is measured by."""
        return sum(len(m.content.encode("utf-8", "surrogatepass")) for m in self.messages)


CONTENT_FILTER: Final = "content_filter"
TOO_LONG: Final = "context_length_exceeded"
REJECTED: Final = "rejected"
"""The ``finish_reason`` of a request that was not answered through a fault of its own: its text may
not be read, is too long for the model, or was not taken for another reason."""

REASONING: Final = "reasoning"
TOOL_CALL: Final = "tool call"


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model said, untouched.

    ``raw`` is the content as text (empty when there was none). Bytes that were not UTF-8 appear as
    lone surrogates (``surrogateescape``), so that the gate can find them. Tokens are the server's
    own count, None when it gave none; ``cached_tokens`` are those of the prompt that its prefix
    cache had. ``extra_output`` is what the server gave apart from the content: :data:`REASONING`,
    :data:`TOOL_CALL` or nothing.
    """

    raw: str
    finish_reason: str | None = None
    refusal: str | None = None
    model: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    extra_output: str = ""


class Cause(StrEnum):
    """Why no answer could be had."""

    KEY = "key"
    """401 or 403: the server does not accept the key, or not for this model."""
    NAME = "name"
    """404: the server knows no such address or model."""
    REQUEST = "request"
    """Any other 3xx or 4xx, and a body that is no completion: what is sent does not fit it."""
    LIMIT = "limit"
    """429: it takes no more requests for now."""
    SERVER = "server"
    """5xx: it fails."""
    TIMEOUT = "timeout"
    """The deadline passed before a whole answer came, the server's own (408) or this site's."""
    CONNECTION = "connection"
    """There was no connection, or it broke."""
    BUSY = "busy"
    """It has as many calls as this site may make at once."""
    OFF = "off"
    """An administrator has switched it off."""


_OF_STATUS: Mapping[int, Cause] = {
    401: Cause.KEY,
    403: Cause.KEY,
    404: Cause.NAME,
    408: Cause.TIMEOUT,
    429: Cause.LIMIT,
}


class ModelUnavailable(Exception):
    """No answer could be had: a timeout, a reset, 429 or 5xx. Not an attempt, and no cost.

    ``timed_out`` says whether the deadline passed; ``retry_after`` is the server's wish in seconds;
    ``passing`` is False where asking again at once cannot help (a wrong key, an open circuit).
    ``status`` is the HTTP status, where there was one; ``cause`` follows from both unless it is
    given. ``is_request_specific`` says that the server may answer another message. The message is
    for staff and carries no citizen's words and no key.
    """

    def __init__(
        self,
        message: str,
        *,
        timed_out: bool = False,
        retry_after: float | None = None,
        passing: bool = True,
        status: int | None = None,
        cause: Cause | None = None,
        is_request_specific: bool = False,
    ) -> None:
        super().__init__(message)
        self.timed_out = timed_out
        self.retry_after = retry_after
        self.passing = passing
        self.status = status
        self.cause = cause or _cause(timed_out, status)
        self.is_request_specific = is_request_specific


def _cause(timed_out: bool, status: int | None) -> Cause:
    if status is None:
        return Cause.TIMEOUT if timed_out else Cause.CONNECTION
    return _OF_STATUS.get(status, Cause.SERVER if status >= 500 else Cause.REQUEST)


class Model(Protocol):
    """A language model, or something that answers like one."""

    @property
    def name(self) -> str:
        """The name under which answers are recorded."""
        ...

    @property
    def reads(self) -> bool:
        """Whether it reads the message itself: what it says of danger is a second opinion then."""
        ...

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Answer within ``deadline`` seconds in all, or raise :class:`ModelUnavailable`."""
        ...


class EmbedderUnavailable(Exception):
    """No vectors could be had. The message is for staff: no citizen's words, no key."""


class TextNotTaken(EmbedderUnavailable):
    """The server answers, but does not take these texts; it may take others."""


class Embedder(Protocol):
    """Turns texts into vectors whose products say how near two texts are in meaning.

    Every text gets a vector, blank ones too, and the same text the same one. Both methods raise
    :class:`EmbedderUnavailable` and nothing else, within the adapter's own deadline.
    """

    @property
    def id(self) -> str:
        """Names model and weights; vectors of two ids are never compared. At most 100 characters
        without white space."""
        ...

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of the knowledge."""
        ...

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of a citizen."""
        ...


WORDS = "words"
"""What :attr:`ModelRequest.retrieval` says where meaning had no say."""


@dataclass(frozen=True, slots=True)
class Ranked(Generic[T]):
    """A candidate with its rank (1 is best) and the probability, from 0 to 1, that it is right.

    An agency and a category count by their best service.
    """

    item: T
    rank: int
    probability: float


class Query(NamedTuple):
    """What is searched for: the ``text`` of a message, and the talk that it is part of.

    ``before`` is the citizen's question before, ``about`` are the services that the talk is about:
    those of the last answer or, while a choice is open, those that it offers. ``without`` are
    services that the citizen has said are not meant. Services are agency and key.
    """

    text: str
    before: str = ""
    about: tuple[Key, ...] = ()
    without: frozenset[Key] = frozenset()


class Span(NamedTuple):
    """A part of a text, half-open code points."""

    start: int
    end: int


class Passage(NamedTuple):
    """A sentence or an item of a ``field`` of a service. From a ``score`` of :attr:`Passages.least`
    on it may answer the message that it was ranked for."""

    field: str
    text: str
    score: float


DEADLINE: Final = "deadline"
"""What a message may ask for that is no field: by when. No processing time answers that."""


@dataclass(frozen=True, slots=True)
class Passages:
    """``ranked`` are the passages of an entry, the best answer first. ``fields`` are those that the
    message clearly asks for, or :data:`DEADLINE`; ``question`` says that it asks something, in
    whatever words. From ``least`` on a passage is an answer, from ``sure`` on hardly anything else
    is."""

    ranked: tuple[Passage, ...]
    fields: tuple[str, ...]
    question: bool
    least: float
    sure: float


class Linked(NamedTuple):
    """A service that another one's entry sends on to, both as they were written, with the sentence
    that names it, empty where an editor wrote the link. ``before`` says that it is needed first."""

    service: Service
    sentence: str
    before: bool = False


class Ranking(Protocol):
    """All services of a release in the order in which they may be what a query is about."""

    @property
    def first(self) -> float:
        """The probability that the first service is right, 0.0 where there is no service."""
        ...

    @property
    def four(self) -> float:
        """The probability that one of the first four services is right."""
        ...

    @property
    def outside(self) -> float:
        """The probability that no service of the release is about the query."""
        ...

    @property
    def goes_on(self) -> bool:
        """Whether the message by itself is near no service, and so goes on with the talk's."""
        ...

    @property
    def by_meaning(self) -> bool:
        """Whether meaning had a say; words alone cannot tell in another language."""
        ...

    def services(
        self, *, agencies: Collection[str] | None = None, limit: int
    ) -> Sequence[Ranked[Service]]:
        """Return the ``limit`` best services of ``agencies`` (None: of all), best first."""
        ...

    def agencies(self, *, limit: int) -> Sequence[Ranked[Agency]]:
        """Return the ``limit`` best agencies."""
        ...

    def categories(self, *, agencies: Collection[str], limit: int) -> Sequence[Ranked[Category]]:
        """Return the ``limit`` best dictionary entries of ``agencies``."""
        ...

    def situations(self, *, limit: int) -> Sequence[Ranked[Situation]]:
        """Return the ``limit`` situations that the message most likely tells of, read alone."""
        ...

    def probability(self, service: Key) -> float:
        """Return the probability that ``service`` (agency, key) is right; 0.0 for an unknown one or
        one that the query is without."""
        ...


class Shortlist(Protocol):
    """The search over one release. No method raises for any text."""

    @property
    def embedder(self) -> str:
        """The id of the embedder that complements the search by words, empty without one."""
        ...

    def rank(self, query: Query) -> Ranking:
        """Rank the services of the release; a ranking is remembered by its query."""
        ...

    def requests(self, text: str) -> Sequence[Span]:
        """Return the parts of a message that each surely ask for a service of their own, in order;
        fewer than two are no parts: nothing is returned then."""
        ...

    def kinds(self, text: str) -> Mapping[str, float]:
        """Return the probability of each kind of message (``ieim.search.kinds``); only those that
        exact words say, or none, without an embedder."""
        ...

    def passages(self, text: str, service: Service) -> Passages | None:
        """Return which passages of a service's entry answer a message; None where that cannot be
        told by meaning."""
        ...

    def next_services(self, service: Service) -> Sequence[Linked]:
        """Return the services that the entry of ``service`` sends on to, two at most where nobody
        wrote them; those are found by meaning only."""
        ...
