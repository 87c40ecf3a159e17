"""What a monitoring system is told, in Prometheus' text format.

Why it is so: docs/decisions/0050-metrics.md.
"""
