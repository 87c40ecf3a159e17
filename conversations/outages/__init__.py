"""Times in which the model gave no answers: noted, shown to staff, and told to operators."""
