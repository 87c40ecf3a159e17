"""Citizens: their pages, their sessions and turns, and how the pipeline is run over them."""
