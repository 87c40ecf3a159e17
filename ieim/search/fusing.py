"""The shortlist by words and meaning together; by words alone while the embedder gives nothing."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ieim.pipeline.knowledge import Agency, Category, Release, Service
from ieim.pipeline.ports import (
    Embedder,
    EmbedderUnavailable,
    Likeness,
    Linked,
    Matrix,
    Part,
    Passages,
    Piece,
    Ranked,
    Turned,
)
from ieim.pipeline.reply.guidance import UNCLEAR
from ieim.pipeline.stages.base import APART
from ieim.search import passages as answering
from ieim.search import steering, wishes
from ieim.search.clauses import clauses, read_clauses
from ieim.search.engine import MEANING, Near
from ieim.search.examples import exact
from ieim.search.index import ReleaseIndex
from ieim.search.inquiry import CLOSING, Reading
from ieim.search.nearness import Nearness, vocabulary, weighed
from ieim.search.wishes import Evidence

LONGEST_TEXT = 1_500
"""Characters of an entry that its vector is made of; it begins with what it is about."""

_LONGEST_QUESTION = 600
"""The most characters of a question, and of the talk before it."""

_BEFORE = 0.5
"""What the earlier questions and the answers each weigh in a talk, where the message weighs 1."""

_CLAUSES = 4
"""So many clauses of a message are read by themselves."""

_PARTS = 12
"""And so many of its requests are distinguished."""

_DOUBT = 0.5
"""How surely a message goes on at most that reads so, but is clearly about something else."""

_REMEMBERED = 64
"""Questions whose vector is remembered, by digest: a turn searches with the same one several
times."""

_ENTRIES = 256
"""Services whose passages are kept: 20 KiB each."""

_JUST = 0.01

logger = logging.getLogger(__name__)


class _Asked(NamedTuple):
    """The one vector of a query, as a row, and how near each service is to it."""

    vector: Matrix
    near: Near


def texts_of(release: Release) -> list[str]:
    """Return the text of every service, of every category and the name of every service as it was
    written, in the order of ``release``, and then its vocabulary.

    What a vector is made of: an entry whose text is the same needs no new one.
    """
    words = {
        key: ", ".join((entry.value, *entry.keywords)) for key, entry in release.categories.items()
    }

    def of_service(service: Service) -> str:
        agency = release.agencies.get(service.agency)
        categories = "; ".join(words.get((service.agency, key), "") for key in service.categories)
        parts = (f"{service.name}.", categories, service.overview, service.applicability_summary)
        text = " ".join(part for part in parts if part)
        return f"{agency.name}: {text}" if agency else text

    texts = [*map(of_service, release.services.values()), *words.values()]
    texts += (service.name for service in (release.original or release).services.values())
    return [*(text[:LONGEST_TEXT] for text in texts), *vocabulary(release)]


def fuse(release: Release, embedder: Embedder, reading: Reading | None = None) -> FusedIndex:
    """Return the index of ``release`` with vectors made here and kept nowhere.

    Raises :class:`EmbedderUnavailable`.
    """
    vectors = embedder.documents(texts_of(release))
    return FusedIndex(ReleaseIndex(release), release, vectors, embedder, reading)


class FusedIndex:
    """The :class:`~ieim.pipeline.ports.Shortlist` of one release by words and meaning.

    ``vectors`` are those of :func:`texts_of`; without a ``reading`` words say what a message is. An
    agency counts by its best service. No method raises for any text, nor when the embedder is gone:
    then words answer, and no candidate has a meaning. Safe for threads.
    """

    def __init__(
        self,
        words: ReleaseIndex,
        release: Release,
        vectors: Matrix,
        embedder: Embedder,
        reading: Reading | None = None,
    ) -> None:
        services, categories = len(release.services), len(release.categories)
        if len(vectors) != 2 * services + categories + len(vocabulary(release)):
            raise ValueError("There is one vector for each text of the release.")
        names = services + categories
        self.words = words
        self._services = vectors[:services]
        self._categories = vectors[services:names]
        self._names = vectors[names : names + services]
        readable = reading is not None and vectors.shape[1] == reading.width
        self._nearness = Nearness(
            release, self._services, vectors[names + services :], reading if readable else None
        )
        self._places = {service: place for place, service in enumerate(release.services.values())}
        self._embedder = embedder
        self._reading = reading
        self._lock = threading.Lock()
        self._remembered: OrderedDict[bytes, _Asked] = OrderedDict()
        self._entries: OrderedDict[Service, answering.Entry] = OrderedDict()

    @property
    def embedder(self) -> str:
        """The embedder's id."""
        return self._embedder.id

    def likeness(self, text: str, *, in_a_talk: bool) -> Likeness | None:
        """Return how the message reads: the surest of its clauses, and the whole."""
        like = self._like(text, self._services)
        if self._reading is None or like is None:
            return None
        nearest = MEANING * float(like.max())
        least = self._reading.least_in_a_talk if in_a_talk else self._reading.least
        if exact(text):
            # An example of what asks nothing says so better than what it is like.
            return Likeness(-1.0, least, nearest)
        vectors = self._read(list(dict.fromkeys([text, *clauses(text)[:_CLAUSES]])))
        if vectors is None:
            return None
        cases = {self._reading.small_talk(vector) for vector in vectors} if in_a_talk else {""}
        if "" not in cases:
            # What closes a talk may answer a question, "ok": where it is no more, it asks nothing.
            return Likeness(least - _JUST if cases <= CLOSING else -1.0, least, nearest)
        read = self._reading.wants if in_a_talk else self._reading.inquiry_likeness
        return Likeness(max(map(read, vectors)), least, nearest)

    def takes_for_inquiry(self, text: str, *, in_a_talk: bool) -> bool:
        """Whether the message is more like an inquiry than not, and like no case that is none."""
        likeness = self.likeness(text, in_a_talk=in_a_talk)
        if likeness is None:
            return self.words.takes_for_inquiry(text, in_a_talk=in_a_talk)
        return likeness.is_likely and self.case(text) == UNCLEAR

    def case(self, text: str) -> str:
        """Return the case of an example with the same words, else the one that it is most like."""
        if self._reading is None or exact(text) or not clauses(text):
            return self.words.case(text)
        vectors = self._read([text])
        return self.words.case(text) if vectors is None else self._reading.case(vectors[0])

    def goes_on(self, query: str) -> float:
        """Return how surely a message continues the talk, by its words where there is no model."""
        message, _, talk = query.partition(APART)
        if not talk:
            return 0.0
        vector = None if self._reading is None else self._vector(message)
        if self._reading is None or vector is None or vector.shape[1] != self._reading.width:
            return self.words.goes_on(query)
        sure = self._reading.goes_on(vector[0])
        return min(sure, _DOUBT) if sure > _DOUBT and self._is_elsewhere(message, talk) else sure

    def _is_elsewhere(self, message: str, talk: str) -> bool:
        """Whether a message alone clearly finds another service than the talk is about."""
        found, about = self._evidence(message), self._evidence(talk)
        return found is not None and about is not None and found.finds_another_than(about)

    def _evidence(self, text: str) -> Evidence | None:
        """Return what ``text`` alone finds by words and the likeness of whole texts; None without.

        What steers a talk, and which parts a message has, was measured so.
        """
        near = self._like(text, self._services)
        if near is None:
            return None
        return Evidence(self.words.service_index.fused_scores(text, near), near)

    def parts(self, text: str) -> Sequence[Part]:
        """Return what reads as inquiries which are clear by themselves: the questions, and such
        pieces as find a service of their own beside all else that does."""
        whole = read_clauses(text)
        if len(whole) > _PARTS:
            whole = [each for each in whole if each.is_question][:_PARTS]
        listed = wishes.pieces(whole, text)
        listed = listed if len(listed) <= _PARTS else whole
        found = list(dict.fromkeys([*listed, *(each for each in whole if each.is_question)]))
        vectors = self._read([each.text for each in found]) if len(found) > 1 else None
        if self._reading is None or vectors is None:
            return self.words.parts(text)
        asks = {
            each: self._reading.goes_on(vector)
            for each, vector in zip(found, vectors, strict=True)
            if self._reading.inquiry_likeness(vector) >= self._reading.least
        }
        # What leans on the rest ("add her to my cover"), but finds a service of its own, is clear.
        alone = {
            each: own
            for each in listed
            if each in asks and (own := self._evidence(each.text)) is not None
            if own.scores.max() >= wishes.FINDS * (1 + asks[each])
        }
        parts = wishes.distinct(alone)
        starts = [each.start for each in parts]
        parts |= {
            each
            for each in whole
            if each.is_question
            and asks.get(each) == 0
            and not any(each.start <= start < each.end for start in starts)
        }
        return [Part(each.start, each.end) for each in sorted(parts, key=lambda each: each.start)]

    def passages(self, text: str, service: Service) -> Passages | None:
        """Return the passages of a service by how well they answer: the questions of a message, or
        where it has none the whole of it."""
        read = read_clauses(text)[:_PARTS]
        asking = [each for each in read if each.is_question]
        texts = [each.text for each in asking or read]
        asked = " ".join(texts)
        vectors = self._read([asked, *texts]) if asked else None
        entry = None if self._reading is None or vectors is None else self._entry(service)
        if self._reading is None or vectors is None or entry is None:
            return None
        found = (name for vector in vectors[1:] for name in self._reading.fields(vector))
        fields = tuple(dict.fromkeys(found))
        if answering.AMOUNT in fields:
            # "How much is that?" may be what one gets, or what it costs.
            fields = tuple(dict.fromkeys([*fields, "fees"]))
        return Passages(
            tuple(answering.rank(entry, asked, vectors[0], self._reading.asks(vectors[0]), fields)),
            fields,
            bool(asking),
            answering.LEAST,
            answering.SURE,
        )

    def _entry(self, service: Service) -> answering.Entry | None:
        """Return the passages of a service, with vectors that are made when it is first asked
        about; None where they cannot be had or have another width."""
        with self._lock:
            known = self._entries.get(service)
            if known is not None:
                self._entries.move_to_end(service)
                return known
        texts = [text for _, text in answering.of_service(service)]
        try:
            vectors = self._embedder.documents(texts) if texts else None
        except EmbedderUnavailable:
            return None  # the embedder has logged why
        if vectors is None or vectors.shape[1] != self._services.shape[1]:
            return None
        entry = answering.read(service, vectors)
        with self._lock:
            self._entries[service] = entry
            while len(self._entries) > _ENTRIES:
                self._entries.popitem(last=False)
        return entry

    def next_services(self, service: Service) -> Sequence[Linked]:
        """Return the services that editors wrote, else those that the entry names."""
        links = self.words.links
        written = links.written(service)
        original = links.original(service)
        entry = self._entry(original) if written is None and original is not None else None
        if entry is None or original is None:
            return written or []
        return links.found(original, entry.passages, entry.vectors, self._names)

    def pieces(self, text: str) -> Sequence[Piece]:
        """Return the pieces of a message, and how each steers a talk."""
        return steering.pieces(text[:_LONGEST_QUESTION], self._reading, self._read)

    def named(self, text: str, among: Sequence[Service]) -> Service | None:
        """Return the one of ``among`` that a message clearly names."""
        vectors, found = self._read([text]), self._evidence(text)
        if self._reading is None or vectors is None or found is None or not among:
            return None
        if self._reading.turns(vectors[0]) < steering.NAMES:
            return None
        places = [self.words.service_index.place(each) for each in among]
        place = steering.named(found.scores, places)
        return None if place is None else among[places.index(place)]

    def turns_to(
        self, text: str, about: Service, without: Collection[tuple[str, str]]
    ) -> Turned | None:
        """Return the service that a message in a talk ``about`` another turns to."""
        if len(text) > steering.ELLIPTIC:
            return None
        vectors, found = self._read([text]), self._evidence(text)
        if self._reading is None or vectors is None or found is None:
            return None
        index = self.words.service_index
        places = [index.place(each) for each in index.items if (each.agency, each.key) in without]
        best = steering.turned(
            found.scores,
            MEANING * found.near,
            self._services @ self._services[index.place(about)],
            index.place(about),
            places,
            turns=self._reading.turns(vectors[0]),
            asks=bool(self._reading.fields(vectors[0])),
        )
        return None if best is None else Turned(index.items[best[0]], best[1])

    def evidence(self, text: str, services: Sequence[Service]) -> tuple[Sequence[float], float]:
        """Return the fused score of each of ``services`` for a message alone, and the best one."""
        near = self._near(text)
        return self.words.service_index.evidence(text, near, services)

    def near_enough(self, text: str, services: Sequence[Service] | None = None) -> bool:
        """Whether any of ``services`` (None: of all) is near enough to be about ``text``."""
        asked = self._asked(text) if len(self._services) else None
        if asked is None or self._reading is None:
            return True
        near = asked.near if services is None else asked.near[[self._places[s] for s in services]]
        least = self._reading.floor + self._reading.usual(asked.vector[0])
        return bool((near >= least).any())

    def agencies(self, query: str, *, limit: int) -> Sequence[Ranked[Agency]]:
        """Rank agencies by their best service."""
        near = self._near(query)
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
        near = self._like(query, self._categories)
        if near is None:
            return self.words.categories(query, agencies=agencies, limit=limit)
        return self.words.category_index.fused(query, near, agencies, limit)

    def services(
        self, query: str, *, agencies: Sequence[str] | None, limit: int
    ) -> Sequence[Ranked[Service]]:
        """Rank services of ``agencies`` (None: of all); unknown ids are ignored."""
        near = self._near(query)
        if near is None:
            return self.words.services(query, agencies=agencies, limit=limit)
        return self.words.service_index.fused(query, near, agencies, limit)

    def _near(self, query: str) -> Near | None:
        """Return how much nearer each service is than the average; None without meaning."""
        asked = self._asked(query) if len(self._services) else None
        if asked is None:
            return None
        near: Near = asked.near - asked.near.mean()
        return near

    def _like(self, query: str, entries: Matrix) -> Near | None:
        """Return how much more like each of ``entries`` is as a whole than the average."""
        vector = self._vector(query) if len(entries) else None
        if vector is None:
            return None
        cosines = entries @ vector[0]
        like: Near = cosines - cosines.mean()
        return like

    def _read(self, texts: Sequence[str]) -> Matrix | None:
        """Return the vectors of ``texts`` for the reading; None where it cannot read them."""
        if self._reading is None or not texts:
            return None
        vectors = self._embedded([text[:_LONGEST_QUESTION] for text in texts])
        return vectors if vectors is not None and vectors.shape[1] == self._reading.width else None

    def _embedded(self, texts: Sequence[str]) -> Matrix | None:
        try:
            return self._embedder.queries(texts)
        except EmbedderUnavailable:
            return None  # the embedder has logged why

    def _vector(self, query: str) -> Matrix | None:
        """Return the one vector of a query, None where it says nothing or none could be had."""
        asked = self._asked(query)
        return None if asked is None else asked.vector

    def _asked(self, query: str) -> _Asked | None:
        key = hashlib.sha256(query.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            remembered = self._remembered.get(key)
        if remembered is not None:
            return remembered
        texts = [" ".join(clauses(part))[:_LONGEST_QUESTION] for part in query.split(APART, 2)]
        parts = [(text, _BEFORE if place else 1.0) for place, text in enumerate(texts) if text]
        words = weighed(parts)
        unknown = self._nearness.unknown(words)
        vectors = self._embedded([*(text for text, _ in parts), *unknown]) if parts else None
        if vectors is None:
            return None
        if vectors.shape[1] != self._services.shape[1]:
            logger.error("Vectors of %s have changed their width; words rank", self.embedder)
            return None
        weights = np.array([[weight for _, weight in parts]], dtype=np.float32)
        combined: Matrix = weights @ vectors[: len(parts)]
        length = float(np.linalg.norm(combined))
        if not length:
            return None
        combined /= length
        asked = _Asked(combined, self._nearness.to(combined[0], words, vectors[len(parts) :]))
        with self._lock:
            self._remembered[key] = asked
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return asked
