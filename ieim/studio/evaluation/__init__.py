"""Runs questions through the pipeline and says how good the outcomes are. Nothing is stored.

``cases`` reads questions with their expected results, ``running`` asks them, ``outcomes`` judges
each outcome and what changed between two of them; ``measures`` count, ``result`` has the figures of
many cases as JSON, ``report`` shows them. The playground, the golden questions of a proposal and
``manage.py evaluate`` all work with these.
"""
