"""What a talk is about: a small state that is read from its messages, and that a citizen steers.

Nothing of it is stored: it follows from what was said before (``chat_context_summary``), and so
cannot be out of step with it. A message is read in pieces (:class:`~ieim.pipeline.ports.Piece`), by
position and by meaning, in whatever language: "the third one", "both", "not that, the visa", "and
for my child?", "done, and then?".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ieim.pipeline.knowledge import Agency, Category, Release, Service
from ieim.pipeline.ports import (
    ALL,
    LAST,
    NEXT,
    NO,
    NOT,
    OTHER,
    POSITIONS,
    YES,
    Likeness,
    Linked,
    Part,
    Passages,
    Piece,
    Ranked,
    Shortlist,
    Turned,
)
from ieim.pipeline.reply.reply import LEAST_PARTS
from ieim.pipeline.work import Key

NEAREST = 3
"""So many services a piece of a message may be about."""

DOUBT = 0.5
"""So surely a message goes on at most that refuses what was answered."""

_QUESTION = ("?", "؟", "？")

AHEAD = 1.0
"""So much more than the best evidence a service has that the talk leads to, where that is sure."""


@dataclass(frozen=True, slots=True)
class Talk:
    """``services`` were answered about, newest first; ``listed`` were so together; ``offered`` were
    last to choose from, in order, and with ``asking`` the citizen has not chosen. ``asks_back``
    says that the last answer ends in a question; ``question`` is the citizen's last message.
    ``refused`` since the last answer, and ``done``, is what they say."""

    services: tuple[Key, ...] = ()
    listed: tuple[Key, ...] = ()
    offered: tuple[Key, ...] = ()
    asking: bool = False
    asks_back: bool = False
    question: str = ""
    refused: frozenset[Key] = frozenset()
    done: frozenset[Key] = frozenset()

    @property
    def about(self) -> Key | None:
        """The service that the last answer was about."""
        return self.services[0] if self.services else None

    def answered(self, services: Sequence[Key], offered: Sequence[Key]) -> Talk:
        """Return the talk after an answer about ``services``, a question which of ``offered`` is
        meant, or neither; what was refused before a question stays so."""
        return replace(
            self,
            services=tuple(dict.fromkeys([*services, *self.services])),
            listed=tuple(services) if len(services) > 1 else self.listed,
            asking=bool(offered) and not services,
            offered=tuple(offered) or (tuple(services) if len(services) > 1 else self.offered),
            refused=self.refused if offered and not services else frozenset(),
        )


@dataclass(frozen=True, slots=True)
class Steering:
    """What a message makes of a talk: ``chosen`` are services that it takes, which nobody need be
    asked about any more, ``from_offer`` what they were chosen from (none where it asks what comes
    next), and ``asks`` the message to answer of them: the one before, where this one only takes;
    ``towards`` is the one that it turns to; ``about`` is the message without what it does not mean;
    ``talk`` is the state after it."""

    talk: Talk
    about: str
    chosen: tuple[Key, ...] = ()
    from_offer: tuple[Key, ...] = ()
    asks: str = ""
    towards: Turned | None = None


def talk_of(history: Sequence[Mapping[str, Any]], search: Shortlist, release: Release) -> Talk:
    """Return the state of a talk from its ``history`` (``chat_context_summary``)."""
    talk = Talk()
    for item in history:
        if item.get("role") == "user":
            text = str(item["text"])
            talk = replace(_read(text, talk, search.pieces(text), search, release), question=text)
            continue
        known = release.services
        offered = [key for each in item.get("offered", ()) if (key := _key(each)) in known]
        about = [_key(item)] if item.get("service") and _key(item) in known else []
        several = [key for each in item.get("services", ()) if (key := _key(each)) in known]
        asks_back = str(item["text"]).rstrip().endswith(_QUESTION)
        talk = replace(talk.answered(several or about, offered), asks_back=asks_back)
    return talk


def _key(item: Mapping[str, Any]) -> Key:
    return str(item.get("agency", "")), str(item.get("service", ""))


def steer(text: str, talk: Talk, search: Shortlist, release: Release) -> Steering:
    """Return what a message makes of a talk."""
    pieces = search.pieces(text)
    meant = [text[p.start : p.end] for p in pieces if not p.move]
    left = _read(text, talk, pieces, search, release)
    unmeant = any(p.move == NOT for p in pieces)
    steering = Steering(left, ", ".join(meant) if unmeant and meant else text, asks=text)
    moves = {p.move for p in pieces}
    chosen = _chosen(moves, talk, left)
    offered = [release.services[key] for key in talk.offered if key not in left.refused]
    # Who asks for several things asks anew, and names none of what is offered.
    if not chosen and talk.asking and offered and len(search.parts(text)) < LEAST_PARTS:
        found = search.named(steering.about, offered)
        chosen = ((found.agency, found.key),) if found is not None else ()
    if chosen:
        asks = text if meant or NEXT in moves else talk.question
        return replace(steering, chosen=chosen, from_offer=talk.offered, asks=asks)
    if following := _following(moves, talk, left):
        return replace(steering, chosen=following, asks=text)
    if talk.about is None or not meant:
        return steering
    about = release.services[talk.about]
    return replace(steering, towards=search.turns_to(steering.about, about, left.refused))


def _chosen(moves: Collection[str], talk: Talk, left: Talk) -> tuple[Key, ...]:
    """Return the services that moves take: of what is offered, or of those of the talk."""
    offered = [key for key in talk.offered if key not in left.refused]
    places = [place for place, name in enumerate(POSITIONS) if name in moves]
    if talk.offered and places:
        return tuple(talk.offered[place] for place in places if place < len(talk.offered))
    if LAST in moves:
        return tuple(talk.offered[-1:])
    if OTHER in moves:
        others = [key for key in (*talk.offered, *talk.services) if key != talk.about]
        return tuple(dict.fromkeys(others))[:1]
    if ALL in moves:
        return tuple(talk.offered)
    if YES in moves and len(offered) == 1:
        return tuple(offered)
    return ()


def _following(moves: Collection[str], talk: Talk, left: Talk) -> tuple[Key, ...]:
    """Return the service of the talk that a message goes on with by asking what comes next."""
    if NEXT in moves and talk.about is not None:
        waiting = [key for key in talk.listed if key not in left.done | left.refused]
        return tuple(waiting[:1]) or (talk.about,)
    return ()


def _read(
    text: str, talk: Talk, pieces: Sequence[Piece], search: Shortlist, release: Release
) -> Talk:
    """Return a talk after what a message refuses, or says is done."""
    moves = {piece.move for piece in pieces}
    refused: set[Key] = set()
    meant = ", ".join(text[p.start : p.end] for p in pieces if not p.move)
    says_no = NO in moves and not talk.asks_back  # "no" answers a question
    if talk.about is not None and says_no and not _is_best(talk.about, meant, search):
        refused.add(talk.about)
    elif talk.asking and moves == {NO}:
        refused.update(talk.offered)
    for piece in pieces:
        if piece.move == NOT:
            unmeant = text[piece.start : piece.end]
            refused.update(_unmeant(unmeant, meant, talk, search, release))
    done = {talk.about} if NEXT in moves and talk.about is not None else set()
    return replace(talk, refused=talk.refused | refused, done=talk.done | done)


def _is_best(service: Key, text: str, search: Shortlist) -> bool:
    """Whether what a message means is first of all ``service``: it corrects a detail."""
    ranked = search.services(text, agencies=None, limit=1) if text else ()
    return [(each.item.agency, each.item.key) for each in ranked] == [service]


def _unmeant(
    piece: str, meant: str, talk: Talk, search: Shortlist, release: Release
) -> Iterator[Key]:
    """Yield what a piece says is not meant: the service that it clearly names, or the talk's where
    it is among the nearest."""
    named = search.named(piece, list(release.services.values()))
    if named is not None:
        yield named.agency, named.key
    nearest = search.services(piece, agencies=None, limit=NEAREST)
    is_near = talk.about in [(each.item.agency, each.item.key) for each in nearest]
    if talk.about is not None and is_near and not _is_best(talk.about, meant, search):
        yield talk.about


class Steered:
    """A :class:`~ieim.pipeline.ports.Shortlist` in a talk that a citizen has steered: what they
    refused is no candidate, and what they turned to is the first."""

    def __init__(self, search: Shortlist, steering: Steering, *, leads: bool) -> None:
        """``leads`` says that nobody else reads the talk: it then is left where a message turns.

        A model that reads it itself keeps the service of the last answer to choose from, unless the
        message turns to another: "no, I want to fight it" may well go on with the same one.
        """
        self._search = search
        self._refused = steering.talk.refused
        self._towards = steering.towards
        if not leads and steering.towards is None:
            self._refused -= {steering.talk.about} if steering.talk.about else set()
        self._leaves = leads and steering.towards is not None

    @property
    def embedder(self) -> str:
        """The embedder's id."""
        return self._search.embedder

    def likeness(self, text: str, *, in_a_talk: bool) -> Likeness | None:
        """Return how similar a message is to inquiries."""
        return self._search.likeness(text, in_a_talk=in_a_talk)

    def takes_for_inquiry(self, text: str, *, in_a_talk: bool) -> bool:
        """Whether a message reads as an inquiry."""
        return self._search.takes_for_inquiry(text, in_a_talk=in_a_talk)

    def case(self, text: str) -> str:
        """Return which case a message is that asks nothing."""
        return self._search.case(text)

    def goes_on(self, query: str) -> float:
        """Return how surely a message goes on with the talk: not where it turns away."""
        sure = 0.0 if self._leaves else self._search.goes_on(query)
        return min(sure, DOUBT) if self._refused else sure

    def parts(self, text: str) -> Sequence[Part]:
        """Return the requests of a message."""
        return self._search.parts(text)

    def pieces(self, text: str) -> Sequence[Piece]:
        """Return the pieces of a message."""
        return self._search.pieces(text)

    def named(self, text: str, among: Sequence[Service]) -> Service | None:
        """Return the service that a message names."""
        return self._search.named(text, among)

    def turns_to(self, text: str, about: Service, without: Collection[Key]) -> Turned | None:
        """Return the service that a message turns to."""
        return self._search.turns_to(text, about, without)

    def passages(self, text: str, service: Service) -> Passages | None:
        """Return which passages of an entry answer a message."""
        return self._search.passages(text, service)

    def next_services(self, service: Service) -> Sequence[Linked]:
        """Return the services that an entry sends on to."""
        return self._search.next_services(service)

    def evidence(self, text: str, services: Sequence[Service]) -> tuple[Sequence[float], float]:
        """Return the evidence of each service for a message: all there is for what it turns to."""
        found, best = self._search.evidence(text, services)
        if self._towards is None:
            return found, best
        turned = self._towards.service
        return [best if s == turned else own for s, own in zip(services, found, strict=True)], best

    def near_enough(self, text: str, services: Sequence[Service] | None = None) -> bool:
        """Whether a service can be what a message is about: that which it turns to can."""
        return self._towards is not None or self._search.near_enough(text, services)

    def agencies(self, query: str, *, limit: int) -> Sequence[Ranked[Agency]]:
        """Rank agencies, by the best services that are left to each."""
        if not self._refused and self._towards is None:
            return self._search.agencies(query, limit=limit)
        best: dict[str, Ranked[Service]] = {}
        for each in self.services(query, agencies=None, limit=EVERY):
            best.setdefault(each.item.agency, each)
        places = {agency: place for place, agency in enumerate(best)}
        ranked = self._search.agencies(query, limit=EVERY)
        left = sorted((r for r in ranked if r.item.id in best), key=lambda r: places[r.item.id])
        return [
            Ranked(r.item, rank, best[r.item.id].score, best[r.item.id].meaning)
            for rank, r in enumerate(left[:limit], start=1)
        ]

    def categories(
        self, query: str, *, agencies: Sequence[str], limit: int
    ) -> Sequence[Ranked[Category]]:
        """Rank dictionary entries."""
        return self._search.categories(query, agencies=agencies, limit=limit)

    def services(
        self, query: str, *, agencies: Sequence[str] | None, limit: int
    ) -> Sequence[Ranked[Service]]:
        """Rank services without those that were refused."""
        if not self._refused and self._towards is None:
            return self._search.services(query, agencies=agencies, limit=limit)
        ranked = self._search.services(query, agencies=agencies, limit=EVERY)
        left = [r for r in ranked if (r.item.agency, r.item.key) not in self._refused]
        if self._towards is not None:
            score = left[0].score + AHEAD * self._towards.sure if left else 0.0
            left = [replace(r, score=score) if r.item == self._towards.service else r for r in left]
            left.sort(key=lambda r: (-r.score, r.rank))
        return [replace(r, rank=rank) for rank, r in enumerate(left[:limit], start=1)]


EVERY = 1_000_000
"""More than any release has."""
