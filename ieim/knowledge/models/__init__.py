"""The releases that turns are pinned to, their vectors, and the notices that stages read."""

from ieim.knowledge.models.notices import Directive
from ieim.knowledge.models.releases import Publication, Release
from ieim.knowledge.models.vectors import Vector

__all__ = ["Directive", "Publication", "Release", "Vector"]
