"""Notices about agencies for a while (:class:`ieim.knowledge.models.Directive`)."""
