"""The calls to a model: what is sent, what runs beside what, and what asking back makes of it."""
