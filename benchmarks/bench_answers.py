"""How good the offline engine's answers are, on a half that nothing was tuned on and on all.

    python benchmarks/bench_answers.py [--data FOLDER] [--json]

FOLDER (default: ../shared/data) has ``catalogues/`` and ``cases/``; without it only the demo's own
questions are asked. Each case goes through the pipeline as ``manage.py evaluate`` sends it.

The split. A case is held out when the SHA-256 of the name of any dialogue that it was made from (of
its id, where it names none) begins with an odd byte. So a dialogue's turns, and what was composed
of them, never stand on both sides.

Catalogues without labelled questions get questions made by a rule: of some services (all, in a
small catalogue; chosen by the hash of their key otherwise) the last sentence of the overview that
has five words or more is taken out of the release and asked. It is no citizen's question, and that
service is only one right answer of perhaps many: the figures say whether ranking works at all
elsewhere, and whether a change made it worse there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from conversations.evaluation.cases import Case
    from conversations.evaluation.outcomes import CaseResult
    from ieim.pipeline.knowledge import Release

DEMO = ROOT / "ieim" / "knowledge" / "demo"
DATA = ROOT.parent / "shared" / "data"
FILES = ("inquiries", "multi_agency", "injected", "not_inquiries")
MADE = ("us_life_events", "ca")

SMALL = 100
SAMPLED = 0.35
MOST_MADE = 300
SHORTEST = 5
"""Words of a sentence that is asked."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_DIALOGUE = re.compile(r"\btestdev (\w+)")

COLUMNS: Mapping[str, str] = {
    "inquiry_recall": "recall",
    "not_inquiry_right": "not one",
    "agency_right": "agency",
    "agencies_found": "all found",
    "service_first": "service",
    "service_first_five": "first 5",
    "answered": "answered",
    "wrong_answered": "wrong",
    "injected_moved": "moved",
}

Row = dict[str, float | int | str | None]
Results = Sequence["CaseResult"]


def held_out(case_id: str, source: str) -> bool:
    """Whether a case belongs to the half on which nothing may be tuned."""
    names = _DIALOGUE.findall(source) or [case_id]
    return any(hashlib.sha256(name.encode()).digest()[0] % 2 for name in names)


def made_of(release: Release) -> tuple[Release, list[Case]]:
    """Return a release without some sentences, and these as questions."""
    from conversations.evaluation.cases import Case, Expected

    services = dict(release.services)
    cases = []
    for key, service in release.services.items():
        share = hashlib.sha256("|".join(key).encode()).digest()[0] / 256
        sentences = _SENTENCE_END.split(service.overview.strip())
        long_enough = [each for each in sentences if len(each.split()) >= SHORTEST]
        if not long_enough or (len(services) >= SMALL and share >= SAMPLED):
            continue
        asked = long_enough[-1]
        services[key] = replace(service, overview=service.overview.replace(asked, " ").strip())
        expected = Expected(True, frozenset({service.agency}), frozenset({service.key}))
        cases.append(Case(id=service.key, text=asked, history=(), expected=expected))
    # Another content: it must not be taken for the release that it was made of.
    return replace(release, services=services, sha256="0" * 64), cases[:MOST_MADE]


def measured(name: str, results: Results) -> Row:
    """Return one row: each measure's share with the count of what it is a share of."""
    from conversations.evaluation.curve import draw
    from conversations.evaluation.measures import measure

    shares = measure(results)
    widest = draw(results).widest()
    row: Row = {"what": name, "cases": len(results)}
    row |= {column: shares[column].share for column in COLUMNS}
    return row | {"coverage_at_10": widest.coverage if widest else None}


def halves(name: str, results: Results, is_held: Mapping[str, bool]) -> Iterable[Row]:
    """Yield rows for the development half, the held-out half and both."""
    sides: Mapping[str, Callable[[CaseResult], bool]] = {
        "development": lambda result: not is_held[result.case.id],
        "held out": lambda result: is_held[result.case.id],
        "all": lambda _result: True,
    }
    for side, belongs in sides.items():
        yield measured(f"{name}, {side}", [result for result in results if belongs(result)])


def _slices(results: Results) -> Mapping[str, Results]:
    tagged: Callable[[str], Results] = lambda tag: [r for r in results if tag in r.case.tags]  # noqa: E731
    return {
        "first turn, not vague": [r for r in tagged("first-turn") if "vague" not in r.case.tags],
        "several turns": tagged("multi-turn"),
        "vague": tagged("vague"),
    }


def rows(data: Path) -> Iterable[Row]:
    """Ask every case and yield the table row by row."""
    from conversations import running
    from conversations.evaluation.cases import read_cases
    from conversations.evaluation.run import Asker, run_cases
    from ieim.knowledge.bundle import read_bundle
    from ieim.llm.offline import OfflineModel
    from ieim.search import ReleaseIndex

    def ask(release: Release, cases: Sequence[Case]) -> Results:
        index = ReleaseIndex(release)
        return run_cases(cases, Asker(OfflineModel(), release, index, running.options()))

    questions = read_cases(DEMO / "questions.jsonl").cases
    yield measured("demo", ask(read_bundle(DEMO).release(), questions))
    if not data.is_dir():
        print(f"Only the demo: there is no {data.name} folder with catalogues and cases.")
        return
    us = read_bundle(data / "catalogues" / "us").release()
    for name in FILES:
        path = data / "cases" / f"{name}.jsonl"
        lines = path.read_text(encoding="utf-8").split("\n")
        raw = [json.loads(line) for line in lines if line.strip()]
        is_held = {row["id"]: held_out(row["id"], row.get("source", "")) for row in raw}
        results = ask(us, read_cases(path).cases)
        yield from halves(name.replace("_", " "), results, is_held)
        if name == "inquiries":
            for title, found in _slices(results).items():
                yield from halves(f"– {title}", found, is_held)
    for name in MADE:
        release, cases = made_of(read_bundle(data / "catalogues" / name).release())
        yield measured(f"made, {name}", ask(release, cases))


def _cell(value: float | int | str | None) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)


def main() -> None:
    """Ask everything without a database of its own and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IEIM_DATA_DIR"] = folder
        os.environ.pop("DATABASE_URL", None)
        os.environ["DJANGO_SETTINGS_MODULE"] = "ieim.config.settings"
        import django

        django.setup()
        logging.disable(logging.CRITICAL)
        table = list(rows(options.data))
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
