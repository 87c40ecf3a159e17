"""Where the search finds the example questions of an entry, each as if the entry lacked it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ieim.knowledge.vectors import prepared_shortlist
from ieim.pipeline.knowledge import Release, Service, Situation
from ieim.pipeline.ports import Query, Ranked


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """``rank`` counts from 1; ``winner`` is the name of the first entry."""

    text: str
    rank: int
    winner: str


@dataclass(frozen=True, slots=True)
class QuestionReport:
    """``lost`` has the names of the entries that came first instead, with how often."""

    questions: list[RankedQuestion]
    first: int
    lost: list[tuple[str, int]]


def rank_questions(
    release: Release, owner: Mapping[str, str], texts: Sequence[str]
) -> QuestionReport | None:
    """Ask the search of ``release`` each of ``texts``; those that are examples of the ``owner``
    (the columns of a question that name it) are left out of it while they are asked.

    None where the release has no such owner.
    """
    agency, service, situation = (owner.get(n, "") for n in ("agency", "service", "situation"))
    if situation not in release.situations and (agency, service) not in release.services:
        return None
    search = prepared_shortlist(release)
    examples = {
        question.text: question
        for question in release.questions
        if (question.agency, question.service, question.situation) == (agency, service, situation)
    }
    questions = []
    for text in texts:
        searched = search.without(examples[text]) if text in examples else search
        ranking = searched.rank(Query(text))
        hits: Sequence[Ranked[Service] | Ranked[Situation]] = (
            ranking.situations(limit=len(release.situations))
            if situation
            else ranking.services(limit=len(release.services))
        )
        places = {(getattr(hit.item, "agency", ""), hit.item.key): hit.rank for hit in hits}
        questions.append(
            RankedQuestion(text, places[agency, service or situation], hits[0].item.name)
        )
    lost = Counter(question.winner for question in questions if question.rank > 1)
    first = sum(question.rank == 1 for question in questions)
    return QuestionReport(questions, first, lost.most_common())
