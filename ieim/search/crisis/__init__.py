"""A crisis by meaning: messages that are like what people in danger write.

The examples stand in data files beside this, by flag and language; what they teach is solved at
start from their vectors, for whatever embedder there is. Figures: docs/decisions/
0018-crisis-by-meaning.md.
"""

from ieim.search.crisis.examples import Examples, examples
from ieim.search.crisis.meaning import Meaning, Sign
from ieim.search.crisis.parts import Part, parts

__all__ = ["Examples", "Meaning", "Part", "Sign", "examples", "parts"]
