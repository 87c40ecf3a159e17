"""The search over one release: one ranking by meaning, example questions and words.

The score of a service is a weighted sum of the cosine of its entry, the largest cosine of its
questions, that of its name, the largest cosine of its passages, and BM25. Beside the services
stands "none of them", whose score is the likeness to a background of what administrations are asked
everywhere. A softmax over all makes the probabilities. In a talk the services that it is about have
more the more a message reads as one that goes on. How the weights were fitted:
docs/decisions/0073-one-ranking.md.
"""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ieim.pipeline.facts import facts
from ieim.pipeline.kinds import CORRECTION, FOLLOW_UP, INQUIRY
from ieim.pipeline.knowledge import (
    Agency,
    Category,
    ExampleQuestion,
    Release,
    Service,
    Situation,
)
from ieim.pipeline.ports import (
    DEADLINE,
    Embedder,
    EmbedderUnavailable,
    Key,
    Linked,
    Matrix,
    Passages,
    Query,
    Ranked,
    Ranking,
    Span,
)
from ieim.search import passages as answering
from ieim.search.caching import Cache
from ieim.search.kinds import Kinds, kind_of_words
from ieim.search.life_events import LifeEvents
from ieim.search.linking import Links
from ieim.search.requests import segments
from ieim.search.weights import MEANING, WORDS, Weights
from ieim.search.words import BM25Index, service_texts

Numbers = NDArray[np.float64]

LONGEST_ENTRY: Final = 1_500
"""Characters of an entry that its vector is made of; it begins with what it is about."""

LONGEST_MESSAGE: Final = 600
"""Characters of a message that its vector is made of."""

_REMEMBERED: Final = 64
"""Texts whose vectors, and queries whose rankings, are remembered: a turn asks several times."""

_CACHE_SIZE: Final = 4
"""Releases whose indexes (one a language) are kept in a process: the current one and those of turns
that began before it."""


_NOTHING: Final = 50.0
"""The score of "none of them" where words alone rank and no service has any."""

REQUEST: Final = 0.7
OTHERS: Final = 0.05
"""A part of a message is a request of its own where its service is at least so probable, and that
of each other request at most so much."""

EVENT: Final = 0.15
"""A part of a message tells of a situation from this probability on."""

KNOWN: Final = 0.8
"""A line of the background that is so like an entry or a question of the release is left out."""


def background() -> list[str]:
    """Return what administrations and chat windows are asked that most have no service for."""
    path = Path(__file__).with_name("examples") / "elsewhere.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The texts of a release whose vectors the ranking needs, group by group."""

    entries: list[str]
    names: list[str]
    questions: list[str]
    passages: list[str]
    background: list[str]
    situations: list[str]
    events: list[str]

    @property
    def texts(self) -> list[str]:
        """All of them, in the order of the groups."""
        return [
            *(*self.entries, *self.names, *self.questions),
            *(*self.passages, *self.background),
            *(*self.situations, *self.events),
        ]


def texts_of(release: Release) -> list[str]:
    """Return every text that the ranking of ``release`` needs a vector of, repeated ones too."""
    return _layout(release).texts


def _layout(release: Release) -> _Layout:
    words = {
        key: ", ".join((entry.value, *entry.keywords)) for key, entry in release.categories.items()
    }

    def entry(service: Service) -> str:
        agency = release.agencies.get(service.agency)
        categories = "; ".join(words.get((service.agency, key), "") for key in service.categories)
        parts = (f"{service.name}.", categories, service.overview, service.applicability_summary)
        text = " ".join(part for part in parts if part)
        return (f"{agency.name}: {text}" if agency else text)[:LONGEST_ENTRY]

    services = list(release.services.values())
    return _Layout(
        entries=[entry(service) for service in services],
        names=[
            service.name[:LONGEST_ENTRY]
            for service in (release.original or release).services.values()
        ],
        questions=[question.text for question in release.questions if not question.situation],
        passages=[text for service in services for _, text in answering.of_service(service)],
        background=background(),
        situations=[
            f"{situation.name}. {situation.description}"[:LONGEST_ENTRY]
            for situation in release.situations.values()
        ],
        events=[question.text for question in release.questions if question.situation],
    )


