"""How good the offline engine's answers are, on a half that nothing was tuned on and on all.

    python benchmarks/bench_answers.py [--data FOLDER] [--words] [--json]

FOLDER (default: ../shared/data) has ``catalogues/`` and ``cases/``; without it only what is asked
of the demo is asked. Each case goes through the pipeline as ``manage.py evaluate`` sends it.

The split. A case is held out when the SHA-256 of the name of any dialogue that it was made from (of
its id, where it names none) begins with an odd byte. So a dialogue's turns, and what was composed
of them, never stand on both sides.

Blind questions (``benchmarks/questions``) were written without sight of the engine. Talks that go
on, that turn, or that carry the engine's own earlier answers, and questions made of catalogues, are
made by ``answer_sets.py``. A made question is a sentence that was taken out of a service's
overview: no citizen's question, and that service is only one right answer of perhaps many.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import answer_sets as sets

if TYPE_CHECKING:
    from ieim.pipeline.knowledge import Release
    from ieim.pipeline.ports import Embedder, Shortlist
    from ieim.studio.evaluation.outcomes import CaseResult, TurnResult
    from ieim.studio.evaluation.running import QuestionRun

DEMO = ROOT / "ieim" / "knowledge" / "demo"
DATA = ROOT.parent / "shared" / "data"
QUESTIONS = ROOT / "benchmarks" / "questions"
FILES = ("multi_agency", "injected", "not_inquiries")
BLIND = ("ca", "us_life_events")
DEMO_SETS = ("demo", "demo_talks")
HELD_OUT = ("outside", "outside_b", "own_words")
TALKS = ("goes-on", "turns", "corrects", "absent", "thanks")
"""The kinds of second messages in ``demo_talks.jsonl``, by their tag."""
MADE = ("ca", "us")

TURNING = 1 / 6
"""How many messages of a talk are taken to turn to something else."""

COLUMNS: Mapping[str, str] = {
    "inquiry_recall": "recall",
    "not_inquiry_right": "not one",
    "agency_right": "agency",
    "agencies_found": "all found",
    "service_first": "service",
    "service_first_five": "first 5",
    "answered": "answered",
    "asked": "asked",
    "outside": "none",
    "outside_wrong": "none, w.",
    "helped": "helped",
    "wrong_answered": "wrong",
    "injected_moved": "moved",
}

SIDES: Mapping[str, Callable[[bool], bool]] = {
    "development": lambda is_held: not is_held,
    "held out": lambda is_held: is_held,
    "all": lambda _is_held: True,
}

Row = dict[str, float | int | str | None]
Results = Sequence["CaseResult"]


def measured(name: str, results: Results) -> Row:
    """Return one row: each measure's share with the count of what it is a share of."""
    from ieim.studio.evaluation.measures import measure
    from ieim.studio.evaluation.result import risk_coverage

    shares = measure(results)
    widest = risk_coverage(results)["at_limit"]
    row: Row = {"what": name, "cases": len(results)}
    row |= {column: shares[column]["share"] for column in COLUMNS}
    return row | {"coverage_at_10": widest["coverage"] if widest else None}


def halves(name: str, results: Results, held: frozenset[str] | None) -> Iterator[Row]:
    """Yield rows for the development half, the held-out half and both; one without halves."""
    if held is None:
        yield measured(name, results)
        return
    for side, belongs in SIDES.items():
        of_side = [result for result in results if belongs(result.case.id in held)]
        yield measured(f"{name}, {side}", of_side)


def mixed(name: str, staying: Row, turning: Row) -> Row:
    """Return what is answered, and wrong among it, where ``TURNING`` of the messages turn away."""
    weights = ((staying, 1 - TURNING), (turning, TURNING))
    answered = sum(weight * _share(row, "answered") for row, weight in weights)
    wrong = sum(
        weight * _share(row, "answered") * _share(row, "wrong_answered") for row, weight in weights
    )
    empty: Row = dict.fromkeys((*COLUMNS, "coverage_at_10"))
    share = wrong / answered if answered else None
    return {"what": name, "cases": None, **empty, "answered": answered, "wrong_answered": share}


def _share(row: Row, column: str) -> float:
    value = row[column]
    return float(value) if value is not None else 0.0


class Engine:
    """The offline engine over one release, which searches by words and, with one, an embedder."""

    def __init__(self, release: Release, embedder: Embedder | None) -> None:
        from conversations.turns import running
        from ieim.llm.offline import OfflineModel
        from ieim.search import Search, fuse, kinds
        from ieim.studio.evaluation.running import QuestionRunner

        reading = None if embedder is None else kinds.shipped()

        def search(release: Release) -> Shortlist:
            if embedder is None:
                return Search(release)
            return fuse(release, embedder, reading)

        self.release = release
        self._runner = QuestionRunner(OfflineModel(), release, running.options(), search=search)

    def ask(self, asked: sets.CaseSet) -> Results:
        """Run every case."""
        from ieim.studio.evaluation.running import run_cases

        return run_cases(asked.cases, self._runner)

    def turn(self, text: str) -> QuestionRun:
        """Run one turn and return all of it."""
        return self._runner.run(text)

    def answer(self, text: str, history: Sequence[Mapping[str, Any]]) -> TurnResult:
        """Run one turn of a talk and return its result."""
        return self._runner.run(text, history).result()

    def rows(self, name: str, result: sets.CaseSet) -> list[Row]:
        """Run every case and return the rows of its halves."""
        return list(halves(name, self.ask(result), result.held))

    def answering(self, text: str, before: sets.History) -> tuple[str, str] | None:
        """Return agency and key of the first source of an answer, None where none is given."""
        turn = self._runner.run(text, before).result()
        return turn.cited[0] if turn.outcome == "answered" and turn.cited else None


