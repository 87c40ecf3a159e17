"""How often the passage that answers a question about a service leads its answer.

    python benchmarks/bench_passages.py

``benchmarks/questions/passages.jsonl`` has questions about services of the demo with the words of
the passage that answers each, none where the entry does not say it. Beside the ranking stands the
order of the entry as the baseline.

Then how often the fee leads "How much does it cost to ...?" for each service with a fee, with the
fees as they are and each amount a third higher; how often the processing time leads "How long does
it take to ...?"; and how often the sentence that states the limit leads three questions of by when.
``benchmarks/questions/limits.jsonl`` has its words for each service with a limit.

Last how often a question beside others is said not to be answered by an answer about one service:
where it goes on with that service (none should be), in words of its own or in those of everybody in
seven languages, where another service is about it, and where none is (all should be). The baseline
says so only where no service at all is about it.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.kinds import FOLLOW_UP, kind_of
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.ports import Key, Query
from ieim.pipeline.reply.answering import lead_with_answer
from ieim.pipeline.reply.cards import SECTIONS, Section
from ieim.pipeline.reply.marks import COVERED
from ieim.pipeline.reply.reply import render_service
from ieim.pipeline.stages.base import OUTSIDE, Context, Inputs
from ieim.search import Search, fuse
from ieim.search import kinds as reading
from ieim.search.embedders import build_embedder
from ieim.search.passages import of_service

FOLDER = ROOT / "benchmarks" / "questions"
USUAL = [
    *("How much does it cost?", "What documents do I need?", "How long does it take?"),
    *("Where do I have to go?", "Can someone else do it for me?", "Is there a phone number?"),
    *("Do I need an appointment?", "Was kostet das?", "Welche Unterlagen brauche ich?"),
    *("Wie lange dauert das?", "Wo muss ich hin?", "Combien ça coûte ?"),
    *("Quels documents faut-il ?", "Combien de temps ça prend ?", "¿Cuánto cuesta?"),
    *("¿Qué documentos necesito?", "كم يكلف ذلك؟", "ما الوثائق المطلوبة؟"),
    *("Magkano ito?", "Anong mga dokumento ang kailangan?", "要多少钱？", "需要什么材料？"),
]
OTHERS, NOTHING = ("demo.jsonl",), ("outside.jsonl", "outside_b.jsonl")
DEMO = ROOT / "ieim" / "knowledge" / "demo"
HOW_MUCH = "How much does it cost to {}?"
HOW_LONG = "How long does it take to {}?"
BY_WHEN = (
    "By when do I have to {}?",
    "What is the deadline to {}?",
    "How many days do I have to {}?",
)

_AMOUNT = re.compile(r"\d[\d,]*(?:\.\d+)?(?= ?%)|(?<=MRK )\d[\d,]*\.\d\d")


def main() -> None:
    """Rank the passages of every question and print the shares."""
    release = read_bundle(DEMO).release()
    search = _search(release)
    services = {service.key: service for service in release.services.values()}
    leads = two = value = refused = baseline = unsaid = actual = 0
    for row in _rows("passages.jsonl"):
        service = services[row["service"]]
        results = search.passages(row["text"], service)
        if results is None or not results.ranked:
            raise SystemExit("There are no vectors of the passages.")
        answers = results.ranked[0].score >= results.least
        entry = row["says"]
        if not entry:
            unsaid += 1
            actual += not answers
            continue
        value += 1
        refused += not answers
        leads += any(words in results.ranked[0].text for words in entry)
        two += any(w in passage.text for w in entry for passage in results.ranked[:2])
        baseline += any(words in of_service(service)[0][1] for words in entry)
    print(f"said ({value}): first {leads / value:.2f}, in two {two / value:.2f}, ", end="")
    print(f"refused {refused / value:.2f}; first of the entry {baseline / value:.2f}")
    print(f"not said ({unsaid}): refused {actual / unsaid:.2f}")
    changed = replace(
        release,
        services={key: _dearer(service) for key, service in release.services.items()},
    )
    for name, result in (("as they are", release), ("a third higher", changed)):
        priced = [s for s in result.services.values() if _AMOUNT.search(s.fees)]
        found_in = search if result is release else _search(result)
        count = sum(_leads("fees", HOW_MUCH, s, result, found_in) for s in priced)
        print(f"fees {name}: the fee leads {count} of {len(priced)}")
    timed = [s for s in release.services.values() if s.processing_time]
    count = sum(_leads("processing_time", HOW_LONG, s, release, search) for s in timed)
    print(f"{HOW_LONG} the processing time leads {count} of {len(timed)}")
    rows = _rows("limits.jsonl")
    for question in BY_WHEN:
        right = 0
        for row in rows:
            service = services[row["service"]]
            first = _first(question, service, release, search)
            right += first is not None and any(w in " ".join(first.items) for w in row["says"])
        print(f"{question} the limit leads {right} of {len(rows)}")
    _print_left(release, search)


def _print_left(release: Release, search: Search) -> None:
    keys = list(release.services)
    by_service = {key[1]: key for key in keys}
    asked: dict[str, list[tuple[str, Key]]] = {
        "goes on": [(row["text"], by_service[row["service"]]) for row in _rows("passages.jsonl")]
    }
    for name, files in (("of another service", OTHERS), ("of none", NOTHING)):
        rows = enumerate(_rows(*files))
        pairs = [(row, keys[7 * index % len(keys)]) for index, row in rows]
        right = "acceptable_services"
        asked[name] = [(r["text"], k) for r, k in pairs if k[1] not in r["expected"][right]]
    asked["goes on, as everybody asks"] = [(text, key) for text in USUAL for key in keys[::4]]
    for name, questions in asked.items():
        rankings = [(search.rank(Query(text, about=(key,))), key) for text, key in questions]
        follows = [kind_of(text, search) == FOLLOW_UP for text, _ in questions]
        left = sum(
            ranking.probability(key) < COVERED and not is_follow_up
            for (ranking, key), is_follow_up in zip(rankings, follows, strict=True)
        )
        baseline = sum(ranking.outside >= OUTSIDE for ranking, _ in rankings)
        print(f"question beside others, {name}: left over {left} of {len(rankings)} ({baseline})")


def _rows(*files: str) -> list[dict[str, Any]]:
    lines = (line for file in files for line in (FOLDER / file).open(encoding="utf-8"))
    return list(map(json.loads, lines))


def _search(release: Release) -> Search:
    embedder = build_embedder({"KIND": "embedded"})
    if embedder is None:
        raise SystemExit("The embedded model is needed.")
    return fuse(release, embedder, reading.shipped())


def _dearer(service: Service) -> Service:
    def third_more(amount: re.Match[str]) -> str:
        value = float(amount[0].replace(",", "")) * 4 / 3
        return f"{value:,.2f}" if "." in amount[0] else f"{value:.0f}"

    return replace(service, fees=_AMOUNT.sub(third_more, service.fees))


def _leads(field: str, question: str, service: Service, release: Release, search: Search) -> bool:
    first = _first(question, service, release, search)
    return first is not None and first.field == field


def _first(question: str, service: Service, release: Release, search: Search) -> Section | None:
    """Return the section that leads the answer, None where nothing in particular does."""
    text = question.format(service.name[0].lower() + service.name[1:])
    reply = render_service(
        {f"service_{name}": f"{{service_{name}}}" for name in SECTIONS},
        service=service,
        agency=release.agencies[service.agency],
        category_value=None,
        entities={},
    )
    context = Context(1, text, {}, release)
    query = Query(text)
    inputs = Inputs(text, (), context, search, {}, today=date(2026, 11, 27), query=query)
    led = lead_with_answer(reply, inputs)
    leads = not led.lead and not led.unsaid
    return next((s for s in led.sections if not s.folded), None) if leads else None


if __name__ == "__main__":
    main()
