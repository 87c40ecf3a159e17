"""Measuring answers: cases with their expected results, run through the pipeline and counted.

``cases`` reads the file, ``run`` asks the questions, ``outcomes`` says how each case ended,
``measures`` and ``curve`` count, ``result`` is all of it as JSON, ``compare`` sets two results side
by side, ``report`` and ``charts`` show them. Nothing is stored.
"""
