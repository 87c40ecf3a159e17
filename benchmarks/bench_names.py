"""Names of people: could they be taken out of a message before a model reads it, and at what price?

    python benchmarks/bench_names.py [--json]

Three ways that need no list of names, over ``questions/names.yaml`` (messages with names in seven
languages) and over questions that name nobody. *Capitals*: words with a capital letter that do not
begin a sentence and stand nowhere in the demo's knowledge. *Two capitals*: two such words or more
in a row, with and without a look at the knowledge. *Meaning*: the embedded model's vectors of a
word and of the words around it, told apart by what the other four fifths of the messages teach, at
the threshold that hides one in a hundred of the words that are no names. Counted are names that are
wholly hidden, and questions without a name of which something is hidden all the same.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import yaml

from ieim.search.embedders import EmbeddedEmbedder

HERE = Path(__file__).parent
NAMELESS = ("demo", "own_words", "outside", "languages")
WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+(?:['’.-][^\W\d_]+)*")
FOLDS = 5

Token = tuple[int, int, str]
Message = tuple[str, list[tuple[int, int]]]
Way = Callable[[str], set[int]]
"""Which words of a message, by their place among its words, it takes for names."""


def tokens(text: str) -> list[Token]:
    """Return the words of a text, of Chinese each character."""
    return [(*entry.span(), entry[0]) for entry in WORD.finditer(text)]


def marked(text: str) -> Message:
    """Return a message without the marks, and where its names stand."""
    plain, names = "", []
    for part in re.split(r"(\[\[.*?\]\])", text):
        if part.startswith("[["):
            names.append((len(plain), len(plain) + len(part) - 4))
            part = part[2:-2]
        plain += part
    return plain, names


def named() -> dict[str, list[Message]]:
    """Return the messages with names, by language."""
    stored = yaml.safe_load((HERE / "questions" / "names.yaml").read_text(encoding="utf-8"))
    return {language: list(map(marked, texts)) for language, texts in stored.items()}


def nameless() -> list[str]:
    """Return questions that name nobody."""
    records = []
    for name in NAMELESS:
        lines = (HERE / "questions" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        records += [json.loads(line)["text"] for line in lines if line.strip()]
    return list(dict.fromkeys(records))


def knowledge() -> frozenset[str]:
    """Return every word of the demo's knowledge, in lower case."""
    folder = HERE.parent / "ieim" / "knowledge" / "demo"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.yaml"))]
    return frozenset(word.lower() for text in texts for _, _, word in tokens(text))


def capitals(known: frozenset[str], *, least: int) -> Way:
    """Return the way that goes by capital letters."""

    def way(text: str) -> set[int]:
        results: set[int] = set()
        run: list[int] = []
        words = tokens(text)
        for place, (start, _, word) in enumerate(words):
            begins = place == 0 or re.search(r"[.!?:]", text[words[place - 1][1] : start])
            if word[0].isupper() and not begins and word.lower() not in known:
                run.append(place)
                continue
            results.update(run if len(run) >= least else ())
            run = []
        return results | set(run if len(run) >= least else ())

    return way


class Meaning:
    """The embedded model's vectors of a word, and of what stands around it."""

    def __init__(self) -> None:
        self._model = EmbeddedEmbedder()
        self._cache: dict[str, Any] = {}

    def rows(self, text: str) -> Any:
        """Return one row a word of the text."""
        words = tokens(text)
        around = []
        for place, (start, end, word) in enumerate(words):
            before = text[words[max(0, place - 3)][0] : start]
            after = text[end : words[min(len(words) - 1, place + 3)][1]]
            around.append((word, f"{before}_", f"_{after}"))
        missing = sorted({part for parts in around for part in parts} - self._cache.keys())
        for at in range(0, len(missing), 64):
            batch = missing[at : at + 64]
            self._cache |= zip(batch, self._model.queries(batch), strict=True)
        capital = [[float(word[0].isupper())] for _, _, word in words]
        vectors = [np.concatenate([self._cache[part] for part in parts]) for parts in around]
        return np.hstack([np.array(vectors), np.array(capital)]) if words else np.empty((0, 1537))