class Search:
    """The :class:`~ieim.pipeline.ports.Shortlist` of one release.

    ``vectors`` has a row for each of :func:`texts_of`, made by ``embedder``; without them words
    alone rank, as they do while the embedder gives nothing. No method raises for any text. Equal
    scores fall in the order of the release. Safe for threads.
    """

    def __init__(
        self,
        release: Release,
        vectors: Matrix | None = None,
        embedder: Embedder | None = None,
        kinds: Kinds | None = None,
    ) -> None:
        self.release = release
        self.services = list(release.services.values())
        self.places = {key: index for index, key in enumerate(release.services)}
        self._words = BM25Index(service_texts(release), background())
        self.events = LifeEvents(release)
        self._links = Links(list((release.original or release).services.values()))
        self._embedder, self._kinds = embedder, kinds
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Matrix] = OrderedDict()
        self._rankings: OrderedDict[Query, _Ranking] = OrderedDict()
        question_keys = [(q.agency, q.service) for q in release.questions if not q.situation]
        self._asked = np.array([self.places.get(key, -1) for key in question_keys], dtype=np.int64)
        self._has_questions = np.zeros(len(self.services), dtype=bool)
        self._has_questions[self._asked[self._asked >= 0]] = True
        self._left_out: tuple[int, float] | None = None
        self._groups: dict[str, Matrix] = {}
        if vectors is not None:
            self._divide(_layout(release), vectors)

    def without(self, question: ExampleQuestion) -> Search:
        """Return the search for the text of an example question as if the release did not have it;
        for that text alone. How rare a word is in services stays that of the whole release."""
        kept = tuple(other for other in self.release.questions if other != question)
        rest = replace(self.release, questions=kept)
        search = copy.copy(self)
        search._lock, search._rankings = threading.Lock(), OrderedDict()
        if question.situation:
            events = [q for q in self.release.questions if q.situation]
            search.events = self.events.without(events.index(question), rest)
            return search
        place = self.places[question.agency, question.service]
        questions = [q for q in self.release.questions if not q.situation]
        search._asked = np.where([q == question for q in questions], -1, self._asked)
        search._has_questions = self._has_questions.copy()
        search._has_questions[place] = place in search._asked
        search._left_out = (place, self._words.share(question.text, service_texts(rest)[place]))
        return search

    def _divide(self, layout: _Layout, vectors: Matrix) -> None:
        if len(vectors) != len(layout.texts):
            raise ValueError("There is one vector for each text of the release.")
        start = 0
        groups = ("entries", "names", "questions", "passages", "background", "situations", "events")
        for name in groups:
            end = start + len(getattr(layout, name))
            self._groups[name] = vectors[start:end]
            start = end
        self.events.learn(self._groups.pop("situations"), self._groups.pop("events"))
        counts = [len(answering.of_service(service)) for service in self.services]
        self._passage_starts = np.cumsum([0, *counts])
        answered = np.concatenate([self._groups["entries"], self._groups["questions"]])
        likeness = self._groups["background"] @ answered.T
        unknown = likeness.max(axis=1, initial=-1.0) < KNOWN
        self._groups["background"] = self._groups["background"][unknown]

    @property
    def embedder(self) -> str:
        """The embedder's id, empty where words alone rank."""
        return self._embedder.id if self._embedder is not None and self._groups else ""

    def rank(self, query: Query) -> Ranking:
        """Rank the services of the release, without the dates of the query; rankings are
        remembered by query.
        """
        query = query._replace(text=_without_dates(query.text), before=_without_dates(query.before))
        with self._lock:
            if (ranking := self._rankings.get(query)) is not None:
                self._rankings.move_to_end(query)
                return ranking
        ranking = self._ranked(query)
        if not self._groups or ranking.by_meaning:  # what the embedder missed is not remembered
            with self._lock:
                self._rankings[query] = ranking
                while len(self._rankings) > _REMEMBERED:
                    self._rankings.popitem(last=False)
        return ranking

    def _ranked(self, query: Query) -> _Ranking:
        texts = [query.text, *([query.before] if query.before else [])]
        vectors = self._embed(texts)
        weights = WORDS if vectors is None else MEANING
        parts = [
            self.features(text, vector)
            for text, vector in zip(texts, _rows(vectors, len(texts)), strict=True)
        ]
        rows = [
            self._scores(features, likeness, weights, by_meaning=vectors is not None)
            for features, likeness in parts
        ]
        scores, none = rows[0]
        subject_keys = [key for key in query.about if key not in query.without]
        about = [self.places[key] for key in subject_keys if key in self.places]
        if len(rows) > 1 and rows[1][1] < _NOTHING:  # what says nothing leaves the message as it is
            share = weights.before if query.about else weights.unanswered
            scores = scores + share * rows[1][0]
            none += share * rows[1][1]
        if about:
            odds = self._odds_of_going_on(query.text, weights.correcting)
            scores[about] += weights.about + weights.going_on * odds
            none += weights.outside
        for key in query.without:
            if key in self.places:
                scores[self.places[key]] = -np.inf
        vector = None if vectors is None else vectors[0]
        features, background = parts[0]
        likeness = self._nearness(features, vector)
        events = self.events.probabilities(query.text, vector, likeness, background)
        return _Ranking(self, scores, none, about, events, by_meaning=vectors is not None)

    def _nearness(self, features: Numbers, vector: Matrix | None) -> Numbers:
        """Return how near each service is to a text: by its questions, by its entry where it has
        none, by words without a ``vector``."""
        if vector is None:
            return features[:, 5]
        return np.where(self._has_questions, features[:, 1], features[:, [0, 3]].max(axis=1))

    def _scores(
        self, features: Numbers, likeness: float, weights: Weights, *, by_meaning: bool
    ) -> tuple[Numbers, float]:
        """Return the score of each service for a text alone, and that of "none of them"."""
        asked_scores, unasked = (
            features @ np.array(weights.asked),
            features @ np.array(weights.unasked),
        )
        none = weights.none + weights.background * likeness
        if not by_meaning and not features[:, 5].any():
            none = _NOTHING
        return np.where(self._has_questions, asked_scores, unasked), none

    def features(self, text: str, vector: Matrix | None) -> tuple[Numbers, float]:
        """Return a row for each service, and the likeness of ``text`` to the background.

        The columns: cosine of the entry, the largest of its questions, 1, cosine of the name, the
        largest of its passages, the share of the words of ``text`` in it, and that share by the
        best one. Without a ``vector`` only the last two say something.
        """
        shares = self._words.shares(text)
        if self._left_out is not None:
            place, shares[place] = self._left_out
        features = np.zeros((len(self.services), len(MEANING.asked)))
        features[:, 2] = 1.0
        features[:, 5], features[:, 6] = shares, shares / (shares.max(initial=0.0) or 1.0)
        if vector is None:
            return features, self._words.likeness(text)
        names = self._groups["names"] @ vector
        questions = np.full(len(self.services), -1.0, dtype=np.float32)
        has_service = self._asked >= 0
        np.maximum.at(
            questions, self._asked[has_service], self._groups["questions"][has_service] @ vector
        )
        features[:, 0], features[:, 1] = self._groups["entries"] @ vector, questions
        features[:, 3], features[:, 4] = names, self._best_passages(vector, names)
        return features, float((self._groups["background"] @ vector).max(initial=0.0))

    def _best_passages(self, vector: Matrix, names: Matrix) -> Matrix:
        """Return the best likeness of the passages of each service, of its name where it has
        none."""
        starts, likeness = self._passage_starts, self._groups["passages"] @ vector
        has_some = starts[1:] > starts[:-1]
        best = names.copy()
        if len(likeness):
            best[has_some] = np.maximum.reduceat(likeness, starts[:-1][has_some])
        return best

    def _odds_of_going_on(self, text: str, correcting: float) -> float:
        kinds = self.kinds(text)
        against = kinds.get(INQUIRY, 0.0) + correcting * kinds.get(CORRECTION, 0.0)
        return float(np.log((kinds.get(FOLLOW_UP, 0.0) + 1e-3) / (against + 1e-3)))

    def requests(self, text: str) -> Sequence[Span]:
        """Return the parts of a message that each surely ask for a service of their own."""
        spans = segments(text)
        if len(spans) < 2:
            return []
        ranked = [(span, self.rank(Query(text[span.start : span.end]))) for span in spans]
        whole = self.rank(Query(text))
        sure: dict[Key, tuple[Span, Ranking]] = {}
        for span, ranking in ranked:
            if ranking.first >= REQUEST and not _is_reason(ranking, whole):
                best = ranking.services(limit=1)[0].item
                sure.setdefault((best.agency, best.key), (span, ranking))
        apart = [
            span
            for key, (span, ranking) in sure.items()
            if all(other == key or ranking.probability(other) <= OTHERS for other in sure)
        ]
        return sorted(apart) if len(apart) > 1 else []

    def kinds(self, text: str) -> Mapping[str, float]:
        """Return the probability of each kind of message; what exact words say is certain, but for
        an inquiry: in a talk the same words may go on with it."""
        kind = kind_of_words(text)
        if kind not in (None, INQUIRY):
            return {kind: 1.0}
        vectors = self._embed([text])
        return {} if self._kinds is None or vectors is None else self._kinds.of(vectors[0])

    def passages(self, text: str, service: Service) -> Passages | None:
        """Return which passages of a service's entry answer a message."""
        index = self.places.get((service.agency, service.key))
        asked_fields, question = answering.asked(text)
        vectors = self._embed([asked_fields])
        if vectors is None or index is None or self._kinds is None:
            return None
        start, end = self._passage_starts[index : index + 2]
        rows, fields = self._groups["passages"][start:end], self._kinds.fields(vectors[0])
        limits = np.array([self._kinds.fields(row).get(DEADLINE, 0.0) for row in rows])
        tells = not question and sum(fields.values()) < answering.ASKS
        named = self._embed([f"{service.name}: {asked_fields}"]) if tells else None
        nearer = None if named is None else rows @ (named[0] - self._groups["names"][index])
        return answering.rank(
            self.services[index],
            rows,
            asked_fields,
            vectors[0],
            fields,
            limits=limits,
            nearer=nearer,
            question=question,
        )

    def next_services(self, service: Service) -> Sequence[Linked]:
        """Return the services that editors wrote, else those that the entry names."""
        written = self._links.written(service)
        original = self._links.original(service)
        if written is not None or original is None or not self._groups:
            return written or []
        texts = answering.of_service(original)
        vectors = self._documents([text for _, text in texts])
        if vectors is None:
            return []
        return self._links.found(original, texts, vectors, self._groups["names"])

    def _documents(self, texts: Sequence[str]) -> Matrix | None:
        if self._embedder is None or not texts:
            return None
        try:
            return self._embedder.documents(texts)
        except EmbedderUnavailable:
            return None  # the embedder has logged why

    def _embed(self, texts: Sequence[str]) -> Matrix | None:
        """Return one row a text, None without vectors of the release or while there are none."""
        if self._embedder is None or not self._groups:
            return None
        cut = [text[:LONGEST_MESSAGE] for text in texts]
        with self._lock:
            cached = {text: self._vectors[text] for text in cut if text in self._vectors}
        missing = [text for text in dict.fromkeys(cut) if text not in cached]
        try:
            made: Sequence[Matrix] = list(self._embedder.queries(missing)) if missing else []
        except EmbedderUnavailable:
            return None  # the embedder has logged why
        if missing and len(made[0]) != self._groups["background"].shape[1]:
            return None
        cached |= zip(missing, made, strict=True)
        with self._lock:
            for text in cut:
                self._vectors[text] = cached[text]
                self._vectors.move_to_end(text)
            while len(self._vectors) > _REMEMBERED:
                self._vectors.popitem(last=False)
        return np.stack([cached[text] for text in cut])


