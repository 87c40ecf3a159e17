"""What a contract brings to the pipeline: one :class:`Stage` value, built in one file each.

A stage builds its input, names the rules that a JSON Schema cannot hold, and says which slice of
its answer is kept. It never calls a model and never decides what runs next on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, TypeGuard

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.kinds import FOLLOW_UP, INQUIRIES, INQUIRY, kind_of
from ieim.pipeline.knowledge import Release
from ieim.pipeline.personal.redaction import Redacted
from ieim.pipeline.ports import Key, Query, Ranking, Shortlist, Span
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.sentences import questions

Output = Mapping[str, Any]
HISTORY_ITEMS = 20
MAX_ATTEMPTS = 2

NAMED = 0.65
"""From this probability of its first service on a message names a service of its own."""
OUTSIDE = 0.5
"""From this probability on no service is about a message."""


@dataclass(frozen=True, slots=True)
class Context:
    """What an answer is judged against.

    ``user_prompt`` is the citizen's text as sent: evidence offsets are code points into it.
    ``redacted`` is what a model was given of it, None where that was the text itself.
    ``labels`` are the codes of each label set that were given to the model. ``entities`` are gated
    entities by type, for ``entity_<type>`` placeholders. ``request`` is the per-call JSON that the
    model was sent, None for a person's answer: who reads the message knows what it is about.
    ``shown_text`` is what is shown in place of the free text that ends the flow, empty where
    nothing is, None for that text itself.
    """

    attempt: int
    user_prompt: str
    cached_state: Mapping[str, Any]
    release: Release
    labels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    used_response_ids: frozenset[str] = frozenset()
    entities: Mapping[str, str] = field(default_factory=dict)
    redacted: Redacted | None = None
    request: Mapping[str, Any] | None = None
    shown_text: str | None = None

    @property
    def seen(self) -> str:
        """The text that the model was given: what its quotes must stand in."""
        return self.user_prompt if self.redacted is None else self.redacted.text

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return a range of :attr:`seen` as a range of the citizen's text as sent."""
        return (start, end) if self.redacted is None else self.redacted.to_original(start, end)

    def cached(self, *keys: str) -> Any:
        """Return a value of ``cached_state``, None where any step of the way is missing."""
        value: Any = self.cached_state
        for key in keys:
            if not isinstance(value, Mapping):
                return None
            value = value.get(key)
        return value

    @property
    def detected(self) -> tuple[str, ...]:
        """Ids of the agencies that agency_detect_v1 found."""
        detected_agencies = self.cached("agency_detect_v1", "agencyDetected")
        return (
            tuple(a for a in detected_agencies if isinstance(a, str))
            if isinstance(detected_agencies, list)
            else ()
        )

    @property
    def answered(self) -> tuple[str, ...]:
        """Ids of the detected agencies without those at which semantic_analysis_v1 says that
        nothing fits."""
        return tuple(agency for agency in self.detected if self.analysed(agency) != {})

    def analysed(self, agency: str) -> Mapping[str, Any] | None:
        """Return the categories of an agency that semantic_analysis_v1 selected,
        ``{key: {value, score}}``.

        None where it did not analyse the agency: the state may be one that a case has by hand.
        """
        agencies = self.cached("semantic_analysis_v1", "agencies")
        for entry in agencies if isinstance(agencies, list) else []:
            if isinstance(entry, Mapping) and entry.get("agencyId") == agency:
                selection = entry.get("categorySelection")
                candidates = selection.get("candidates") if isinstance(selection, Mapping) else None
                return candidates if isinstance(candidates, Mapping) else None
        return None

    @property
    def complexity(self) -> str | None:
        """``low`` or ``high`` once agency_detect_v1 has passed, for an inquiry."""
        if self.cached("judgement_v1", "inquiry") is False:
            return None  # what is no inquiry ends the session: it has no branch
        value = self.cached("agency_detect_v1", "complexity")
        return value if value in ("low", "high") else None

    @property
    def answering_agency(self) -> str | None:
        """The agency whose service is selected: the one detected, or the primary one."""
        if self.complexity == "high":
            primary = self.cached("semantic_analysis_v1", "primaryAgency", "agencyId")
            return primary if isinstance(primary, str) else None
        return self.detected[0] if len(self.detected) == 1 else None


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a stage builds its input from.

    ``text`` is the screened message, ``today`` the day on which it was asked; ``history`` at most
    20 items, oldest first, each ``{"role", "text"}`` and, for an answer, ``"agency"`` and
    ``"service"``. ``query`` is what the search is asked for it. ``runtime_directive`` is what the
    administration tells every stage at the moment.
    """

    text: str
    today: date = field(kw_only=True)
    history: Sequence[Mapping[str, Any]]
    context: Context
    shortlist: Shortlist
    limits: Mapping[str, int]
    query: Query = field(kw_only=True)
    runtime_directive: str | None = None
    languages: Sequence[str] = ()  # ISO 639-1: the citizen's first, then the knowledge's
    again: bool = False  # asked as something else than what it was answered with
    contacts: Callable[[], str] = str  # see work.Options

    @property
    def ranking(self) -> Ranking:
        """The services in the order in which the message, read with its talk, may be about them."""
        return self.shortlist.rank(self.query)

    @property
    def requests(self) -> list[tuple[Span, Ranking]]:
        """The parts of a message that asks for several services, each ranked by itself; none for
        any other message."""
        spans = self.shortlist.requests(self.text)
        return [(span, self.shortlist.rank(self._part(span))) for span in spans]

    @property
    def questions_beside(self) -> list[Span]:
        """The questions of a message that asks several, but for its requests and for those that go
        on with another one by their form ("how long does it take?")."""
        spans = [Span(start, end) for start, end in questions(self.text)]
        requests = [span for span, _ in self.requests]
        other_spans = [
            s for s in spans if not any(s.start < r.end and r.start < s.end for r in requests)
        ]
        if len(spans) < 2:
            return []
        return [
            s
            for s in other_spans
            if kind_of(self.text[s.start : s.end], self.shortlist) != FOLLOW_UP
        ]

    def rank_beside(self, part: Span, about: tuple[Key, ...]) -> Ranking:
        """Return the ranking for a part of the message, where the talk is ``about`` services."""
        return self.shortlist.rank(Query(self.text[part.start : part.end], about=about))

    def _part(self, span: Span) -> Query:
        return Query(self.text[span.start : span.end], without=self.query.without)

    def ranking_of(self, agency: str) -> Ranking:
        """Return the ranking for an agency's services: of the part of the message that is best
        answered there, where it has parts."""
        for _, ranking in self.requests:
            if any(best.item.agency == agency for best in ranking.services(limit=1)):
                return ranking
        return self.ranking

    @property
    def kinds(self) -> Mapping[str, float]:
        """The probability of each kind of message; an inquiry for certain where the citizen has
        said that it is one, and where nothing tells."""
        return (not self.again and self.shortlist.kinds(self.text)) or {INQUIRY: 1.0}

    @property
    def is_likely_inquiry(self) -> bool:
        """Whether the message asks something that a service of the release is about."""
        kinds = self.kinds
        return (
            max(kinds, key=lambda kind: kinds[kind]) in INQUIRIES and self.ranking.outside < OUTSIDE
        )


@dataclass(frozen=True, slots=True)
class Score:
    """A number that must have two decimals and be 0.50 or more."""

    path: str
    value: Decimal | int


@dataclass(frozen=True, slots=True)
class Claim:
    """An element of the answer that must stand in the citizen's own words.

    With a ``value`` it is a fact (an entity, a key): one place in the text. Without one it is a
    label, which says something of the whole text: see :func:`ieim.pipeline.gate.gate.placed`.
    ``may_be_masked`` says whether the value may hide characters, of which nothing is then asked,
    ``may_be_filler`` whether a quote may be a word that says little by itself: "help" can be all
    that there is to tell an intent by.
    """

    path: str
    snippets: Sequence[str]
    value: str | None = None
    value_path: str = ""
    may_be_masked: bool = False
    may_be_filler: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """One contract's rules as data and pure functions; the gate and the runner do the rest."""

    id: str
    build_input: Callable[[Inputs], dict[str, Any]]
    state_slice: Callable[[Output], dict[str, Any]]
    legal_next: Callable[[Output, Context], str | None] = lambda _output, _context: None
    has_session: bool = True
    has_ranking: bool = True
    """Whether it is given what the search makes of the message."""
    reads: tuple[str, ...] = ()
    """Slices of ``cached_state`` that the stage reads: all of it that attempt 2 is sent."""
    branch: Callable[[Context], bool] = lambda _context: True
    labels: Callable[[Output, Context], Iterable[Finding]] = lambda _output, _context: ()
    knowledge: Callable[[Output, Context], Iterable[Finding]] = lambda _output, _context: ()
    scores: Callable[[Output], Iterable[Score]] = lambda _output: ()
    claims: Callable[[Output], Iterable[Claim]] = lambda _output: ()
    semantics: Callable[[Output, Context], Iterable[Finding]] = lambda _output, _context: ()
    reply: Callable[[Mapping[str, Output], Context], Reply] | None = None
    """The reply of a turn whose flow ends with this stage, from the outputs of all its stages."""
    guess: Callable[[Inputs], Output | None] = lambda _inputs: None
    """The likeliest answer, for which the next stage is called speculatively; None for no guess."""
    uses_entities: Callable[[str], bool] = lambda _raw: False
    """Whether an answer, as it came, is judged only after extract has ended."""
    enums: Callable[[Mapping[str, Any]], Mapping[tuple[str, ...], Sequence[str]]] = lambda _p: {}
    """Where in the schema sent to the server the runtime's own codes go; at an open map they are
    its keys."""


