"""Load and growth: what ``benchmarks/bench_load.py`` measures."""
