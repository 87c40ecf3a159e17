"""Bidi controls: which there are, and how a plain text says that one stood there."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.message.screen import BIDI_CONTROLS, bidi_name, spelled

DIRECTIONS = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}


def test_it_knows_every_character_that_unicode_calls_so() -> None:
    known = {c for c in map(chr, range(0x110000)) if unicodedata.bidirectional(c) in DIRECTIONS}
    assert set(BIDI_CONTROLS) == known | {"\u061c", "\u200e", "\u200f"}
    assert {BIDI_CONTROLS[c] for c in known} == DIRECTIONS
    assert bidi_name("\u202e") == "Right-to-left override"


@given(st.text() | st.text("ab \u202e\u2066\u2069\u200f\u061c"))
def test_it_spells_them_out_and_nothing_else(text: str) -> None:
    plain = spelled(text)
    assert not set(BIDI_CONTROLS) & set(plain)
    if not set(BIDI_CONTROLS) & set(text):
        assert plain == text


def test_it_says_where_one_stood() -> None:
    assert spelled("pay \u202eXYZ\u202c now") == "pay [RLO]XYZ[PDF] now"