def mismatch(path: str, message: str) -> Finding:
    """Return the finding for a field that differs from the release."""
    return Finding(Code.KNOWLEDGE_MISMATCH, path, f"The {message} is not the one in the release.")


def unknown(path: str, message: str, code: Code = Code.KNOWLEDGE_UNKNOWN) -> Finding:
    """Return the finding for an id or key that may not be used here."""
    return Finding(code, path, f"This {message} is not in the release for the detected agencies.")


def check_candidates(
    candidates: Mapping[str, Any], agency: str, context: Context, *path: str | int
) -> Iterable[Finding]:
    """Yield findings for dictionary candidates ``{key: {value, score}}`` of ``agency``."""
    for key, candidate in candidates.items():
        category = context.release.categories.get((agency, key))
        if category is None:
            yield unknown(pointer(*path, key), "category")
        elif candidate["value"] != category.value:
            yield mismatch(pointer(*path, key, "value"), "category's value")


def candidate_scores(candidates: Mapping[str, Any], *path: str | int) -> Iterable[Score]:
    """Yield the scores of dictionary candidates."""
    for key, candidate in candidates.items():
        yield Score(pointer(*path, key, "score"), candidate["score"])


def best_category(candidates: Any) -> str | None:
    """Return the value of the best scored candidate, None when there is none.

    ``candidates`` come out of a state that a case may have written by hand: what has no text or no
    number is none.
    """
    scores = scored(candidates)
    return (
        scores[max(scores, key=lambda key: (scores[key]["score"], key))]["value"]
        if scores
        else None
    )


def scored(candidates: Any) -> dict[str, Mapping[str, Any]]:
    """Return those of dictionary ``candidates``, out of a state, that have a value and a score."""
    if not isinstance(candidates, Mapping):
        return {}
    return {
        key: c for key, c in candidates.items() if is_scored(c) and isinstance(c.get("value"), str)
    }


def is_scored(entry: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether an entry of a state, which a case may have written by hand, has a score."""
    value = entry.get("score") if isinstance(entry, Mapping) else None
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def selected_category(context: Context) -> str | None:
    """Return the value of the category that the answering agency's service belongs to."""
    return best_category(selected_categories(context))


def selected_categories(context: Context) -> Mapping[str, Any]:
    """Return the categories that were selected for the answering agency, by key."""
    if context.complexity == "low":
        return scored(context.cached("category_select_v1", "candidates"))
    return scored(context.analysed(context.answering_agency or ""))