class _Ranking:
    """The :class:`~ieim.pipeline.ports.Ranking` of one query; see there."""

    def __init__(
        self,
        search: Search,
        scores: Numbers,
        none: float,
        about: Sequence[int],
        events: Numbers,
        *,
        by_meaning: bool,
    ) -> None:
        self._search, self._about, self.by_meaning = search, about, by_meaning
        self._events = events
        powers = np.exp(np.append(scores, none) - max(scores.max(initial=none), none))
        self._probabilities = powers / powers.sum()
        self._order = np.argsort(-scores, kind="stable")
        self._left = int(np.isfinite(scores).sum())

    @property
    def outside(self) -> float:
        """The probability that no service is about the query."""
        return float(self._probabilities[-1])

    @property
    def first(self) -> float:
        """The probability that the first service is right."""
        return float(self._probabilities[self._order[:1]].sum())

    @property
    def four(self) -> float:
        """The probability that one of the first four is right."""
        return float(self._probabilities[self._order[:4]].sum())

    @property
    def goes_on(self) -> bool:
        """Whether the first service is one that the talk is about."""
        return bool(self._left) and int(self._order[0]) in self._about

    def probability(self, service: Key) -> float:
        """Return the probability that ``service`` is right."""
        index = self._search.places.get(service)
        return 0.0 if index is None else float(self._probabilities[index])

    def services(
        self, *, agencies: Collection[str] | None = None, limit: int
    ) -> Sequence[Ranked[Service]]:
        """Return the ``limit`` best services of ``agencies`` (None: of all), best first."""
        result: list[Ranked[Service]] = []
        for index in self._order[: self._left]:
            service = self._search.services[index]
            if len(result) >= limit:
                break
            if agencies is None or service.agency in agencies:
                probability = float(self._probabilities[index])
                result.append(Ranked(service, len(result) + 1, probability))
        return result

    @cached_property
    def _best_of_agencies(self) -> Mapping[str, float]:
        best: dict[str, float] = {}
        for index in self._order[: self._left]:
            agency = self._search.services[index].agency
            best.setdefault(agency, float(self._probabilities[index]))
        return best

    def agencies(self, *, limit: int) -> Sequence[Ranked[Agency]]:
        """Return the ``limit`` best agencies, by their best services."""
        agencies_of_release = self._search.release.agencies
        best = {
            agency: p
            for agency, p in self._best_of_agencies.items()
            if agency in agencies_of_release
        }
        ids = [*best, *(agency for agency in agencies_of_release if agency not in best)]
        return [
            Ranked(agencies_of_release[agency], rank, best.get(agency, 0.0))
            for rank, agency in enumerate(ids[: max(limit, 0)], start=1)
        ]

    def categories(self, *, agencies: Collection[str], limit: int) -> Sequence[Ranked[Category]]:
        """Return the ``limit`` best dictionary entries of ``agencies``, by their best services."""
        categories = self._search.release.categories
        best: dict[Key, float] = {}
        for ranked in self.services(agencies=agencies, limit=self._left):
            for key in ranked.item.categories:
                best.setdefault((ranked.item.agency, key), ranked.probability)
        keys = [key for key in best if key in categories]
        keys += [key for key in categories if key[0] in agencies and key not in best]
        return [
            Ranked(categories[key], rank, best.get(key, 0.0))
            for rank, key in enumerate(keys[: max(limit, 0)], start=1)
        ]

    def situations(self, *, limit: int) -> Sequence[Ranked[Situation]]:
        """Return the ``limit`` nearest situations, by what the message says alone."""
        situations = self._search.events.situations
        order = np.argsort(-self._events[:-1], kind="stable")[: max(limit, 0)]
        return [
            Ranked(situations[index], rank, float(self._events[index]))
            for rank, index in enumerate(order, start=1)
        ]


