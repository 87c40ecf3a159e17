"""Running a turn in a worker: its lease, its seat at the model, and where results are kept."""
