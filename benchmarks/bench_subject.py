"""How often a right choice of a service is doubted, and the last candidate is noticed.

    python benchmarks/bench_subject.py [--data FOLDER] [--json]

FOLDER (default: ../shared/data) has ``catalogues/`` and ``cases/``; without it only the demo is
asked, and nothing can be left out. Asked are labelled first questions. The candidates are those of
service_select_v1, of the agency and the topics of an acceptable service. Right is the labelled
service, else the first acceptable one, where it is among them. Wrong is the last candidate where it
is not acceptable, whatever score the model gives it: the last one that the search ranks up to the
limit, and in the rows "of all" the last one of the request, which may be there only because its
topic was selected (docs/decisions/0040-did-you-mean.md).

Each catalogue is left out once: the two numbers of ``route.subject`` are chosen on the others, so
that at most 0.02 of the right ones are doubted in each of them and most of the last ones are
noticed. The rows "as it is" are by the numbers of the gate, and "recorded answers" are a competent
model's own. "Several agencies" joins two questions of different agencies and judges what the last
stage cites, by part.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.gate import subject
from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import Shortlist
from ieim.pipeline.stages import service_select
from ieim.pipeline.stages.base import Context, Inputs
from ieim.pipeline.stages.slots import message_evidence, service_slot
from ieim.pipeline.work import Options
from ieim.search import fuse, inquiry
from ieim.search.embedders import EmbeddedEmbedder
from ieim.studio.evaluation.cases import Case, read_cases

DEMO = ROOT / "ieim" / "knowledge" / "demo"
DATA = ROOT.parent / "shared" / "data"
QUESTIONS = ROOT / "benchmarks" / "questions"
DAY = date(2026, 5, 4)
MOST_DOUBTED = 0.02
CLEAR = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
BEHIND = (0.6, 0.7, 0.8, 0.9)
PAIRS = 100


Slot = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate's evidence, that of the best of its agency, and that of the best of the release;
    ``is_last`` as the gate has it. ``kind`` says whether it is right, or the last one that the
    search ranks up to the limit, or the last one of the request."""

    own: float
    most: float
    best: float
    is_last: bool
    kind: Literal["right", "ranked", "listed"]

    def is_doubted(self, clear: float, behind: float) -> bool:
        """Whether it is doubted with these numbers in place of the gate's."""
        is_clear = self.most > 0 and self.most >= clear * self.best
        is_clear = is_clear or self.most - self.own >= subject.AHEAD
        return is_clear and self.is_last and self.own <= behind * self.most


@dataclass(frozen=True, slots=True)
class Row:
    """Shares of ``right`` and of ``last`` choices; None where there is none."""

    what: str
    clear: float
    behind: float
    right: int
    doubted: float | None
    last: int
    noticed: float | None


class Catalogue:
    """Labelled first questions over one release."""

    def __init__(self, folder: Path, files: Iterable[Path], embedder: EmbeddedEmbedder) -> None:
        self._release = read_bundle(folder).release()
        self._shortlist: Shortlist = fuse(self._release, embedder, inquiry.shipped())
        self._cases = [case for file in files for case in read_cases(file).cases if _is_asked(case)]
        self._labels = {name: key for file in files for name, key in _labels(file)}

    def choices(self) -> Iterator[Choice]:
        """Yield the right and the last choice of each agency of each question."""
        for case in self._cases:
            for agency in sorted({each.agency for each in self._acceptable(case)}):
                yield from self._of_one(case, *self._one_agency(case, agency))

    def _one_agency(self, case: Case, agency: str) -> tuple[Sequence[Slot], float]:
        """Return the candidates of service_select_v1 once the right topics were selected."""
        right = [each for each in self._acceptable(case) if each.agency == agency]
        right.sort(key=lambda each: each.key != self._labels.get(case.id))
        topics = {key: {"value": key, "score": 0.9} for key in right[0].categories}
        state = {
            "session_id": "s",
            "agency_detect_v1": {"agencyDetected": [agency], "complexity": "low"},
            "category_select_v1": {"candidates": topics},
        }
        context = Context(1, case.text, state, self._release)
        inputs = Inputs(case.text, (), context, self._shortlist, Options().limits, today=DAY)
        payload = service_select.STAGE.build_input(inputs)
        return payload["service_index"], float(payload["best_own"])

    def _of_one(self, case: Case, slots: Sequence[Slot], best: float) -> Iterator[Choice]:
        acceptable = {each.key for each in self._acceptable(case)}
        label = self._labels.get(case.id)
        found = [slot for slot in slots if slot["serviceKey"] in acceptable]
        found.sort(key=lambda slot: slot["serviceKey"] != label)
        if found:
            yield _choice(found[0], slots, best, "right")
        ranked = [slot for slot in slots if slot["rank"] <= subject.FURTHEST]
        if ranked[-1]["serviceKey"] not in acceptable:
            yield _choice(ranked[-1], slots, best, "ranked")
        if slots[-1]["serviceKey"] not in acceptable:
            yield _choice(slots[-1], slots, best, "listed")

    def several(self) -> Iterator[Choice]:
        """Yield the right and the last choices of questions that are two of them joined."""
        acceptable = ((case, self._acceptable(case)) for case in self._cases)
        one_agency = [
            (case, services[0].agency)
            for case, services in acceptable
            if len({each.agency for each in services}) == 1
        ]
        half = len(one_agency) // 2
        pairs = zip(one_agency, one_agency[half:], strict=False)
        different = [pair for pair in pairs if pair[0][1] != pair[1][1]][:PAIRS]
        for first, second in different:
            agencies = [first[1], second[1]]
            text = f"{first[0].text} {second[0].text}"
            slots, best = self._request(text, agencies, by_part=True)
            for case, agency in (first, second):
                own = [slot for slot in slots if slot["agencyId"] == agency]
                yield from self._of_one(case, own, best)

    def _acceptable(self, case: Case) -> list[Service]:
        agencies = case.expected.agencies
        return [
            service
            for service in self._release.services.values()
            if service.key in case.expected.services
            and (not agencies or service.agency in agencies)
        ]

    def _request(
        self, text: str, agencies: Sequence[str], *, by_part: bool
    ) -> tuple[list[dict[str, Any]], float]:
        """Return the candidates as the request has them, and its best evidence."""
        limits = Options().limits
        context = Context(1, text, {}, self._release)
        inputs = Inputs(text, (), context, self._shortlist, limits, today=DAY)
        ranked = [
            each
            for agency in agencies
            for each in self._shortlist.services(
                inputs.query, agencies=[agency], limit=limits["services"]
            )
        ]
        slots = [service_slot(each, detail=False) for each in ranked]
        services = [each.item for each in ranked]
        evidence = message_evidence(inputs, slots, services, by_part=by_part)
        return slots, float(evidence["best_own"])


