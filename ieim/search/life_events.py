"""How near a message is to each situation of a release: by meaning, else by words.

The score of a situation is a weighted sum of the mean cosine of its questions, the cosine of its
name and description, and the largest cosine of a question of one of its services. Beside the
situations stands "none of them", whose score is the largest cosine of a question of any service,
because a message that asks for one service is about no event, and the likeness to the background.
A softmax over all makes the probabilities.
How the weights were fitted: docs/decisions/0075-checklists.md.
"""

from __future__ import annotations

import copy
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Matrix
from ieim.search.words import BM25Index, situation_texts

Numbers = NDArray[np.float64]

QUESTIONS: Final = 17.5
ENTRY: Final = 9.0
SERVICES: Final = 7.5
ASKED: Final = 19.0
BACKGROUND: Final = 5.6
NONE: Final = -0.8
"""What the likenesses count: of a situation's questions, its entry and its services, and, for "none
of them", of the nearest service and the background; ``NONE`` is what that starts with."""

WORDS: Final = 6.8
WORDS_ASKED: Final = 5.5
WORDS_NONE: Final = -0.4
"""The same without an embedder, by the share of the words of a message."""


class LifeEvents:
    """The situations of one release; safe for threads once they have been learned."""

    def __init__(self, release: Release) -> None:
        self.situations = list(release.situations.values())
        places = {key: index for index, key in enumerate(release.services)}
        numbers = {situation.key: number for number, situation in enumerate(self.situations)}
        events = (question.situation for question in release.questions if question.situation)
        self._event_of = np.array([numbers.get(key, -1) for key in events], dtype=np.int64)
        self._steps = [[places[key] for key in release.steps(event)] for event in self.situations]
        self._words = BM25Index(situation_texts(release))
        self._entries: Matrix | None = None

    def learn(self, entries: Matrix, questions: Matrix) -> None:
        """Take the vectors of the situations' entries and of all their questions, in the order of
        the release. Without questions a situation has its entry in their place."""
        self._entries, self._means, self._questions = entries, entries.copy(), questions
        for number in range(len(self.situations)):
            own = questions[self._event_of == number]
            if len(own):
                self._means[number] = own.mean(axis=0)

    def without(self, number: int, rest: Release) -> LifeEvents:
        """Return the situations of ``rest``, the release without the question ``number`` of all of
        theirs; where messages are read by meaning, words are those of the whole release."""
        if self._entries is None:
            return LifeEvents(rest)
        events = copy.copy(self)
        events._event_of = np.delete(self._event_of, number)
        events.learn(self._entries, np.delete(self._questions, number, axis=0))
        return events

    def probabilities(
        self, text: str, vector: Matrix | None, likeness: Numbers, background: float
    ) -> Numbers:
        """Return the probability of each situation, and as the last that of none.

        ``likeness`` is that of each service: the largest cosine of its questions, or, without a
        ``vector``, the share of the words of ``text`` in it; ``background`` is that of the nearest
        line of the background.
        """
        best = likeness.max(initial=0.0)
        if vector is None or self._entries is None:
            scores = WORDS * self._words.shares(text)
            none = WORDS_NONE + WORDS_ASKED * best
        else:
            best_steps = [likeness[places].max(initial=0.0) for places in self._steps]
            scores = QUESTIONS * (self._means @ vector) + ENTRY * (self._entries @ vector)
            scores = scores + SERVICES * np.array(best_steps)
            none = NONE + ASKED * best + BACKGROUND * background
        powers = np.exp(np.append(scores, none) - max(scores.max(initial=none), none))
        shares: Numbers = powers / powers.sum()
        return shares
