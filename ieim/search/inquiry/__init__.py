"""What a message is, by its meaning: asked of an administration or not, by itself or in a talk.

Examples stand in data files beside this; what they teach is solved at start from their vectors, for
whatever embedder there is. Figures: docs/decisions/0020-what-a-message-is.md.
"""

from ieim.search.inquiry.aspects import Aspects, aspects
from ieim.search.inquiry.examples import Kind, examples
from ieim.search.inquiry.reading import Reading

__all__ = ["Aspects", "Kind", "Reading", "aspects", "examples"]