def recorded(file: Path) -> Iterator[Choice]:
    """Yield what a competent model chose for messages that stand alone. Its requests do not have
    the best of the release: it is taken to be among the candidates."""
    for line in file.read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        given = call["input"]
        if call["contract"] == "service_select_v1" and not given["chat_context_summary"]:
            key = json.loads(call["answer"])["serviceSelection"]["serviceKey"]
            slots = given["service_index"]
            best = max(slot["score"] for slot in slots)
            found = (slot for slot in slots if slot["serviceKey"] == key)
            yield from (_choice(slot, slots, best, "right") for slot in found)


def _is_asked(case: Case) -> bool:
    return case.expected.inquiry is not False and not case.history and bool(case.expected.services)


def _labels(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the id of each case with the best of its services."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["id"], row["expected"].get("service") or ""


def _choice(
    slot: Slot, slots: Sequence[Slot], best: float, kind: Literal["right", "ranked", "listed"]
) -> Choice:
    most = max(map(subject.evidence, slots))
    return Choice(subject.evidence(slot), most, best, subject.is_last(slot, slots), kind)


def row(
    what: str, choices: Sequence[Choice], clear: float, behind: float, *, wrong: str = "ranked"
) -> Row:
    """Return the shares with these numbers; ``wrong`` is the kind of the last ones."""
    right = [each.is_doubted(clear, behind) for each in choices if each.kind == "right"]
    last = [each.is_doubted(clear, behind) for each in choices if each.kind == wrong]
    return Row(what, clear, behind, len(right), _share(right), len(last), _share(last))


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def chosen(others: Sequence[Sequence[Choice]]) -> tuple[float, float]:
    """Return the numbers that notice most over ``others``, each catalogue the same weight."""

    def noticed(numbers: tuple[float, float]) -> tuple[bool, float]:
        rows = [row("", choices, *numbers) for choices in others]
        allowed = all((each.doubted or 0.0) <= MOST_DOUBTED for each in rows)
        return allowed, sum(each.noticed or 0.0 for each in rows)

    return max(product(CLEAR, BEHIND), key=noticed)


def measure(data: Path) -> Iterator[Row]:
    """Yield the rows of all catalogues that are there."""
    embedder = EmbeddedEmbedder()
    files = {"demo": [DEMO / "golden.jsonl", QUESTIONS / "demo.jsonl"]}
    files["demo"].append(QUESTIONS / "languages.jsonl")
    folders = {"demo": DEMO}
    if data.is_dir():
        files["us"] = [data / "cases" / "inquiries.jsonl"]
        files |= {name: [QUESTIONS / f"{name}.jsonl"] for name in ("us_life_events", "ca")}
        folders |= {name: data / "catalogues" / name for name in files if name != "demo"}
    else:
        print(f"SKIPPED: THERE IS NO {data}. Only the demo is asked.", file=sys.stderr)
    catalogues = {
        name: Catalogue(folder, files[name], embedder) for name, folder in folders.items()
    }
    choices = {name: list(catalogue.choices()) for name, catalogue in catalogues.items()}
    for name in choices if len(choices) > 1 else ():
        numbers = chosen([found for other, found in choices.items() if other != name])
        yield row(f"{name}, left out", choices[name], *numbers)
    for name, found in choices.items():
        yield row(f"{name}, as it is", found, subject.CLEAR, subject.BEHIND)
        yield row(f"{name}, of all", found, subject.CLEAR, subject.BEHIND, wrong="listed")
    exchanges = data / "by_hand" / "exchanges.jsonl"
    if exchanges.is_file():
        calls = list(recorded(exchanges))
        yield row("recorded answers", calls, subject.CLEAR, subject.BEHIND)
    for name, catalogue in catalogues.items():
        joined = list(catalogue.several())
        yield row(f"{name}, several agencies", joined, subject.CLEAR, subject.BEHIND)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    rows = list(measure(options.data))
    if options.json:
        print(json.dumps([asdict(each) for each in rows], indent=2))
        return
    print(f"{'':34}{'clear':>7}{'behind':>8}{'right':>7}{'doubted':>9}{'last':>6}{'noticed':>9}")
    for each in rows:
        shares = ["" if share is None else f"{share:.3f}" for share in (each.doubted, each.noticed)]
        print(
            f"{each.what:34}{each.clear:>7}{each.behind:>8}{each.right:>7}{shares[0]:>9}"
            f"{each.last:>6}{shares[1]:>9}"
        )


if __name__ == "__main__":
    main()
