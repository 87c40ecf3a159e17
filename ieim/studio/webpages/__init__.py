"""From an administration's own web pages to entries of the draft, with the quotes they rest on."""
