"""The audit record: hash chains of events, checkpoints over them, and their verification."""
