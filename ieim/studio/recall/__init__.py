"""Recall: the answers that cite a service, and corrections for them."""
