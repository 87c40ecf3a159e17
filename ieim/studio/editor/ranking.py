"""Where the search finds the example questions of a service, each as if the service lacked it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ieim.knowledge.vectors import prepared_shortlist
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Query


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """``rank`` counts from 1; ``winner`` is the name of the first service."""

    text: str
    rank: int
    winner: str


@dataclass(frozen=True, slots=True)
class QuestionReport:
    """``lost`` has the names of the services that came first instead, with how often."""

    questions: list[RankedQuestion]
    first: int
    lost: list[tuple[str, int]]


def rank_questions(
    release: Release, agency: str, service: str, texts: Sequence[str]
) -> QuestionReport:
    """Ask the search of ``release`` each of ``texts``; those that are examples of the service
    (a key within the agency) are left out of it while they are asked."""
    search = prepared_shortlist(release)
    examples = {
        question.text: question
        for question in release.questions
        if (question.agency, question.service) == (agency, service)
    }
    questions = []
    for text in texts:
        searched = search.without(examples[text]) if text in examples else search
        ranked = searched.rank(Query(text)).services(limit=len(release.services))
        places = {(match.item.agency, match.item.key): match.rank for match in ranked}
        questions.append(RankedQuestion(text, places[agency, service], ranked[0].item.name))
    lost = Counter(question.winner for question in questions if question.rank > 1)
    first = sum(question.rank == 1 for question in questions)
    return QuestionReport(questions, first, lost.most_common())
