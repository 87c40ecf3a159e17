"""Golden questions: kept by people, asked of every proposal."""
