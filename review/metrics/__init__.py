"""The figures: what was asked, answered, held and decided."""