def fitted(rows: Any, labels: Any) -> Any:
    """Return the weights of a logistic regression in which names count as much as all else."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    share = np.where(labels > 0, 0.5 / labels.sum(), 0.5 / (1 - labels).sum())
    weights = np.zeros(rows.shape[1])
    for _ in range(400):
        chance = 1 / (1 + np.exp(-rows @ weights))
        weights -= 8.0 * (rows.T @ (share * (chance - labels)) + 1e-4 * weights)
    return weights


def labels_of(message: Message) -> list[int]:
    """Return for each word of a message whether it is of a name."""
    text, names = message
    return [
        int(any(start < end_ and begin < end for begin, end_ in names))
        for start, end, _ in tokens(text)
    ]


def score(messages: Iterable[Message], found: Sequence[set[int]]) -> tuple[int, int]:
    """Return how many names are wholly hidden, of how many."""
    hidden = total = 0
    for (text, names), places in zip(messages, found, strict=True):
        words = tokens(text)
        for begin, end in names:
            own = {i for i, (start, stop, _) in enumerate(words) if start < end and begin < stop}
            total += 1
            hidden += own <= places
    return hidden, total


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    by_language, without = named(), nameless()
    messages = [message for results in by_language.values() for message in results]
    result: dict[str, Any] = {}

    def note(name: str, found: list[set[int]], touched: int, words: int) -> None:
        languages = Counter[str]()
        at = 0
        for language, results in by_language.items():
            hidden, total = score(results, found[at : at + len(results)])
            languages[language] = round(100 * hidden / total)
            at += len(results)
        hidden, total = score(messages, found)
        result[name] = {
            "names_hidden_percent": round(100 * hidden / total),
            "by_language": dict(languages),
            "questions_without_a_name_touched_percent": round(100 * touched / len(without), 1),
            "words": words,
        }

    ways = {
        "capitals": capitals(knowledge(), least=1),
        "two capitals": capitals(knowledge(), least=2),
        "two capitals, whatever is known": capitals(frozenset(), least=2),
    }
    for name, way in ways.items():
        wrong = [way(text) for text in without]
        note(name, [way(text) for text, _ in messages], sum(map(bool, wrong)), sum(map(len, wrong)))

    meaning = Meaning()
    rows = [meaning.rows(text) for text, _ in messages]
    others = [meaning.rows(text) for text in without]
    labels = [np.array(labels_of(message)) for message in messages]
    found: list[set[int]] = [set() for _ in messages]
    wrong = [set[int]() for _ in without]
    for fold in range(FOLDS):
        mine = [i for i in range(len(messages)) if i % FOLDS != fold]
        also = [i for i in range(len(without)) if i % FOLDS != fold]
        taught = np.vstack([*(rows[i] for i in mine), *(others[i] for i in also)])
        right = np.concatenate(
            [*(labels[i] for i in mine), *(np.zeros(len(others[i])) for i in also)]
        )
        weights = fitted(taught, right)
        at = taught @ weights[:-1] + weights[-1]
        threshold = np.quantile(at[right == 0], 0.99)
        for i in range(fold, len(messages), FOLDS):
            found[i] = set(np.flatnonzero(rows[i] @ weights[:-1] + weights[-1] > threshold))
        for i in range(fold, len(without), FOLDS):
            wrong[i] = set(np.flatnonzero(others[i] @ weights[:-1] + weights[-1] > threshold))
    note("meaning", found, sum(map(bool, wrong)), sum(map(len, wrong)))
    if options.json:
        print(json.dumps({"questions_without_a_name": len(without), **result}))
        return
    print(f"{len(messages)} messages with names, {len(without)} questions without")
    for name, results in result.items():
        print(f"{name:>32}: {results}")


if __name__ == "__main__":
    main()
