"""The REST API for integrators, under ``/api/v1/``."""
