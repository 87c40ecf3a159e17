"""Metrics in Prometheus' text format, and traces.

Why it is so: docs/decisions/0050-metrics.md.
"""
