"""Samples of sent answers, which a second person reads again without knowing who decided."""
