"""What one turn costs its worker with the offline engine: processor time and queries."""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.load import filling
from benchmarks.load.growth import watching
from conversations.models import Turn
from conversations.turns import running, services

TURNS = 20
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Turns:
    """The processor's milliseconds of a turn, the least of some rounds, and the most statements
    that one of them was: to take it, and to run it."""

    taken_ms: float
    run_ms: float
    taken_queries: int
    run_queries: int


def measure() -> Turns:
    """Return what turns cost, each in a conversation of its own."""
    taken, ran, queries = [], [], [(0, 0)]
    for _ in range(ROUNDS):
        started = time.process_time()
        turns = [_take(text) for text in filling.questions(TURNS)]
        between = time.process_time()
        for turn in turns:
            running.run_turn(turn_id=turn.pk)
        taken.append(between - started)
        ran.append(time.process_time() - between)
    for text in filling.questions(TURNS):
        with watching() as first:
            turn = _take(text)
        with watching() as then:
            running.run_turn(turn_id=turn.pk)
        queries.append((len(first), len(then)))
    value = 1000 / TURNS
    most, runs = (max(column) for column in zip(*queries, strict=True))
    return Turns(round(min(taken) * value, 1), round(min(ran) * value, 1), most, runs)


def _take(text: str) -> Turn:
    return services.receive(session=services.new_secret(), text=text, enqueue=False)[0]
