"""The offline engine: what it says to each contract, by ranking and templates."""
