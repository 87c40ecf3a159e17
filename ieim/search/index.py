"""The shortlist by words: BM25 over one release, in memory. Meaning is added in ``fusing``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from ieim.pipeline.knowledge import Agency, Category, Release, Service
from ieim.pipeline.ports import Linked, Part, Piece, Ranked
from ieim.pipeline.reply.guidance import UNCLEAR
from ieim.pipeline.stages.base import APART
from ieim.search import steering
from ieim.search.caching import Cache
from ieim.search.clauses import (
    ENOUGH_TOPIC,
    Subject,
    read_clauses,
    refers_back,
    subject,
    subject_after,
    topic,
)
from ieim.search.engine import Field, Index
from ieim.search.examples import exact
from ieim.search.linking import Links
from ieim.search.scoring import Scorer, read_query

ON_TOPIC_SCORE = 1.0
"""A message with at least this share in one service is about something in the index."""

_ELSEWHERE = 0.2
"""And about something else than the talk with at most this part of that share where the talk is."""

_CACHE_SIZE = 4
"""Releases whose indexes (one a language) are kept in a process: the current one and those of turns
that began before it."""


class ReleaseIndex:
    """The :class:`~ieim.pipeline.ports.Shortlist` of one release.

    No method raises for any text. A text without a word that the index knows (empty, symbols only,
    stop words only) gives the entries in index order with score 0.0. Equal scores fall in index
    order. Fewer matches than ``limit`` are filled up with entries that did not match. Where only
    words match that are alike to those of the text, and none of its own weighs anything, the
    matches come first, with score 0.0. Every score is finite and not negative.
    """

    embedder = ""

    def __init__(self, release: Release) -> None:
        self.agency_index = Index(list(release.agencies.values()), _agency_fields())
        self.category_index = Index(
            list(release.categories.values()), _category_fields(), owner=lambda c: c.agency
        )
        services, fields = list(release.services.values()), _service_fields(release)
        # The plain field repeats the others for the sake of languages that have no stems.
        weighed = [field for field in fields if field.stemmed]
        self.service_index = Index(
            services,
            fields,
            owner=lambda s: s.agency,
            scorer=Scorer(
                [[field.text(service) for field in weighed] for service in services],
                [field.boost for field in weighed],
            ),
        )
        self.links = Links(list((release.original or release).services.values()))
        self.agency_places = {agency: place for place, agency in enumerate(release.agencies)}

    def turns_away(self, query: str) -> bool:
        """Whether the message of ``query`` has a subject apart from the talk's.

        It has one when the talk has none of its words, or when some service has clearly more of it
        than those that the talk is about.
        """
        message, _, talk = query.partition(APART)
        talk = talk.replace(APART, "\n")
        subject_of_message = subject_after(message, talk)
        if subject_of_message is not Subject.SOME:
            return subject_of_message is Subject.APART
        best, about = self.service_index.shares(message, talk)
        return best >= ON_TOPIC_SCORE and about <= _ELSEWHERE * best

    def likeness(self, text: str, *, in_a_talk: bool) -> None:
        """Words alone say nothing of that here."""

    def takes_for_inquiry(self, text: str, *, in_a_talk: bool) -> bool:
        """Whether a service has one of the words of a subject that the message has by itself."""
        words = " ".join(subject(topic(text)))
        best = self.services(words, agencies=None, limit=1)
        return self.case(text) == UNCLEAR and any(ranked.score > 0 for ranked in best)

    def case(self, text: str) -> str:
        """Return the case of an example with the same words, else ``unclear``."""
        example = exact(text)
        return UNCLEAR if example is None else example.case

    def goes_on(self, query: str) -> float:
        """Return 0.0 where the message of ``query`` turns away from the talk, else 1.0."""
        return 0.0 if self.turns_away(query) else 1.0

    def parts(self, text: str) -> Sequence[Part]:
        """Return the questions of a message that have words of a subject and refer to nothing."""
        return [
            Part(each.start, each.end)
            for each in read_clauses(text)
            if each.is_question
            and len(subject(topic(each.text))) >= ENOUGH_TOPIC
            and not refers_back(each.text)
        ]

    def passages(self, _text: str, _service: Service) -> None:
        """Words alone do not tell that."""
        return

    def next_services(self, service: Service) -> Sequence[Linked]:
        """Return the services that editors wrote."""
        return self.links.written(service) or []

    def pieces(self, text: str) -> Sequence[Piece]:
        """Return the pieces of a message: numbers are all that is read of how it steers a talk."""
        return steering.pieces(text, None, lambda _texts: None)

    def named(self, text: str, among: Sequence[Service]) -> None:
        """Words alone do not say that surely enough."""

    def turns_to(self, text: str, about: Service, without: Collection[tuple[str, str]]) -> None:
        """Words alone do not say that here."""

    def evidence(self, text: str, services: Sequence[Service]) -> tuple[Sequence[float], float]:
        """Return the share of a message that each of ``services`` has, and the best one."""
        return self.service_index.evidence(text, None, services)

    def near_enough(self, text: str, services: Sequence[Service] | None = None) -> bool:
        """Words alone tell nobody that nothing is about a message."""
        return True

    def agencies(self, query: str, *, limit: int) -> Sequence[Ranked[Agency]]:
        """Rank agencies by their own text, their best service and their best category."""
        words = read_query(query)
        scores: dict[int, float] = defaultdict(float)
        for position, score in self.agency_index.search(words, len(self.agency_places)):
            scores[position] += score
        for entries in (self.service_index, self.category_index):
            for owner, score in entries.best_of_owners(words).items():
                if owner in self.agency_places:
                    scores[self.agency_places[owner]] += score
        hits = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
        return self.agency_index.ranked(hits, limit)

    def categories(
        self, query: str, *, agencies: Sequence[str], limit: int
    ) -> Sequence[Ranked[Category]]:
        """Rank dictionary entries of ``agencies``; ids that the release has not are ignored."""
        return self.category_index.shortlist(query, agencies, limit)

    def services(
        self, query: str, *, agencies: Sequence[str] | None, limit: int
    ) -> Sequence[Ranked[Service]]:
        """Rank services of ``agencies`` (None: of all); unknown ids are ignored."""
        return self.service_index.shortlist(query, agencies, limit)


def _agency_fields() -> list[Field[Agency]]:
    return [
        Field("name", lambda agency: agency.name, 2.0),
        Field("description", lambda agency: agency.description, 1.0),
        # Ids are often the abbreviation that people use ("SSA").
        Field(
            "plain", lambda agency: f"{agency.id} {agency.name} {agency.description}", 1.0, False
        ),
    ]


def _category_fields() -> list[Field[Category]]:
    def words(category: Category) -> str:
        return "\n".join((category.value, *category.keywords))

    return [Field("words", words, 2.0), Field("plain", words, 1.0, False)]


def _service_fields(release: Release) -> list[Field[Service]]:
    labels: Mapping[tuple[str, str], str] = {
        key: "\n".join((entry.value, *entry.keywords)) for key, entry in release.categories.items()
    }

    def categories(service: Service) -> str:
        return "\n".join(labels.get((service.agency, key), "") for key in service.categories)

    def about(service: Service) -> str:
        return f"{service.overview}\n{service.applicability_summary}"

    def rest(service: Service) -> str:
        parts = (service.fees, service.processing_time, service.contact)
        return "\n".join((*service.requirements, *service.how_to_apply, *parts))

    def everything(service: Service) -> str:
        return "\n".join((service.name, categories(service), about(service), rest(service)))

    return [
        Field("name", lambda service: service.name, 1.5),
        Field("categories", categories, 1.5),
        Field("about", about, 1.0),
        Field("rest", rest, 0.8),
        Field("plain", everything, 1.0, False),
    ]


_indexes: Cache[tuple[str, str], ReleaseIndex] = Cache(_CACHE_SIZE, group=lambda key: key[0])


def index_for(release: Release) -> ReleaseIndex:
    """Return the index of ``release``, built once per process, content (``sha256``) and language.

    Safe to call from several threads; the last few indexes are kept.
    """
    return _indexes.get((release.sha256, release.language), lambda: ReleaseIndex(release))


forget_unused = _indexes.forget_unused
