"""Regular expressions of the application take linear time, whatever text meets them."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.architecture.test_rules import CODE, ROOT, python_files

# Nothing public reads a pattern, and no stub knows these.
op: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")

pytestmark = pytest.mark.whole

LENGTH = 40_000
LIMIT = 0.05
"""Seconds of the processor for one pattern on one text of ``LENGTH`` characters."""

SHORT = LENGTH // 20
NEGLIGIBLE = LIMIT / 20**2
"""Seconds for ``SHORT`` characters, from which quadratic growth stays below ``LIMIT``."""

PARTS = 8
"""In how many tests the patterns are tried: a test has five minutes."""

RUNS = [
    *("1", "a", "A", " ", "\n", ".", ",", "-", "_", "/", "(", "@", "<", ":", "+", '"', "\\", "*"),
    *("字", "\u0301", "\u00a0", "a ", "1 ", "a.", "1.", "a-", "1-", "a\n", " \n", ". ", "()", "[]"),
]
"""What is repeated to hostile texts for every pattern, beside what the pattern is made of."""

SEARCHED = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})


def patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    """Yield the patterns in ``value``: a pattern, a container or a dataclass, at any depth."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, Mapping):
        for key, item in [*value.items()]:
            yield from patterns_in(key)
            yield from patterns_in(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from patterns_in(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from patterns_in(getattr(value, field.name, None))


def values_of(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield what a module holds by name; of a cached function without parameters, its result."""
    for name, value in [*vars(module).items()]:
        is_cached = isinstance(value, functools._lru_cache_wrapper)
        if is_cached and value.__module__ != module.__name__:
            continue
        if is_cached and not inspect.signature(value).parameters:
            yield name, value()
        elif not isinstance(value, (ModuleType, type)) and not callable(value):
            yield name, value


def searched_for(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and pattern of each search with a pattern that is written in the call."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=attribute),
                args=[ast.Constant(value=str() as pattern), *_],
            ) if attribute in SEARCHED:
                yield node.lineno, pattern


@functools.cache
def all_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of all modules and of what their cached functions read, by place."""
    patterns: dict[re.Pattern[str], str] = {}
    for package in CODE:
        root = importlib.import_module(package)
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            if ".migrations." not in info.name and not info.name.endswith("__main__"):
                module = importlib.import_module(info.name)
                for name, value in values_of(module):
                    for pattern in patterns_in(value):
                        patterns.setdefault(pattern, f"{info.name}.{name}")
    for path in python_files(*CODE):
        for line, written in searched_for(path):
            patterns.setdefault(re.compile(written), f"{path.relative_to(ROOT)}:{line}")
    named = {f"{place} {pattern.pattern[:60]}": pattern for pattern, place in patterns.items()}
    return dict(sorted(named.items()))


class Pieces(set[str]):
    """Short texts that the parts of a pattern match, to be repeated."""

    def of(self, parsed: Any) -> list[str]:
        """Return texts that ``parsed`` matches, and add those of all its parts."""
        texts = [""]
        for code, argument in parsed:
            part = [text for text in self._part(code, argument) if len(text) < 80][:4] or [""]
            self.update(part)
            number = max(len(texts), len(part))
            joined = zip(itertools.cycle(texts), itertools.cycle(part), range(number), strict=False)
            texts = [before + after for before, after, _ in joined][:4]
            self.update(texts)
        return texts

    def _part(self, code: Any, argument: Any) -> list[str]:
        if code is op.LITERAL:
            return [chr(argument)]
        if code in (op.NOT_LITERAL, op.ANY):
            return ["a", " "]
        if code is op.IN:
            return _characters(argument)
        if code is op.BRANCH:
            return [text for branch in argument[1] for text in self.of(branch)[:2]]
        if code is op.SUBPATTERN:
            return self.of(argument[3])
        if code is op.ATOMIC_GROUP:
            return self.of(argument)
        if code in (op.ASSERT, op.ASSERT_NOT):
            self.of(argument[1])
            return []
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, repeated = argument
            return [text * max(least, min(1, most)) for text in self.of(repeated)]
        return []  # what matches no character


def _characters(members: Any) -> list[str]:
    """Return some characters of a class."""
    characters: list[str] = []
    for code, argument in members:
        if code is op.LITERAL:
            characters.append(chr(argument))
        elif code is op.RANGE:
            characters += map(chr, argument)
        elif code is op.CATEGORY:
            examples = {op.CATEGORY_DIGIT: "1", op.CATEGORY_WORD: "a", op.CATEGORY_SPACE: " "}
            characters.append(examples.get(argument, "-"))
    if members[0][0] is op.NEGATE:
        return [character for character in "a1 .-" if character not in characters]
    return characters


def hostile_texts(pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield what may be slow: runs of what ``pattern`` is made of, with an end that fits nothing.

    Of every text its beginning is as hostile as the whole.
    """
    pieces = Pieces()
    pieces.of(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    made = sorted(filter(None, pieces), key=lambda text: (len(text), text))
    signs = [text for text in made if len(text) == 1][:5]
    runs = [*RUNS, *made[:16], *(text + " " for text in made[-6:])]
    runs += [first + second for first, second in itertools.permutations(signs, 2)]
    yield from (text * (LENGTH // len(text) + 1) for text in dict.fromkeys(runs))
    # A beginning that fits, then a run.
    yield from (text + sign * LENGTH for text in made[-2:] for sign in (*signs[:2], " ", "a"))


def seconds(pattern: re.Pattern[str], text: str, *, tries: int) -> float:
    """Return the least time of this thread that all matches of ``pattern`` took."""
    least = float("inf")
    for _ in range(tries):
        start = time.thread_time()
        for _match in pattern.finditer(text):
            pass
        pattern.fullmatch(text)
        least = min(least, time.thread_time() - start)
    return least


def is_slow(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether ``pattern`` takes too long on ``text``.

    A long alternative may take longer than :data:`LIMIT` on a slow or busy machine, so the growth
    decides: five times the text takes five times as long where it is linear, and 25 times where it
    is quadratic.
    """

    def begun(length: int) -> str:
        return text[:length] + "\n\0"

    if any(seconds(pattern, begun(SHORT), tries=1) < NEGLIGIBLE for _ in range(3)):
        return False
    tenth = seconds(pattern, begun(LENGTH // 10), tries=2)
    # How people ask for a person has forms of bounded choices: linear, and slow for the length of a
    # message already. Beyond that nothing is waited for.
    if tenth < LIMIT / 10**2 or tenth > 4 * LIMIT:
        return tenth > 4 * LIMIT
    half = seconds(pattern, begun(LENGTH // 2), tries=2)
    return half > LIMIT / 2 and half > 11 * tenth


@pytest.mark.parametrize("part", range(PARTS))
def test_every_pattern_is_linear(part: int) -> None:
    patterns = [*all_patterns().items()]
    assert len(patterns) > 300
    slow = {
        place: text[:20]
        for place, pattern in patterns[part::PARTS]
        if (text := next((t for t in hostile_texts(pattern) if is_slow(pattern, t)), None))
    }
    assert slow == {}


@pytest.mark.parametrize("pattern", [r"\s+x", r"[a-z]+@", r"a.*b", r"(a|b)+c", r"\d+(?:,\d+)*;"])
def test_a_quadratic_pattern_is_recognised(pattern: str) -> None:
    compiled = re.compile(pattern)
    assert any(is_slow(compiled, text) for text in hostile_texts(compiled))


@pytest.mark.parametrize("pattern", [r"(?<!\s)\s++x", r"(?<![a-z])[a-z]++@", r"\w+"])
def test_a_linear_pattern_is_accepted(pattern: str) -> None:
    compiled = re.compile(pattern)
    assert not any(is_slow(compiled, text) for text in hostile_texts(compiled))
