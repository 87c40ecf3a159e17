"""The item page: why a turn stopped, beside the evidence, and the forms to decide it with."""