def _slices(results: Results) -> Mapping[str, Results]:
    tagged: Callable[[str], Results] = lambda tag: [r for r in results if tag in r.case.tags]  # noqa: E731
    return {
        "first turn, not vague": [r for r in tagged("first-turn") if "vague" not in r.case.tags],
        "several turns": tagged("multi-turn"),
        "vague": tagged("vague"),
    }


def _of_the_demo(engine: Engine) -> Iterable[Row]:
    from ieim.studio.evaluation.cases import read_cases

    questions = sets.CaseSet(read_cases(DEMO / "golden.jsonl").cases)
    first = sets.first_questions(questions)
    yield from engine.rows("demo", questions)
    blind = {
        name: sets.CaseSet(read_cases(QUESTIONS / f"{name}.jsonl").cases) for name in DEMO_SETS
    }
    yield from engine.rows("blind, demo", blind["demo"])
    for name in HELD_OUT:
        case_set = sets.CaseSet(read_cases(QUESTIONS / f"{name}.jsonl").cases)
        yield from engine.rows(f"demo, {name.replace('_', ' ')}", case_set)
    for kind in TALKS:
        cases = [case for case in blind["demo_talks"].cases if kind in case.tags]
        yield from engine.rows(f"blind, demo, talk {kind}", sets.CaseSet(cases))
    yield from _going_on(engine, first, "demo, ")
    yield from engine.rows("demo, talk turns", sets.turning(engine.release, first))


def _going_on(engine: Engine, first: sets.CaseSet, prefix: str = "") -> Iterable[Row]:
    lists = {"goes on": sets.FOLLOW_UPS, "goes on, unseen": sets.UNSEEN_FOLLOW_UPS}
    for name, follow_ups in lists.items():
        talks = sets.going_on(engine.release, first, follow_ups)
        yield from engine.rows(f"{prefix}talk {name}", talks)


def _of_us(engine: Engine, cases: Path) -> Iterable[Row]:
    inquiries = sets.read_set(cases / "inquiries.jsonl")
    results = engine.ask(inquiries)
    yield from halves("inquiries", results, inquiries.held)
    for title, value in _slices(results).items():
        yield from halves(f"– {title}", value, inquiries.held)
    for name in FILES:
        result = sets.read_set(cases / f"{name}.jsonl")
        yield from engine.rows(name.replace("_", " "), result)
    first = sets.first_questions(inquiries)
    yield from _going_on(engine, first)
    turning = engine.rows("talk turns", sets.turning(engine.release, first))
    yield from turning
    own = sets.answered_before(inquiries, engine.answering)
    staying = engine.rows("own answers before", own)
    yield from staying
    for side, *pair in zip(SIDES, staying, turning, strict=True):
        yield mixed(f"one of six turns, {side}", *pair)


def rows(data: Path, embedder: Embedder | None) -> Iterable[Row]:
    """Ask every case and yield the table row by row."""
    from ieim.knowledge.bundles.bundle import read_bundle

    yield from _of_the_demo(Engine(read_bundle(DEMO).release(), embedder))
    if not data.is_dir():
        missing = f"Only the demo: there is no {data.name} folder with catalogues and cases."
        print(missing, file=sys.stderr)
        return
    names = dict.fromkeys(("us", *BLIND, *MADE))
    releases = {name: read_bundle(data / "catalogues" / name).release() for name in names}
    yield from _of_us(Engine(releases["us"], embedder), data / "cases")
    for name in BLIND:
        result = sets.read_set(QUESTIONS / f"{name}.jsonl")
        yield from Engine(releases[name], embedder).rows(f"blind, {name}", result)
    for name in MADE:
        release, cases = sets.made_of(releases[name])
        yield from Engine(release, embedder).rows(f"made, {name}", sets.CaseSet(cases))


def _cell(value: float | int | str | None) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)


def main() -> None:
    """Ask everything without a database of its own and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--words", action="store_true", help="search by words alone")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IEIM_DATA_DIR"] = folder
        os.environ.pop("DATABASE_URL", None)
        os.environ["DJANGO_SETTINGS_MODULE"] = "ieim.config.settings"
        import django

        django.setup()
        logging.disable(logging.CRITICAL)
        from ieim.search.embedders import build_embedder

        embedder = build_embedder({"KIND": "none" if options.words else "embedded"})
        table = list(rows(options.data, embedder))
    if options.json:
        print(json.dumps(table, indent=2))
        return
    heads = ("cases", *COLUMNS.values(), "at 10%")
    print(f"{'':36}", *(f"{head:>9}" for head in heads))
    for row in table:
        cells = [row["cases"], *(row[name] for name in COLUMNS), row["coverage_at_10"]]
        print(f"{row['what']:36}", *(f"{_cell(cell):>9}" for cell in cells))


if __name__ == "__main__":
    main()
