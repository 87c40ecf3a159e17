"""Run questions through the pipeline and judge the outcomes. Nothing is stored.

``cases`` reads questions with their expected outcomes, ``running`` runs them, ``outcomes`` judges
one outcome and ``comparing`` compares two; ``measures`` count, ``result`` has the figures of many
cases as JSON, ``report`` renders them. The playground, the golden questions of a proposal and
``manage.py evaluate`` all use these.
"""
