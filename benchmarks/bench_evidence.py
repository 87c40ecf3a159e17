"""Evidence: right spans, false accepts and time a quote, beside two plain baselines.

    python benchmarks/bench_evidence.py [--json]

Uses the shared corpus (../shared/data/cases/evidence_offsets.jsonl) when it is there, and one that
it generates otherwise. Times are medians over quotes, each looked up in a text of 2,000 characters:
its own text in the middle of others. Compare the ratios, not the microseconds: machines differ.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.pipeline.evidence import locate

CORPUS = ROOT.parent / "shared" / "data" / "cases" / "evidence_offsets.jsonl"
TEXT_LENGTH = 2000
ROUNDS = 7
TARGET_US = 100.0
WORDS = (
    "I we want need to renew extend replace my our the a tourist visa passport licence permit "
    "before after March May fee of $1,250 $40 3.75% can't don't how much does it cost when where "
    "may apply for child husband mother benefit pension office appointment online form A4 2024"
)

Find = Callable[[str, str], tuple[int, int] | None]


@dataclass(frozen=True, slots=True)
class Case:
    """A quote and the spans (code points, half-open) that would be right: none, when it is bad."""

    text: str
    quote: str
    spans: frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Result:
    """One aligner: shares of right spans and false accepts; median microseconds a quote, and of
    the first quote of a text (ASCII or not), when nothing about it is known yet."""

    name: str
    right: float
    false_accepts: float
    ascii_us: float
    other_us: float
    first_us: float


def ours(text: str, quote: str) -> tuple[int, int] | None:
    """The aligner of this project."""
    span = locate(text, quote)
    return None if span is None else (span.start, span.end)


def exact_find(text: str, quote: str) -> tuple[int, int] | None:
    """str.find."""
    at = text.find(quote)
    return None if at < 0 else (at, at + len(quote))


def lower_find(text: str, quote: str) -> tuple[int, int] | None:
    """Find in lower case."""
    return exact_find(text.lower(), quote.lower())


ALIGNERS: dict[str, Find] = {
    "str.find": exact_find,
    "lower-case find": lower_find,
    "evidence.locate": ours,
}


def corpus() -> Iterator[Case]:
    """Yield the shared corpus."""
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        spans = frozenset((start, end) for start, end in case["spans"])
        yield Case(case["text"], case["snippet"], spans)


def generated(count: int = 400) -> Iterator[Case]:
    """Yield cases of the same kinds: exact, other case, other spaces, cut, changed."""
    chance = random.Random(20)  # noqa: S311
    vocabulary = [word for word in WORDS.split() if len(word) > 2]
    for number in range(count):
        words = chance.sample(vocabulary, 14)
        first, last = sorted(chance.sample(range(14), 2))
        text, quote = " ".join(words), " ".join(words[first : last + 1])
        start = len(" ".join(words[:first])) + (first > 0)
        spans = frozenset({(start, start + len(quote))})
        at = chance.choice([i for i, character in enumerate(quote) if character.isalpha()] or [0])
        kinds = (
            Case(text, quote, spans),
            Case(text, quote.swapcase(), spans),
            Case(text, quote.replace(" ", "\n"), spans),
            Case(text, text[start : start + len(quote) - 1], frozenset()),
            Case(text, f"{quote[:at]}#{quote[at + 1 :]}", frozenset()),
        )
        yield kinds[number % len(kinds)]


def padded(cases: Sequence[Case], *, typographic: bool) -> list[tuple[str, str]]:
    """Return (text of 2,000 characters, quote) for every case."""
    chance = random.Random(21)  # noqa: S311
    pairs = []
    for case in cases:
        half = (TEXT_LENGTH - len(case.text)) // 2
        filler = " ".join(other.text for other in chance.sample(cases, min(len(cases), 60)))
        text = f"{filler[:half]} {case.text} {filler[half:]}"[:TEXT_LENGTH]
        quote = case.quote
        if not typographic:
            text = text.encode("ascii", "replace").decode()
        else:
            text = text.replace("'", "’").replace(" a ", " à ").replace("-", "–")
            quote = quote.replace("'", "’").replace(" a ", " à ")
            text = "é" + text[1:]
        pairs.append((text, quote))
    return pairs


def microseconds(find: Find, pairs: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """Return the median time of the first look-up in a text, and of later ones."""
    first: list[float] = []
    later: list[float] = []
    for text, quote in pairs:
        for number in range(1 + ROUNDS):
            began = perf_counter()
            find(text, quote)
            (later if number else first).append(perf_counter() - began)
    return median(first) * 1e6, median(later) * 1e6


def measure(name: str, find: Find, cases: Sequence[Case]) -> Result:
    """Run one aligner over all cases."""
    good = [case for case in cases if case.spans]
    bad = [case for case in cases if not case.spans]
    first_ascii, ascii_us = microseconds(find, padded(cases, typographic=False))
    first_other, other_us = microseconds(find, padded(cases, typographic=True))
    return Result(
        name=name,
        right=sum(find(case.text, case.quote) in case.spans for case in good) / len(good),
        false_accepts=sum(find(case.text, case.quote) is not None for case in bad) / len(bad),
        ascii_us=ascii_us,
        other_us=other_us,
        first_us=max(first_ascii, first_other),
    )


def main() -> int:
    """Print the table; exit with 1 when the aligner is wrong or slower than its target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    as_json = parser.parse_args().json
    cases = list(corpus() if CORPUS.exists() else generated())
    results = [measure(name, find, cases) for name, find in ALIGNERS.items()]
    base, mine = results[0], results[-1]
    source = "shared corpus" if CORPUS.exists() else "generated cases"
    rows = [
        {
            "aligner": result.name,
            "right": round(result.right, 4),
            "false_accepts": round(result.false_accepts, 4),
            "ascii_us": round(result.ascii_us, 2),
            "ascii_ratio": round(result.ascii_us / base.ascii_us, 1),
            "other_us": round(result.other_us, 2),
            "other_ratio": round(result.other_us / base.other_us, 1),
            "first_us": round(result.first_us, 2),
            "first_ratio": round(result.first_us / base.first_us, 1),
        }
        for result in results
    ]
    if as_json:
        print(json.dumps({"cases": len(cases), "source": source, "results": rows}))
    else:
        print(f"{len(cases)} {source}; median of one quote in {TEXT_LENGTH:,} characters\n")
        heads = f"{'ASCII':>21}{'other text':>21}{'first quote':>21}"
        print(f"{'aligner':<17}{'right':>7}{'false':>8}{heads}")
        for row in rows:
            print(
                f"{row['aligner']:<17}{row['right']:>7.0%}{row['false_accepts']:>8.0%}"
                f"{row['ascii_us']:>11} µs ({row['ascii_ratio']:>3}×)"
                f"{row['other_us']:>11} µs ({row['other_ratio']:>3}×)"
                f"{row['first_us']:>11} µs ({row['first_ratio']:>3}×)"
            )
    wrong = mine.right < 1 or mine.false_accepts > 0
    return int(wrong or max(mine.ascii_us, mine.other_us) > TARGET_US)


if __name__ == "__main__":
    raise SystemExit(main())
