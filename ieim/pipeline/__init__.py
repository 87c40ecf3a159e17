"""The pure core: no Django, no Celery, no environment, no clock, no network.

Everything here can be run in a REPL. Adapters reach it through the Protocols of
:mod:`ieim.pipeline.ports`.
"""
