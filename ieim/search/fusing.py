"""The shortlist by words and meaning together; by words alone while the embedder gives nothing."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ieim.pipeline.knowledge import Agency, Category, Release, Service
from ieim.pipeline.ports import Asked, Embedder, EmbedderUnavailable, Matrix, Part, Ranked
from ieim.pipeline.stages.base import APART
from ieim.search.apart import Evidence, finds_another, stand_apart
from ieim.search.clauses import clauses, read_clauses, wishes
from ieim.search.engine import MEANING, Near
from ieim.search.index import ReleaseIndex
from ieim.search.inquiry import Reading, heard

LONGEST_TEXT = 1_500
"""Characters of an entry that its vector is made of; it begins with what it is about."""

_LONGEST_QUESTION = 600
"""Characters of a question, and of what was said before it."""

_BEFORE = 0.5
"""What the earlier questions and the answers each weigh beside the message in a talk."""

_CLAUSES = 4
"""Of a message so many are read by themselves."""

_PARTS = 12
"""And of what it asks for so many are told apart."""

_DOUBT = 0.5
"""How surely a message goes on at most that reads so, but is clearly about something else."""

_REMEMBERED = 64
"""Questions whose vector is remembered, by digest: a turn searches with the same one several
times."""

logger = logging.getLogger(__name__)


def texts_of(release: Release) -> list[str]:
    """Return the text of every service and then of every category, in the order of ``release``.

    What a vector is made of: an entry whose text is the same needs no new one.
    """
    words = {
        key: ", ".join((entry.value, *entry.keywords)) for key, entry in release.categories.items()
    }

    def of_service(service: Service) -> str:
        agency = release.agencies.get(service.agency)
        categories = "; ".join(words.get((service.agency, key), "") for key in service.categories)
        parts = (categories, service.overview, service.applicability_summary)
        said = " ".join(part for part in (f"{service.name}.", *parts) if part)
        return f"{agency.name}: {said}" if agency else said

    texts = [*map(of_service, release.services.values()), *words.values()]
    return [text[:LONGEST_TEXT] for text in texts]


def fuse(release: Release, embedder: Embedder, reading: Reading | None = None) -> FusedIndex:
    """Return the index of ``release`` with vectors made here and kept nowhere.

    Raises :class:`EmbedderUnavailable`.
    """
    return FusedIndex(
        ReleaseIndex(release),
        release,
        embedder.documents(texts_of(release)),
        embedder,
        lambda: reading,
    )


class FusedIndex:
    """The :class:`~ieim.pipeline.ports.Shortlist` of one release by words and meaning.

    ``vectors`` are those of :func:`texts_of`; ``reading`` gives what reads messages, once it has
    been taught. An agency counts by its best service. No method
    raises for any text, nor when the embedder is gone: then words answer, and no candidate has a
    meaning. Safe for threads.
    """

    def __init__(
        self,
        words: ReleaseIndex,
        release: Release,
        vectors: Matrix,
        embedder: Embedder,
        reading: Callable[[], Reading | None] = lambda: None,
    ) -> None:
        services = len(release.services)
        if len(vectors) != services + len(release.categories):
            raise ValueError("There is one vector for each text of the release.")
        self.words = words
        self._services = vectors[:services]
        self._categories = vectors[services:]
        self._embedder = embedder
        self._reading = reading
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, Matrix] = OrderedDict()

    @property
    def embedder(self) -> str:
        """The embedder's id."""
        return self._embedder.id

    def asked(self, text: str, *, in_a_talk: bool) -> Asked | None:
        """Return how the message reads: the surest of its clauses, and the whole."""
        reading = self._reading()
        near = self._near(text, self._services)
        if reading is None or near is None:
            return None
        least = reading.least_in_a_talk if in_a_talk else reading.least
        if heard(text):
            # An example of what asks nothing says so better than what it is like.
            return Asked(-1.0, least, MEANING * float(near.max()))
        parts = list(dict.fromkeys([text[:_LONGEST_QUESTION], *clauses(text)[:_CLAUSES]]))
        try:
            vectors = self._embedder.queries(parts)
        except EmbedderUnavailable:
            return None
        if vectors.shape[1] != reading.width:
            return None
        like = max(map(reading.says if in_a_talk else reading.asked, vectors))
        return Asked(like, least, MEANING * float(near.max()))

    def case(self, text: str) -> str:
        """Return the case of an example with the same words, else the one that it is most like."""
        reading = self._reading()
        if reading is None or reading.cases is None or heard(text) or not clauses(text):
            return self.words.case(text)
        try:
            (vector,) = self._embedder.queries([text[:_LONGEST_QUESTION]])
        except EmbedderUnavailable:
            return self.words.case(text)
        alike = len(vector) == reading.cases.width
        return reading.cases.of(vector) if alike else self.words.case(text)

    def goes_on(self, query: str) -> float:
        """Return how surely the message of ``query`` goes on, by its words where nothing reads."""
        reading = self._reading()
        message, _, talk = query.partition(APART)
        if not talk:
            return 0.0
        asked = None if reading is None else self._asked(message)
        if reading is None or asked is None or asked.shape[1] != reading.width:
            return self.words.goes_on(query)
        sure = reading.goes_on(asked[0])
        return min(sure, _DOUBT) if sure > _DOUBT and self._is_elsewhere(message, talk) else sure

    def _is_elsewhere(self, message: str, talk: str) -> bool:
        """Whether a message alone clearly finds another service than the talk is about."""
        own, about = self._found(message), self._found(talk)
        return own is not None and about is not None and finds_another(own, about)

    def _found(self, text: str) -> Evidence | None:
        """Return what ``text`` alone finds; None without meaning."""
        near = self._near(text, self._services)
        if near is None:
            return None
        return Evidence(self.words.service_index.fused_scores(text, near), near)

    def parts(self, text: str) -> Sequence[Part]:
        """Return what reads as inquiries which are clear by themselves: the questions, and such
        statements as find a service of their own beside all else that does."""
        reading = self._reading()
        whole = read_clauses(text)
        said = [wish for each in whole for wish in wishes(each)]
        if len(said) > _PARTS:
            said = whole
        if len(said) > _PARTS:
            said = [each for each in said if each.is_question][:_PARTS]
        if reading is None or len(said) < 2:
            return self.words.parts(text)
        try:
            vectors = self._embedder.queries([each.said for each in said])
        except EmbedderUnavailable:
            return self.words.parts(text)
        if vectors.shape[1] != reading.width:
            return self.words.parts(text)
        leans = {
            each: lean
            for each, vector in zip(said, vectors, strict=True)
            if reading.asked(vector) >= reading.least and (lean := reading.goes_on(vector)) < 1
        }
        found = {each: own for each in leans if (own := self._found(each.said)) is not None}
        clear = {each: own for each, own in found.items() if not leans[each]}
        # What may lean on the others, but finds a service of its own, leaves nobody in doubt.
        apart = stand_apart(clear) | stand_apart(found)
        return [
            Part(each.start, each.end)
            for each in leans
            if each in apart or (each.is_question and not leans[each])
        ]

    def asked_about(self, text: str) -> Sequence[str]:
        """Return the fields that the clauses of a message ask about."""
        reading = self._reading()
        aspects = None if reading is None else reading.aspects
        parts = [part[:_LONGEST_QUESTION] for part in clauses(text)[:_PARTS]]
        if aspects is None or not parts:
            return ()
        try:
            vectors = self._embedder.queries(parts)
        except EmbedderUnavailable:
            return ()
        if vectors.shape[1] != aspects.width:
            return ()
        return tuple(dict.fromkeys(name for vector in vectors for name in aspects.of(vector)))

    def evidence(self, text: str, services: Sequence[Service]) -> tuple[Sequence[float], float]:
        """Return the fused score of each of ``services`` for a message alone, and the best one."""
        near = self._near(text, self._services)
        return self.words.service_index.evidence(text, near, services)

    def agencies(self, query: str, *, limit: int) -> Sequence[Ranked[Agency]]:
        """Rank agencies by their best service."""
        near = self._near(query, self._services)
        if near is None:
            return self.words.agencies(query, limit=limit)
        best = self.words.service_index.best_by_owner(query, near)
        places = self.words.agency_places
        hits = [(place, best[name][0]) for name, place in places.items() if name in best]
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        ranked = self.words.agency_index.ranked(hits, limit)
        return [replace(each, meaning=best.get(each.item.id, (0.0, 0.0))[1]) for each in ranked]

    def categories(
        self, query: str, *, agencies: Sequence[str], limit: int
    ) -> Sequence[Ranked[Category]]:
        """Rank dictionary entries of ``agencies``; ids that the release has not are ignored."""
        near = self._near(query, self._categories)
        if near is None:
            return self.words.categories(query, agencies=agencies, limit=limit)
        return self.words.category_index.fused(query, near, agencies, limit)

    def services(
        self, query: str, *, agencies: Sequence[str] | None, limit: int
    ) -> Sequence[Ranked[Service]]:
        """Rank services of ``agencies`` (None: of all); unknown ids are ignored."""
        near = self._near(query, self._services)
        if near is None:
            return self.words.services(query, agencies=agencies, limit=limit)
        return self.words.service_index.fused(query, near, agencies, limit)

    def _near(self, query: str, entries: Matrix) -> Near | None:
        """Return how much nearer each of ``entries`` is than the average; None without meaning."""
        asked = self._asked(query) if len(entries) else None
        if asked is None:
            return None
        cosines = entries @ asked[0]
        near: Near = cosines - cosines.mean()
        return near

    def _asked(self, query: str) -> Matrix | None:
        """Return the one vector of a query, None where it says nothing or none could be had."""
        key = hashlib.sha256(query.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            return known
        parts = [" ".join(clauses(part))[:_LONGEST_QUESTION] for part in query.split(APART, 2)]
        said = [(part, 1.0 if not place else _BEFORE) for place, part in enumerate(parts) if part]
        if not said:
            return None
        try:
            vectors = self._embedder.queries([part for part, _ in said])
        except EmbedderUnavailable:
            return None
        if vectors.shape[1] != self._services.shape[1]:
            logger.error("Vectors of %s have changed their width; words rank", self.embedder)
            return None
        weights = np.array([[weight for _, weight in said]], dtype=np.float32)
        asked: Matrix = weights @ vectors
        length = float(np.linalg.norm(asked))
        if not length:
            return None
        asked /= length
        with self._lock:
            self._known[key] = asked
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return asked
