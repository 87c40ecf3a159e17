"""The item page: why a turn stopped, the evidence, and the forms to decide it with."""