def _without_dates(text: str) -> str:
    """Return ``text`` without its dates, or as it is where nothing else is in it.

    The "18" of 18 November is no word of a service for people of 18 years. Servers of embeddings
    refuse an empty text.
    """
    rest = text
    for fact in reversed(facts(text)):
        if fact.kind == "date":
            rest = rest[: fact.start] + rest[fact.end :]
    return rest if rest.strip() else text


def _is_reason(part: Ranking, whole: Ranking) -> bool:
    """Whether a part of a message only tells of the event for which the whole asks for something:
    for another service of the same situation ("my father died, where do I order a copy")."""
    event = next(iter(part.situations(limit=1)), None)
    if event is None or event.probability < EVENT or whole.first < REQUEST:
        return False
    first = whole.services(limit=1)[0].item
    best_of_part = part.services(limit=1)[0].item
    steps = {(step.agency, step.service) for step in event.item.steps}
    return first != best_of_part and (first.agency, first.key) in steps


def _rows(vectors: Matrix | None, count: int) -> Sequence[Matrix | None]:
    return [None] * count if vectors is None else list(vectors)


def fuse(release: Release, embedder: Embedder, kinds: Kinds | None = None) -> Search:
    """Return the search over ``release`` with vectors made here and kept nowhere.

    Raises :class:`EmbedderUnavailable`.
    """
    return Search(release, embedder.documents(texts_of(release)), embedder, kinds)


_searches: Cache[tuple[str, str], Search] = Cache(_CACHE_SIZE, group=lambda key: key[0])


def index_for(release: Release) -> Search:
    """Return the search by words over ``release``, built once per process, content and language.

    Safe to call from several threads; the last few are kept.
    """
    return _searches.get((release.sha256, release.language), lambda: Search(release))


forget_unused = _searches.forget_unused
