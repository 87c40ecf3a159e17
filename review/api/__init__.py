"""The REST API for reviewers, under ``/api/v1/review/``: what the pages do, for programs."""
