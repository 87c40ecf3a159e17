"""Who may use the reviewers' resources: the rights of the pages."""

from __future__ import annotations

from conversations.api.staff import may
from review import claims

MaySee = may("review.view_reviewitem")
MayDecide = may(claims.DECIDE)
