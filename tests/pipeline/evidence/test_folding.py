"""Folding, over the whole of Unicode: the quick way and the careful way agree."""

from __future__ import annotations

import time
import unicodedata

import pytest

from ieim.pipeline.evidence.folding import BASE, JOINS, SPACE, fold, fold_char, fold_quote

EVERYTHING = [
    chr(code)
    for code in range(0x20000)
    if unicodedata.category(chr(code)) not in {"Cn", "Co", "Cs"}
]


def test_it_folds_a_run_of_text_as_it_folds_its_characters() -> None:
    simple = [c for c in EVERYTHING if isinstance(fold(c + "x").starts, range)]
    assert len(simple) > 40_000
    wrong = [
        c
        for c in simple
        if fold_char(c)[1] != (SPACE if c.isspace() else BASE) or fold(c).text != fold_char(c)[0]
    ]
    assert wrong == []


def test_it_folds_every_character_like_its_decomposition() -> None:
    composed = [c for c in EVERYTHING if unicodedata.decomposition(c)[:1] not in ("", "<")]
    hangul = [chr(code) for code in range(0xAC00, 0xD7A4, 7)]
    wrong = [
        c for c in composed + hangul if fold_quote(c) != fold_quote(unicodedata.normalize("NFD", c))
    ]
    assert wrong == []


def test_it_joins_every_mark_to_the_character_before_it() -> None:
    marks = [c for c in EVERYTHING if fold_char(c)[1] == JOINS]
    assert len(marks) > 2000
    for mark in marks:
        folded = fold(f"x{mark} y")
        assert (folded.starts[0], folded.ends[-3]) == (0, 2), ascii(mark)


@pytest.mark.parametrize(
    ("text", "folded", "starts", "ends"),
    [
        ("A b", "a b", [0, 1, 2], [1, 2, 3]),
        ("A \n b", "a b", [0, 1, 4], [1, 4, 5]),
        ("a \u200b b", "a b", [0, 1, 4], [1, 4, 5]),
        ("  a", " a", [0, 2], [2, 3]),
        ("oﬀ x", "off x", [0, 1, -1, 2, 3], [1, -1, 2, 3, 4]),
        ("a…′b", "a...'b", [0, 1, -1, -1, 2, 3], [1, -1, -1, 2, 3, 4]),
        ("e\u0301\u0323!", "\u1eb9\u0301!", [0, -1, 3], [-1, 3, 4]),
        ("e\u00ad\u0301\u00ad!", "é!", [0, 4], [3, 5]),
        ("\u0301a", "\u0301a", [0, 1], [1, 2]),
        ("a \u0301", "a \u0301", [0, 1, 2], [1, 2, 3]),
        ("\u200b", "", [], []),
        ("", "", [], []),
    ],
    ids=ascii,
)
def test_it_keeps_the_way_back(text: str, folded: str, starts: list[int], ends: list[int]) -> None:
    result = fold(text)
    assert (result.text, list(result.starts), list(result.ends)) == (folded, starts, ends)


def test_it_takes_tall_stacks_of_marks_in_linear_time() -> None:
    began = time.perf_counter()
    assert fold("a" + "\u0301\u0323" * 50_000).ends[-1] == 100_001
    assert time.perf_counter() - began < 3  # composing it in one piece takes longer
