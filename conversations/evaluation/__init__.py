"""Measuring answers: cases with their expected results, run through the pipeline and counted.

``cases`` reads the file, ``run`` asks the questions, ``measures`` counts, ``curve`` draws risk
against coverage as numbers, ``compare`` sets two results side by side, ``result`` is the JSON, and
``report`` and ``charts`` show it. Nothing is stored.
"""
